"""Data frames as Arrow tables. What a cell becomes is decided by that cell and by the declared type of its column alone.

pandas chooses the type of a column by all of its cells: one missing cell makes objects of booleans and doubles of integers. So whatever is not
plainly numbers is written as text, cell by cell, and read from there as a CSV file is.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from discreet.catalog import Table, Type

_NUMBERS = (Type.INTEGER, Type.REAL)
_EXACT = 2**53
_LONGEST = {"s": 9 * 10**12, "ms": 9 * 10**15}
"""Ticks of a unit, either way, whose microseconds are within 64 bits."""


def as_arrow(frame: Any, table: Table) -> Any:
    """A pandas frame as Arrow; any other kind of frame has types of its own, and stays as it is, but for cells that would make it unreadable."""
    kind = type(frame).__module__.partition(".")[0]
    if kind in ("pyarrow", "polars"):
        return _readable(frame.to_arrow() if kind == "polars" and hasattr(frame, "to_arrow") else frame)
    if kind != "pandas":
        return frame
    import pyarrow as pa  # noqa: PLC0415

    return pa.table(
        {
            str(name): pa.array(frame[name], from_pandas=True)
            if _keeps_its_type(frame[name].dtype, str(name), table)
            else pa.array([cell_text(value) for value in frame[name]], pa.string())
            for name in frame.columns
        }
    )


def _readable(frame: Any) -> Any:
    """The same table, where the engine would refuse all of it for one cell that it cannot read: such a cell is missing."""
    import pyarrow as pa  # noqa: PLC0415

    if not isinstance(frame, pa.Table):
        return frame
    return pa.table([_readable_column(column) for column in frame.columns], names=frame.column_names)


def _readable_column(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    kind = column.type
    if pa.types.is_duration(kind):  # which no declared type can hold
        return pa.chunked_array([pa.nulls(len(column), pa.string())])
    if pa.types.is_timestamp(kind):
        most = _LONGEST.get(kind.unit)
        if most is None:
            return column
        ticks = column.cast(pa.int64())
        inside = pc.and_(pc.less_equal(ticks, most), pc.greater_equal(ticks, -most))
        return pc.if_else(inside, column, pa.scalar(None, kind))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            return pa.chunked_array([pa.array(map(_decoded, column.cast(pa.large_binary()).to_pylist()), pa.string())])
    return column


def _decoded(cell: bytes | None) -> str | None:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


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
