"""Arrow columns that the engine can read whatever their cells hold: an unreadable cell becomes missing, and the others stay."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_LONGEST = {"s": 9 * 10**12, "ms": 9 * 10**15, "us": 9 * 10**18}
"""The largest number of ticks of each unit, in either direction, whose microseconds fit into 64 bits and the calendar."""


def readable(column: Any) -> Any:
    """Replace cells that would make the engine refuse the whole column by missing values."""
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return readable(pa.chunked_array([part.dictionary_decode() for part in column.chunks], kind.value_type))
    if types.is_duration(kind) or (types.is_nested(kind) and _has_times(kind)):  # which no declared type can hold
        return pa.chunked_array([pa.nulls(len(column), pa.string())])
    if types.is_timestamp(kind) and kind.unit in _LONGEST:
        most = _LONGEST[kind.unit]
        return _between(column, column.cast(pa.int64()), -most, most)
    if types.is_decimal(kind):
        low, high = (Decimal((sign, (9,) * kind.precision, -kind.scale)) for sign in (1, 0))
        return _between(column, column, low, high)
    if types.is_primitive(kind) and not types.is_time(kind):  # whatever its bits are
        return column
    return pa.chunked_array([_without_invalid(part) for part in column.chunks], kind)


def _between(column: Any, numbers: Any, low: int | Decimal, high: int | Decimal) -> Any:
    """Replace cells whose numbers are outside of the limits by missing values."""
    least, most = (pa.scalar(end, numbers.type) for end in (low, high))
    inside = pc.and_(pc.less_equal(numbers, most), pc.greater_equal(numbers, least))
    return pc.if_else(inside, column, pa.scalar(None, column.type))


def _has_times(kind: Any) -> bool:
    return pa.types.is_temporal(kind) or any(_has_times(kind.field(at).type) for at in range(kind.num_fields))


def _without_invalid(part: Any) -> Any:
    """Replace cells that Arrow itself finds invalid by missing values."""
    wrong = list(_invalid(part, 0))
    if not wrong:
        return part
    positions = np.arange(len(part))
    return part.take(pa.array(positions, mask=np.isin(positions, wrong)))


def _invalid(part: Any, start: int) -> Iterator[int]:
    """Find the positions of invalid cells by bisection: checking a whole array is many times faster than checking its cells."""
    try:
        part.validate(full=True)
    except pa.ArrowInvalid:
        if len(part) == 1:
            yield start
            return
        first, second = np.array_split(np.arange(len(part)), 2)
        yield from _invalid(part.take(pa.array(first)), start)
        yield from _invalid(part.take(pa.array(second)), start + len(first))
