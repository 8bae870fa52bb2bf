"""Every attack of the lab by name, each imported when it is first wanted."""

from __future__ import annotations

from importlib import import_module

from discreet.attacks.model import Attack
from discreet.errors import BadInput

_MODULES = {
    "differencing": "differencing",
    "averaging": "averaging",
    "linkage": "linkage",
    "netflix": "netflix",
    "big-bang": "big_bang",
    "dictionary": "dictionary",
    "homogeneity": "anonymity",
    "background": "anonymity",
    "intersection": "anonymity",
    "sampling": "sampling",
    "auditing": "auditing",
    "model-membership": "model_membership",
    "inversion": "inversion",
    "lowbits": "lowbits",
    "timing": "timing",
    "prng": "prng",
    "ledger-race": "ledger_race",
    "name-and-shame": "name_and_shame",
    "reconstruction": "reconstruction",
    "exhaustive": "exhaustive",
    "membership": "membership",
    "tracing": "tracing",
    "tracing-keys": "tracing_keys",
    "reduction-to-membership": "reductions",
    "reduction-to-reconstruction": "reductions",
    "census": "census",
}
"""Name to module, in the order of the lab. A module has its attacks in a tuple ATTACKS, and imports nothing heavy."""


def names() -> tuple[str, ...]:
    """All attacks, in the order of the lab."""
    return tuple(_MODULES)


def find(name: str) -> Attack:
    """The attack of that name.

    Args:
        name: Of an attack: see `names()`.
    """
    if name not in _MODULES:
        raise BadInput("There is no such attack.", next_step=f"Choose one of: {', '.join(_MODULES)}.")
    attacks: tuple[Attack, ...] = import_module(f"discreet.attacks.{_MODULES[name]}").ATTACKS
    return next(attack for attack in attacks if attack.name == name)


def list_attacks() -> tuple[Attack, ...]:
    """All of them, with what they want, what they see and what they play against."""
    return tuple(find(name) for name in _MODULES)
