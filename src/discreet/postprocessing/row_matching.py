"""Join the rows of two released tables: all pairs, or those that satisfy equalities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.released_expressions import After, Apply, ColumnOf
from discreet.errors import TooLarge
from discreet.postprocessing.noisy_columns import Column, concatenated
from discreet.postprocessing.ordering import groups

Rows = NDArray[np.int64]
Side: TypeAlias = tuple[Sequence[Column], int]
"""Columns and their number of rows."""
MOST_CELLS = 2 * 10**7


def matching_rows(first: Side, second: Side, where: After | None) -> tuple[Rows, Rows]:
    """Return matching rows of the left and of the right, in the order of the left.

    Only equalities between both sides are used here; the caller applies the whole condition to the pairs.
    """
    (left, ours), (right, theirs) = first, second
    shared = [(a, b - len(left)) for a, b in equalities(where) if a < len(left) <= b < len(left) + len(right)]
    if not shared:
        check_size(ours * theirs, len(left) + len(right))
        return np.repeat(np.arange(ours), theirs), np.tile(np.arange(theirs), ours)
    codes, _ = groups([Column(*concatenated([left[a], right[b]])) for a, b in shared], ours + theirs)
    order = np.argsort(codes[ours:], kind="stable")
    ordered = codes[ours:][order]
    begins, ends = (
        np.searchsorted(ordered, codes[:ours], side="left"),
        np.searchsorted(ordered, codes[:ours], side="right"),
    )
    counts = ends - begins
    check_size(int(counts.sum()), len(left) + len(right))
    rows = np.repeat(np.arange(ours), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, order[np.repeat(begins, counts) + within]


def check_size(rows: int, columns: int) -> None:
    """Refuse a table that does not fit into memory. The number of released rows is public."""
    if rows * columns > MOST_CELLS:
        raise TooLarge(
            "The table would have more than twenty million cells.", next_step="Join the tables on equal keys."
        )


def equalities(where: After | None) -> Iterator[tuple[int, int]]:
    """Return the pairs of columns that a condition requires to be equal, the smaller position first."""
    if not isinstance(where, Apply):
        return
    if where.op == "and":
        for arg in where.args:
            yield from equalities(arg)
    if where.op == "=" and all(isinstance(arg, ColumnOf) for arg in where.args):
        a, b = sorted(arg.at for arg in where.args if isinstance(arg, ColumnOf))
        yield a, b
