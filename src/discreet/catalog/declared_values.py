"""Declared values and ends as rows have them."""

from __future__ import annotations

import math
from datetime import date, datetime, time
from typing import Any

from discreet.catalog.declarations import Type, Value
from discreet.catalog.timestamps import in_utc

_LARGEST_REAL = 2**100
PYTHON_TYPES: dict[Type, tuple[type, ...]] = {
    Type.INTEGER: (int,),
    Type.REAL: (int, float),
    Type.TEXT: (str,),
    Type.DATE: (date,),
    Type.TIMESTAMP: (datetime,),
    Type.BOOLEAN: (bool,),
}
"""What TOML has for each type."""


def moment(end: Any, at: time) -> datetime | None:
    """An end as a timestamp, or as a day, which is whole: the lower one begins and the upper one ends with it."""
    if type(end) is date:
        return datetime.combine(end, at)
    return in_utc(end) if isinstance(end, datetime) else None


def canonical(kind: Type, value: Any) -> Value | None:
    """A declared value as rows have it: reals are doubles, without a negative zero; None for what no row can have."""
    if kind is Type.REAL:
        number = float(value) + 0.0 if abs(value) < _LARGEST_REAL else math.nan
        return number if math.isfinite(number) else None
    if kind is Type.INTEGER:
        return value if abs(value) < 2**63 else None
    if kind is Type.TIMESTAMP:
        return in_utc(value)
    return None if kind is Type.TEXT and "\0" in value else value
