"""Exact tables of counts on their way from an engine to the noise. Nobody else imports this."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = tuple[tuple[int, ...] | None, ...]
"""For each column the new code of each code; None where they stay."""
_MOST_KEPT = 16_000_000
"""Cells of tables that are kept because they will be asked for again: 128 MB."""


class ExactTables:
    """How many rows have each combination of codes, for any columns. The repr hides everything.

    `sizes` are how many codes each column has. `count` gives the dense table over columns (by number, in order), `merge` the same rows with
    fewer codes.
    """

    __slots__ = ("_count", "_kept", "_merge", "sizes")

    def __init__(
        self,
        sizes: tuple[int, ...],
        *,
        count: Callable[[tuple[int, ...]], Counts],
        merge: Callable[[Codes], ExactTables],
    ) -> None:
        self.sizes, self._count, self._merge = sizes, count, merge
        self._kept: OrderedDict[tuple[int, ...], Counts] = OrderedDict()

    def __repr__(self) -> str:
        return "ExactTables(hidden)"

    def table(self, columns: tuple[int, ...]) -> Counts:
        """The table over some columns, one axis each; over none, how many rows there are."""
        if columns not in self._kept:
            self._kept[columns] = self._count(columns)
            while sum(table.size for table in self._kept.values()) > _MOST_KEPT and len(self._kept) > 1:
                self._kept.popitem(last=False)
        self._kept.move_to_end(columns)
        return self._kept[columns]

    def merged(self, codes: Codes) -> ExactTables:
        """The same rows with fewer codes."""
        return self._merge(codes)
