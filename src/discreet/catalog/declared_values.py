"""Convert declared values and bounds to the form that rows have."""

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
"""Python types of TOML values for each column type."""


def moment(end: Any, at: time) -> datetime | None:
    """Convert a bound to a timestamp. A date becomes its first or last moment, by `at`."""
    if type(end) is date:
        return datetime.combine(end, at)
    return in_utc(end) if isinstance(end, datetime) else None


def canonical(kind: Type, value: Any) -> Value | None:
    """Convert a declared value to its form in rows: reals are doubles without -0.0. None if no row can have it."""
    if kind is Type.REAL:
        number = float(value) + 0.0 if abs(value) < _LARGEST_REAL else math.nan
        return number if math.isfinite(number) else None
    if kind is Type.INTEGER:
        return value if abs(value) < 2**63 else None
    if kind is Type.TIMESTAMP:
        return in_utc(value)
    return None if kind is Type.TEXT and "\0" in value else value
