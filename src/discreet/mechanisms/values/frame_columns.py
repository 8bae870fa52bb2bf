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
    values, missing = present(column)
    if missing:
        raise BadData("The column has missing values.", next_step="Drop or replace them first.")
    return values


def present(column: Any) -> tuple[NDArray[Any], int]:
    """Its values without the missing ones, in the type that the column has, and how many are missing."""
    if hasattr(column, "dropna"):
        kept = column.dropna()
        values = kept.to_numpy(dtype=getattr(kept.dtype, "numpy_dtype", None))
    else:
        kept = column.drop_nulls()
        values = kept.to_numpy()
    return np.asarray(values), len(column) - len(kept)


def column_like(column: Any, values: NDArray[Any]) -> Any:
    """Released values under the name, and with the index, of the column that came in."""
    if hasattr(column, "index"):
        return type(column)(values, index=column.index, name=column.name)
    return type(column)(column.name, values)
