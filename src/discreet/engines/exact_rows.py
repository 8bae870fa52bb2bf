"""Exact integers on their way from an engine to the noise. Nobody else imports this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.catalog import Type

Integers: TypeAlias = NDArray[np.int64] | NDArray[np.object_]
"""64-bit integers, or Python's own where these are too few; never doubles."""
Histogram: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""For each group and candidate that have rows: the number of the group, the number of the candidate, how many rows."""


@dataclass(frozen=True, slots=True, repr=False)
class ExactRows:
    """One grouping: for each group that has rows, in no special order, its keys and its measures. The repr hides both.

    `keys` are Arrow arrays, one for each key of the set; `measures` one array for each measure, zeros for quantiles; `people` how many
    people each group has, where groups are selected privately. `histograms` are by the number of a quantile's measure.
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
    """Rows of keys, then integers or decimals without a fraction, as Arrow arrays and exact integers."""
    columns = list(zip(*rows, strict=True)) or [()] * width
    keys = [pa.array(column, type=ARROW[kind]) for column, kind in zip(columns, kinds, strict=False)]
    return [*keys, *(_integers([int(value) for value in column]) for column in columns[len(kinds) :])]


def _integers(values: Sequence[int]) -> Integers:
    small = all(-(2**63) <= value < 2**63 for value in values)
    return np.array(values, dtype=np.int64 if small else object)


def whole(column: pa.Array) -> Integers:
    """A column of BIGINT or DECIMAL(38, 0) without NULLs as exact integers."""
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
