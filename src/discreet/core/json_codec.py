"""Our dataclasses as JSON, and back, by their type hints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_json(thing: Any) -> Any:
    """A dataclass as JSON. Fractions are text such as "1/3"; floats that are not finite are null."""
    if is_dataclass(thing) and not isinstance(thing, type):
        return {each.name: to_json(getattr(thing, each.name)) for each in fields(thing)}
    if isinstance(thing, Mapping):
        return {name: to_json(value) for name, value in thing.items()}
    if isinstance(thing, Sequence) and not isinstance(thing, str):
        return [to_json(value) for value in thing]
    if isinstance(thing, Enum):
        return thing.value
    if isinstance(thing, Fraction):
        return str(thing)
    return None if isinstance(thing, float) and not math.isfinite(thing) else thing


def from_json(kind: type[T], data: Any) -> T:
    """The dataclass again. Unknown keys are left out, so that a newer server can say more."""
    hints = get_type_hints(kind)
    known = {each.name for each in fields(kind)} & set(data)  # type: ignore[arg-type]  # a dataclass
    return kind(**{name: _value(hints[name], data[name]) for name in known})


def _value(hint: Any, data: Any) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if Fraction in inner and isinstance(data, str):
            return Fraction(data)
        others = [other for other in inner if other is not NoneType]
        return data if data is None or len(others) > 1 else _value(others[0], data)
    if origin is tuple:
        return tuple(_value(inner[0], each) for each in data)
    if not isinstance(hint, type):
        return data
    if is_dataclass(hint):
        return from_json(hint, data)
    return hint(data) if issubclass(hint, (Fraction, Enum)) else data
