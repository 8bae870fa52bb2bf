"""Convert mechanisms to and from JSON, from which an outsider can recompute the cost (`docs/explanation/ledger.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

from discreet import mechanisms
from discreet.core.exact import exact
from discreet.core.loss import Neighbours
from discreet.errors import BadInput, LedgerDamaged
from discreet.mechanisms import Mechanism

T = TypeVar("T", bound=Mechanism)
_WHOLE = {"most", "points", "rows", "size", "threshold", "positives", "categories"}


def mechanism_to_json(release: Mechanism) -> dict[str, Any]:
    """Return the mechanism's name and parameters, with numbers as exact fractions in text."""
    if type(release).__name__ not in mechanisms.__all__:
        raise BadInput("Only single mechanisms can be charged.", next_step="Charge the mechanisms it is made of.")
    parameters = {field.name: getattr(release, field.name) for field in fields(release) if field.init}  # type: ignore[arg-type]  # every mechanism is a dataclass
    return {"mechanism": type(release).__name__, **{name: _plain(value) for name, value in parameters.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, tuple):
        return " ".join(str(exact(each)) for each in value)
    return value.value if isinstance(value, Enum) else str(exact(value))


def mechanism_from_json(described: Mapping[str, Any]) -> Mechanism:
    """Read a mechanism from its JSON form."""
    return _rebuilt(tuple(described.items()))


def mechanism_from_json_as(kind: type[T], described: Mapping[str, Any]) -> T:
    """Read a mechanism and refuse any other kind than the expected one."""
    mechanism = mechanism_from_json(described)
    if not isinstance(mechanism, kind):
        raise LedgerDamaged("A stored run cannot be read.", next_step="Ask the data owner to verify the ledger.")
    return mechanism


@lru_cache(maxsize=4096)
def _rebuilt(described: tuple[tuple[str, Any], ...]) -> Mechanism:
    """Build each distinct mechanism once: a ledger may have millions of entries."""
    texts = dict(described)
    kind = texts.pop("mechanism")
    made: Mechanism = getattr(mechanisms, kind)(**{name: _value(name, text) for name, text in texts.items()})
    return made


def _value(name: str, text: Any) -> Any:
    if isinstance(text, bool):
        return text
    if name == "neighbours":
        return Neighbours(text)
    if name == "sensitivities":
        return tuple(fraction(each) for each in text.split())
    return int(text) if name in _WHOLE else fraction(text)


def fraction(text: str) -> Fraction:
    """Read a number such as 1/2."""
    return Fraction(text)
