"""All attacks of the lab by name. Each module is imported when its attack is first used."""

from __future__ import annotations

from importlib import import_module

from discreet.attacks.lab.attack import Attack
from discreet.errors import BadInput

_MODULES = {
    "differencing": "queries.differencing",
    "averaging": "queries.averaging",
    "linkage": "microdata.linkage",
    "netflix": "microdata.netflix",
    "big-bang": "queries.big_bang",
    "dictionary": "microdata.dictionary",
    "homogeneity": "microdata.anonymity",
    "background": "microdata.anonymity",
    "intersection": "microdata.anonymity",
    "sampling": "microdata.row_sampling",
    "auditing": "queries.auditing",
    "model-membership": "membership.model_membership",
    "inversion": "membership.inversion",
    "lowbits": "implementation.lowbits",
    "timing": "implementation.timing",
    "prng": "implementation.prng",
    "ledger-race": "implementation.ledger_race",
    "name-and-shame": "queries.name_and_shame",
    "reconstruction": "reconstruction.linear_reconstruction",
    "exhaustive": "reconstruction.exhaustive",
    "membership": "membership.mean_membership",
    "tracing": "membership.fingerprint_tracing",
    "tracing-keys": "membership.key_tracing",
    "reduction-to-membership": "reconstruction.reductions",
    "reduction-to-reconstruction": "reconstruction.reductions",
    "census": "reconstruction.census",
}
"""Name to module, in the order of the lab. A module has its attacks in a tuple ATTACKS, and its import is fast."""


def names() -> tuple[str, ...]:
    """Return the names of all attacks, in the order of the lab."""
    return tuple(_MODULES)


def find(name: str) -> Attack:
    """Return an attack by name.

    Args:
        name: The name of an attack: see `names()`.
    """
    if name not in _MODULES:
        raise BadInput("There is no such attack.", next_step=f"Choose one of: {', '.join(_MODULES)}.")
    attacks: tuple[Attack, ...] = import_module(f"discreet.attacks.{_MODULES[name]}").ATTACKS
    return next(attack for attack in attacks if attack.name == name)


def list_attacks() -> tuple[Attack, ...]:
    """Return the descriptions of all attacks: goal, what the attacker sees, and targets."""
    return tuple(find(name) for name in _MODULES)
