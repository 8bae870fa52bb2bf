"""Coded rows in an array: the same exact tables as from an engine, counted by numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.engines.tables.exact_tables import Codes, Counts, ExactTables
from discreet.engines.tables.passes import of_arrays, parts_of_arrays, winners_of_arrays
from discreet.engines.tables.residual_sums import Integers, Partition, Residuals, Score


class CodedArray:
    """Make exact tables of an array of codes: one row per row, one column per size."""

    def __init__(self, codes: Integers, sizes: tuple[int, ...]) -> None:
        self._codes, self._sizes = codes, sizes

    def tables(self) -> ExactTables:
        """Count and sum over the coded rows."""
        return ExactTables(
            self._sizes,
            count=self._counted,
            merge=self._merged,
            total=self._totals,
            divide=self._divided,
            won=self._winners,
        )

    def _cells(self, columns: tuple[int, ...]) -> Integers:
        if not columns:
            return np.zeros(len(self._codes), np.int64)
        shape = tuple(self._sizes[at] for at in columns)
        return np.ravel_multi_index(tuple(self._codes[:, at] for at in columns), shape)

    def _counted(self, columns: tuple[int, ...]) -> Counts:
        shape = tuple(self._sizes[at] for at in columns)
        return np.bincount(self._cells(columns), minlength=math.prod(shape)).reshape(shape)

    def _merged(self, new: Codes) -> ExactTables:
        fewer = [size if part is None else max(part) + 1 for size, part in zip(self._sizes, new, strict=True)]
        merged = [
            self._codes[:, at] if part is None else np.array(part)[self._codes[:, at]] for at, part in enumerate(new)
        ]
        return CodedArray(np.stack(merged, axis=1), tuple(fewer)).tables()

    def _totals(self, residuals: Residuals, columns: tuple[int, ...]) -> list[Counts]:
        """Doubles are exact here: a number is at most 2**21, so 2**32 rows add up to at most 2**53."""
        numbers = of_arrays(residuals, self._codes)
        return [
            np.stack(
                [np.bincount(self._codes[:, at], weights=row, minlength=self._sizes[at]) for row in numbers]
            ).astype(np.int64)
            for at in columns
        ]

    def _divided(self, partition: Partition, columns: tuple[int, ...], label: int) -> list[Counts]:
        part, parts, labels = parts_of_arrays(partition, self._codes), 2 ** len(partition), self._sizes[label]
        wanted = [(parts, self._sizes[at], labels) for at in columns]
        positions = [
            np.ravel_multi_index((part, self._codes[:, at], self._codes[:, label]), shape)
            for at, shape in zip(columns, wanted, strict=True)
        ]
        return [
            np.bincount(position, minlength=math.prod(shape)).reshape(shape)
            for position, shape in zip(positions, wanted, strict=True)
        ]

    def _winners(self, scores: Sequence[Score], label: int) -> Counts:
        shape = (len(scores), self._sizes[label])
        cells = np.ravel_multi_index((winners_of_arrays(scores, self._codes), self._codes[:, label]), shape)
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
