"""Data frames as Arrow tables. What a cell becomes is decided by that cell and by the declared type of its column alone.

pandas chooses the type of a column by all of its cells: one missing cell makes objects of booleans and doubles of integers. So whatever is not
plainly numbers is written as text, cell by cell, and read from there as a CSV file is.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from discreet.catalog import Table, Type

_NUMBERS = (Type.INTEGER, Type.REAL)
_EXACT = 2**53
_LONGEST = {"s": 9 * 10**12, "ms": 9 * 10**15, "us": 9 * 10**18}
"""Ticks of a unit, either way, whose microseconds are within 64 bits and the calendar."""


def as_arrow(frame: Any, table: Table) -> Any:
    """A frame as an Arrow table; Arrow's and polars' keep their types, but for cells that would make the whole unreadable. Any other kind is refused."""
    kind = type(frame).__module__.partition(".")[0]
    if kind == "pandas":
        return _of_pandas(frame, table)
    import pyarrow as pa  # noqa: PLC0415

    if kind == "polars":
        frame = (frame.collect() if hasattr(frame, "collect") else frame).to_arrow()
    for way in ("to_table", "read_all"):  # of datasets and readers
        frame = getattr(frame, way)() if hasattr(frame, way) else frame
    whole = pa.table(frame) if isinstance(frame, pa.RecordBatch) else frame
    if not isinstance(whole, pa.Table):
        raise TypeError
    return pa.table([_readable(column) for column in whole.columns], names=whole.column_names)


def _of_pandas(frame: Any, table: Table) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.table(
        {
            str(name): pa.array(frame[name], from_pandas=True)
            if _keeps_its_type(frame[name].dtype, str(name), table)
            else pa.array([cell_text(value) for value in frame[name]], pa.string())
            for name in frame.columns
        }
    )


def _readable(column: Any) -> Any:
    """The same column, where the engine would refuse all of it for one cell that it cannot read: such a cell is missing."""
    import pyarrow as pa  # noqa: PLC0415

    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return _readable(pa.chunked_array([part.dictionary_decode() for part in column.chunks], kind.value_type))
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
    """The same column without those cells whose numbers are beyond the ends."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    least, most = (pa.scalar(end, numbers.type) for end in (low, high))
    inside = pc.and_(pc.less_equal(numbers, most), pc.greater_equal(numbers, least))
    return pc.if_else(inside, column, pa.scalar(None, column.type))


def _has_times(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    return pa.types.is_temporal(kind) or any(_has_times(kind.field(at).type) for at in range(kind.num_fields))


def _without_invalid(part: Any) -> Any:
    """The same array, where cells that Arrow itself finds wrong are missing."""
    import pyarrow as pa  # noqa: PLC0415

    wrong = list(_invalid(part, 0))
    if not wrong:
        return part
    places = np.arange(len(part))
    return part.take(pa.array(places, mask=np.isin(places, wrong)))


def _invalid(part: Any, start: int) -> Iterator[int]:
    """The places of wrong cells, found by halves: whole arrays are checked many times faster than cells. A slice of lists has all that is in any."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        part.validate(full=True)
    except pa.ArrowInvalid:
        if len(part) == 1:
            yield start
            return
        first, second = np.array_split(np.arange(len(part)), 2)
        yield from _invalid(part.take(pa.array(first)), start)
        yield from _invalid(part.take(pa.array(second)), start + len(first))


def _keeps_its_type(dtype: Any, name: str, table: Table) -> bool:
    """Numbers that are declared as numbers do; and columns of a public table whose types are looked up."""
    if not table.columns:
        return dtype.kind != "O"
    declared = next((column.type for known, column in table.columns.items() if known.lower() == name.lower()), None)
    return dtype.kind in "iuf" and declared in _NUMBERS


def cell_text(value: Any) -> str | None:
    """One cell as text; None for what is missing and for what has no text."""
    try:
        if value is None or not value == value:  # noqa: PLR0124, SIM201  NaN and NaT equal nothing, pd.NA refuses to say
            return None
        text = _text(value.item() if hasattr(value, "item") else value)
        text.encode()  # half a character is no text
    except Exception:  # noqa: BLE001  any object may stand in a cell, and none of them may stop the others
        return None
    return text


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, datetime):
        in_utc = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return in_utc.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)
