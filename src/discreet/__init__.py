"""Discreet: differential privacy, end to end."""

from importlib import import_module
from types import ModuleType

from discreet.errors import DiscreetError
from discreet.loss import Loss, Neighbours
from discreet.mechanisms.plain import choose, gaussian, laplace, quantile, randomized_response

__version__ = "0.1.0"

_ROOMS = {"accounting", "ledger", "mechanisms"}
"""Imported when they are first used, so that `import discreet` stays light."""


def __getattr__(name: str) -> ModuleType:
    if name in _ROOMS:
        return import_module(f"discreet.{name}")
    message = f"module 'discreet' has no attribute {name!r}"
    raise AttributeError(message)


__all__ = [
    "DiscreetError",
    "Loss",
    "Neighbours",
    "choose",
    "gaussian",
    "laplace",
    "quantile",
    "randomized_response",
]
