"""Order and equality of values of any type: NULLs last, never an error."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.postprocessing.noisy_columns import Column, text_of, types_of

Codes = NDArray[np.int64]


def ranks(column: Column) -> tuple[Codes, int]:
    """Return the rank of each value among the distinct ones, from 0 with NULL last; and the number of ranks."""
    codes = np.zeros(len(column), np.int64)
    present = column.values if column.valid.all() else column.values[column.valid]
    inner, count = _ranked(present, types_of(column))
    codes[column.valid] = inner
    codes[~column.valid] = count
    return codes, count + 1


def _ranked(values: NDArray[Any], types: set[type]) -> tuple[Codes, int]:
    if not len(values):
        return np.zeros(0, np.int64), 0
    if types == {str}:
        encoded = pa.array(values, pa.string()).dictionary_encode()
        order = pc.sort_indices(encoded.dictionary).to_numpy()
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return places[encoded.indices.to_numpy()], len(order)
    if values.dtype != object or types == {int}:
        different, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64).reshape(-1), len(different)
    keys = [sortable(value) for value in values.tolist()]
    place = {key: at for at, key in enumerate(sorted(set(keys)))}
    return np.fromiter((place[key] for key in keys), np.int64, len(keys)), len(place)


def sortable(value: Any) -> tuple[int, Any]:
    """Return a sort key: numbers, then dates, then text. Booleans are numbers."""
    if isinstance(value, int | float):
        return 0, value
    return (1, text_of(value)) if isinstance(value, date) else (2, str(value))


def groups(columns: Sequence[Column], size: int) -> tuple[Codes, int]:
    """Return a number for each combination of values, in the order of first rows, and how many there are. NULL equals NULL."""
    if not columns:
        return np.zeros(size, np.int64), 1
    codes, count = ranks(columns[0])
    for column in columns[1:]:
        more, width = ranks(column)
        if count * width >= 2**62:
            codes, count = _dense(codes)
        codes, count = codes * width + more, count * width
    if count > 2 * size:
        codes, count = _dense(codes)
    first = np.full(count, size)
    first[codes[::-1]] = np.arange(size)[::-1]
    places, present = np.empty(count, np.int64), int(np.count_nonzero(first < size))
    places[np.argsort(first, kind="stable")] = np.arange(count)
    return places[codes], present


def _dense(codes: Codes) -> tuple[Codes, int]:
    different, inverse = np.unique(codes, return_inverse=True)
    return inverse.astype(np.int64).reshape(-1), len(different)


def sort_keys(order: Sequence[tuple[Column, bool]]) -> list[Codes]:
    """Return numbers that increase in the requested order, for each column and its direction. NULLs are last in both directions."""
    keys = []
    for column, falling in order:
        codes, count = ranks(column)
        keys.append(np.where(column.valid, -codes, count) if falling else codes)
    return keys


def sorted_rows(keys: Sequence[Codes], size: int) -> Codes:
    """Return the rows in order by the first key, then the next. Equal rows keep their order."""
    if not keys:
        return np.arange(size)
    return np.lexsort(tuple(reversed(keys))).astype(np.int64)
