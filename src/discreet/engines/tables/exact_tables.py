"""Exact tables of counts between the engine and the noise. An import contract keeps everything else out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.concurrency.lru_cache import LruCache
from discreet.engines.tables.residual_sums import Partition, Residuals, Score

Counts: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = tuple[tuple[int, ...] | None, ...]
"""For each column the new code of each code; None if the codes stay."""
_SMALL = 1 << 14
"""The most cells of a table that costs little more than a smaller one."""
_FEW = 16
"""The most columns of such a table: arrays have a limited number of axes."""
_MOST_KEPT = 16_000_000
"""The most cells of cached tables: 128 MB."""


def _cells(table: Counts) -> int:
    return int(table.size)


class ExactTables:
    """The number of rows with each combination of codes, for any columns. The repr hides everything.

    `sizes` are the numbers of codes of the columns. `count` gives the dense table over columns (by index, in order), `merge` the same
    rows with fewer codes, `total` sums of integers per row, `divide` counts within parts of the rows, `won` counts by the largest score.
    """

    __slots__ = ("_count", "_divide", "_kept", "_merge", "_total", "_won", "sizes")

    def __init__(
        self,
        sizes: tuple[int, ...],
        *,
        count: Callable[[tuple[int, ...]], Counts],
        merge: Callable[[Codes], ExactTables],
        total: Callable[[Residuals, tuple[int, ...]], list[Counts]],
        divide: Callable[[Partition, tuple[int, ...], int], list[Counts]],
        won: Callable[[Sequence[Score], int], Counts],
    ) -> None:
        self.sizes, self._count, self._merge = sizes, count, merge
        self._total, self._divide, self._won = total, divide, won
        self._kept: LruCache[tuple[int, ...], Counts] = LruCache(_MOST_KEPT, weigh=_cells)

    def __repr__(self) -> str:
        return "ExactTables(hidden)"

    def table(self, columns: tuple[int, ...]) -> Counts:
        """Return the table over some columns, one axis each; over none, the number of rows. Read-only."""
        table = self._kept.get(columns)
        return self._keep(columns, self._added_up(columns)) if table is None else table

    def _added_up(self, columns: tuple[int, ...]) -> Counts:
        wider = next((known for known in self._kept if set(columns) <= set(known)), None)
        table = None if wider is None else self._kept.get(wider)
        if wider is None or table is None:
            wider = self._wider(columns)
            table = self._keep(wider, self._count(wider))
        others = tuple(axis for axis, column in enumerate(wider) if column not in columns)
        return np.asarray(table.sum(axis=others)) if others else table

    def _keep(self, columns: tuple[int, ...], table: Counts) -> Counts:
        table.flags.writeable = False
        self._kept.put(columns, table)
        return table

    def _wider(self, columns: tuple[int, ...]) -> tuple[int, ...]:
        """Add small columns as long as the table stays small: one count then serves many tables."""
        wider, cells = set(columns), math.prod(self.sizes[at] for at in columns)
        for at in sorted(range(len(self.sizes)), key=lambda at: self.sizes[at]):
            if len(wider) < _FEW and at not in wider and cells * self.sizes[at] <= _SMALL:
                wider.add(at)
                cells *= self.sizes[at]
        return tuple(sorted(wider))

    def totals(self, residuals: Residuals, columns: tuple[int, ...]) -> list[Counts]:
        """Sum, by the codes of each column, the integers that public tables assign to a row: one row per integer."""
        return self._total(residuals, columns)

    def divided(self, partition: Partition, columns: tuple[int, ...], label: int) -> list[Counts]:
        """Count, for each column, the rows by part, code and label: one axis each."""
        return self._divide(partition, columns, label)

    def winners(self, scores: Sequence[Score], label: int) -> Counts:
        """Count the rows by their largest score (the first of equal ones) and label: one axis each."""
        return self._won(scores, label)

    def merged(self, codes: Codes) -> ExactTables:
        """Return the tables of the same rows with fewer codes."""
        return self._merge(codes)


class PartedTables(NamedTuple):
    """Tables of all rows, of the training rows, and of the held-out rows that test what was learned."""

    all: ExactTables
    known: ExactTables
    held_out: ExactTables
