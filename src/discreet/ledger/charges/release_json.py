"""A release as JSON that an outsider can read, price again and convert (`docs/explanation/ledger.md`), and back."""

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
    """The mechanism's name and parameters; numbers as exact fractions in text."""
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
    """The mechanism that was described."""
    return _rebuilt(tuple(described.items()))


def mechanism_from_json_as(kind: type[T], described: Mapping[str, Any]) -> T:
    """The mechanism that was described, where only one kind belongs there."""
    mechanism = mechanism_from_json(described)
    if not isinstance(mechanism, kind):
        raise LedgerDamaged("A stored run cannot be read.", next_step="Ask the owner to verify the books.")
    return mechanism


@lru_cache(maxsize=4096)
def _rebuilt(described: tuple[tuple[str, Any], ...]) -> Mechanism:
    """Once for all that are described alike: books are read by the million."""
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
    """A number such as 1/2 from the books."""
    return Fraction(text)
