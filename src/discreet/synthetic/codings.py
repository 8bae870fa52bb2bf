"""Fewer codes than the domain has: rare values and thin neighbouring bins are merged by their noisy counts, and return by their noisy shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.synthetic.beliefs import Table

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Coding:
    """Of one column: the group of each code, and each code's share of its group."""

    groups: Codes
    shares: Table

    @classmethod
    def of(cls, groups: Codes, counts: Table) -> Coding:
        """Shares in proportion to counts; even ones, where a group has none.

        Args:
            groups: 0, 1, … without a gap, one a code.
            counts: Of the codes, not negative.
        """
        totals = np.bincount(groups, weights=counts)[groups]
        even = 1 / np.bincount(groups)[groups]
        return cls(groups, np.where(totals > 0, counts / np.where(totals > 0, totals, 1), even))

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    @property
    def is_identity(self) -> bool:
        """Whether nothing is merged."""
        return self.size == self.groups.size


def merged(counts: Table, *, least: float, is_ordered: bool) -> Codes:
    """Groups of at least so many rows: of neighbours where codes are ordered, else all that are rarer in one.

    Args:
        counts: Of the codes, without noise below zero.
        least: How many rows a group should have.
        is_ordered: Whether neighbouring codes are neighbouring values.
    """
    if not is_ordered:
        frequent = counts >= least
        return np.cumsum(frequent) - 1 if frequent.all() else np.where(frequent, np.cumsum(frequent), 0)
    groups = np.zeros(counts.size, np.int64)
    group, inside = 0, 0.0
    for code, count in enumerate(counts):
        if inside >= least:
            group, inside = group + 1, 0.0
        groups[code] = group
        inside += count
    if inside < least and group:
        groups[groups == group] = group - 1
    return groups


def without_negatives(counts: Table, total: float) -> Table:
    """The nearest counts that are not negative and add up to the total: the same is taken off all, and what is below zero is zero.

    Args:
        counts: Noisy ones.
        total: What they shall add up to, at least one.
    """
    falling = np.sort(counts)[::-1]
    taken = (np.cumsum(falling) - max(total, 1.0)) / np.arange(1, counts.size + 1)
    return np.maximum(counts - taken[np.flatnonzero(falling > taken)[-1]], 0)
