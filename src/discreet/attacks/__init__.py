"""The attack lab: attacks on weak releases, and the same attacks on Discreet with an analyst's access.

    run("differencing", against="weak")
    run("differencing", against="discreet", epsilon=1)

No private data is involved: all data are generated, and attackers and weak releases use numpy's randomness.
"""

from discreet.attacks.lab.attack import Attack
from discreet.attacks.lab.attack_registry import find, list_attacks, names
from discreet.attacks.lab.result import Result
from discreet.attacks.lab.running_attacks import run

__all__ = ["Attack", "Result", "find", "list_attacks", "names", "run"]
