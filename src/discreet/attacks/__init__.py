"""The attack lab: every attack against releases that deserve to fall, and against Discreet through an analyst's door.

    run("differencing", against="weak")
    run("differencing", against="discreet", epsilon=1)

Nothing here is on the way of private data: worlds are generated, and attackers and weak releases toss numpy's coins.
"""

from discreet.attacks.lab.attack import Attack
from discreet.attacks.lab.attack_registry import find, list_attacks, names
from discreet.attacks.lab.result import Result
from discreet.attacks.lab.running_attacks import run

__all__ = ["Attack", "Result", "find", "list_attacks", "names", "run"]
