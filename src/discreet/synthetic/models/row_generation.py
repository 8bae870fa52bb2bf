"""Rows whose tables are as near to a model's as whole rows can be: codes are allotted evenly, not drawn independently.

Columns are taken along the tree. For each, rows are put in order by the columns that it depends on, and among those by
the columns drawn before; then the k-th row takes the code at place frac(start + k · golden ratio) of its conditional
shares. In every stretch of that order, and so in every group of equal rows, each code comes as often as its share says,
give or take about one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.noise import RandomBits
from discreet.synthetic.models.beliefs import TINY, Beliefs, Table, added_up
from discreet.synthetic.models.codings import Codes, Coding

GOLDEN = (math.sqrt(5) - 1) / 2
_LAST = 1 - 2.0**-26
"""So that a place, added to the number of its context, is never rounded into the next."""


class Allotment:
    """Rows under way: the codes of the columns drawn so far, and the order the rows are in."""

    def __init__(self, rows: int, columns: int, bits: RandomBits) -> None:
        self.codes = np.zeros((columns, rows), np.int64)
        self._order = np.arange(rows)
        self._bits = bits

    def draw(self, context: Codes, shares: Table) -> Codes:
        """A code for each row, by the shares of its context.

        Args:
            context: For each row, which line of `shares` is its own.
            shares: A line a context, a column a code; not negative.
        """
        rows, size = context.size, shares.shape[1]
        order = self._order[np.argsort(context[self._order], kind="stable")]
        ends = np.cumsum(shares, axis=1)
        ends = ends / np.maximum(ends[:, -1:], TINY) + np.arange(len(ends))[:, None]
        start = int(self._bits.words(1, 64)[0]) / 2**64
        places = np.minimum((start + GOLDEN * np.arange(rows)) % 1.0, _LAST) + context[order]
        drawn = np.empty(rows, np.int64)
        drawn[order] = np.searchsorted(ends.ravel(), places, side="right") - context[order] * size
        self._order = order[np.argsort(drawn[order], kind="stable")]
        return drawn


def rows_of(beliefs: Beliefs, codings: Sequence[Coding], count: int, bits: RandomBits) -> NDArray[np.int64]:
    """Return `count` rows, one line each, in the codes of the domain.

    Args:
        beliefs: Over the groups of the codings.
        codings: One a column.
        count: How many rows.
        bits: Where the places of the first rows come from.
    """
    allotment = Allotment(count, len(codings), bits)
    drawn: list[int] = []
    for clique, share in zip(beliefs.tree.cliques, beliefs.shares, strict=True):
        for column in (column for column in clique if column not in drawn):
            given = [other for other in clique if other in drawn]
            both = tuple(sorted([*given, column]))
            table = np.moveaxis(added_up(share, clique, both), both.index(column), -1)
            context = np.zeros(count, np.int64)
            for other in given:
                context = context * beliefs.sizes[other] + allotment.codes[other]
            allotment.codes[column] = allotment.draw(context, table.reshape(-1, beliefs.sizes[column]))
            drawn.append(column)
    for column, coding in enumerate(codings):
        if not coding.is_identity:
            within = np.zeros((coding.size, coding.groups.size))
            within[coding.groups, np.arange(coding.groups.size)] = coding.shares
            allotment.codes[column] = allotment.draw(allotment.codes[column], within)
    return allotment.codes.T
