"""Columns of pandas and polars, known by what they are without importing either."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadData


def is_column(values: object) -> bool:
    """Whether this is a Series of pandas or polars."""
    kind = type(values)
    return kind.__name__ == "Series" and kind.__module__.partition(".")[0] in ("pandas", "polars")


def array_of(column: Any) -> NDArray[Any]:
    """Its values; missing ones are refused, as NaN is in an array."""
    lacks = column.isna().any() if hasattr(column, "isna") else column.null_count()
    if lacks:
        raise BadData("The column has missing values.", next_step="Drop or replace them first.")
    values = np.asarray(column.to_numpy())
    return np.array(column.to_list()) if values.dtype == object and values.size else values


def column_like(column: Any, values: NDArray[Any]) -> Any:
    """Released values under the name, and with the index, of the column that came in."""
    if hasattr(column, "index"):
        return type(column)(values, index=column.index, name=column.name)
    return type(column)(column.name, values)
