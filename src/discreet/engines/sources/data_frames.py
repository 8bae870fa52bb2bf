"""Data frames as Arrow tables. The result for a cell depends on that cell and the declared type of its column only.

pandas chooses the type of a column by all of its cells: one missing cell turns booleans into objects and integers into doubles.
So whatever is not plainly numeric is written as text, cell by cell, and read like a CSV file.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa

from discreet.catalog import Table, Type
from discreet.engines.sources.arrow_columns import readable

_NUMBERS = (Type.INTEGER, Type.REAL)
_EXACT = 2**53


def as_arrow(frame: Any, table: Table) -> Any:
    """Convert a frame to an Arrow table. Arrow and polars frames keep their types, except for unreadable cells. Other kinds are refused."""
    kind = type(frame).__module__.partition(".")[0]
    if kind == "pandas":
        return _of_pandas(frame, table)
    if kind == "polars":
        frame = (frame.collect() if hasattr(frame, "collect") else frame).to_arrow()
    for way in ("to_table", "read_all"):  # of datasets and readers
        frame = getattr(frame, way)() if hasattr(frame, way) else frame
    whole = pa.table(frame) if isinstance(frame, pa.RecordBatch) else frame
    if not isinstance(whole, pa.Table):
        raise TypeError
    return pa.table([readable(column) for column in whole.columns], names=whole.column_names)


def _of_pandas(frame: Any, table: Table) -> Any:
    return pa.table(
        {
            str(name): pa.array(frame[name], from_pandas=True)
            if _keeps_its_type(frame[name].dtype, str(name), table)
            else pa.array([cell_text(value) for value in frame[name]], pa.string())
            for name in frame.columns
        }
    )


def _keeps_its_type(dtype: Any, name: str, table: Table) -> bool:
    """Whether a column keeps its type: declared numbers do, and columns of a public table whose types are looked up."""
    if not table.columns:
        return dtype.kind != "O"
    declared = next((column.type for known, column in table.columns.items() if known.lower() == name.lower()), None)
    return dtype.kind in "iuf" and declared in _NUMBERS


def cell_text(value: Any) -> str | None:
    """Write one cell as text; None if it is missing or has no text form."""
    try:
        if value is None or not value == value:  # noqa: PLR0124, SIM201  NaN and NaT equal nothing, pd.NA refuses to say
            return None
        text = _text(value.item() if hasattr(value, "item") else value)
        text.encode()  # an unpaired surrogate has no UTF-8 form
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
