"""The attack lab: every attack against releases that deserve to fall, and against Discreet through an analyst's door.

    run("differencing", against="weak")
    run("differencing", against="discreet", epsilon=1)

Nothing here is on the way of private data: worlds are generated, and attackers and weak releases toss numpy's coins.
"""

from discreet.attacks.model import Attack
from discreet.attacks.registry import find, list_attacks, names
from discreet.attacks.result import Result
from discreet.attacks.running import run

__all__ = ["Attack", "Result", "find", "list_attacks", "names", "run"]
