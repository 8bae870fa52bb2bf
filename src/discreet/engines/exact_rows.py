"""Exact integers between the engine and the noise. An import contract keeps everything else out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.catalog import Type

Integers: TypeAlias = NDArray[np.int64] | NDArray[np.object_]
"""64-bit integers, or Python integers where 64 bits are too few; never doubles."""
Histogram: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""For each group and candidate with rows: index of the group, index of the candidate, number of rows."""


@dataclass(frozen=True, slots=True, repr=False)
class ExactRows:
    """The keys and measures of every group that has rows, in no special order. The repr hides both.

    `keys` has one Arrow array per key; `measures` one array per measure, zeros for quantiles; `people` the number of
    people per group, if groups are selected privately. `histograms` are by the index of a quantile's measure.
    """

    keys: tuple[Any, ...]
    measures: tuple[Integers, ...]
    people: NDArray[np.int64] | None = None
    histograms: Mapping[int, Histogram] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.measures[0]) if self.measures else len(self.keys[0]) if self.keys else 1

    def __repr__(self) -> str:
        return "ExactRows(hidden)"


ARROW = {
    Type.INTEGER: pa.int64(),
    Type.REAL: pa.float64(),
    Type.TEXT: pa.large_string(),
    Type.DATE: pa.date32(),
    Type.TIMESTAMP: pa.timestamp("us"),
    Type.BOOLEAN: pa.bool_(),
}


def from_rows(rows: Sequence[tuple[Any, ...]], kinds: Sequence[Type], *, width: int) -> list[Any]:
    """Split rows into keys (Arrow arrays) and the integers behind them (exact integers)."""
    columns = list(zip(*rows, strict=True)) or [()] * width
    keys = [pa.array(column, type=ARROW[kind]) for column, kind in zip(columns, kinds, strict=False)]
    return [*keys, *(_integers([int(value) for value in column]) for column in columns[len(kinds) :])]


def _integers(values: Sequence[int]) -> Integers:
    small = all(-(2**63) <= value < 2**63 for value in values)
    return np.array(values, dtype=np.int64 if small else object)


def whole(column: pa.Array) -> Integers:
    """Read a column of BIGINT or DECIMAL(38, 0) without NULLs as exact integers."""
    if not pa.types.is_decimal128(column.type):
        return column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    data = column.buffers()[1]
    words = np.frombuffer(data, dtype=np.int64, count=2 * len(column), offset=16 * column.offset).reshape(-1, 2)
    low, high = words[:, 0], words[:, 1]
    if bool(np.all(high == low >> 63)):
        return low.copy()
    unsigned = low.astype(np.uint64)
    return np.array(
        [(int(upper) << 64) + int(lower) for upper, lower in zip(high, unsigned, strict=True)], dtype=object
    )
