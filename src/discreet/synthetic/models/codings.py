"""Fewer codes than the domain has: rare values and thin neighbouring bins are merged by their noisy counts, and return
by their noisy shares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.synthetic.models.beliefs import Table

Codes = NDArray[np.int64]

SURE = 2.25
"""From how many standard deviations on a difference is not taken for noise."""
MOST_SHIFTS = 128


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


def smoothed(counts: Table, sigma: float) -> Table:
    """Counts of ordered codes without the differences between neighbours that noise explains, at every width.

    A Haar wavelet without its coefficients below SURE standard deviations, averaged over all shifts of the codes
    (Coifman, Donoho 1995, "translation-invariant de-noising"): steps stay, and what is even becomes even.

    Args:
        counts: Noisy ones.
        sigma: The standard deviation of their noise.
    """
    length = 1 << (counts.size - 1).bit_length()
    around = np.concatenate([counts, counts[::-1]])[:length]
    shifts = np.arange(0, length, -(-length // MOST_SHIFTS))
    places = (np.arange(length) + shifts[:, None]) % length
    sums, details = around[places], []
    while sums.shape[1] > 1:
        left, right = sums[:, 0::2], sums[:, 1::2]
        apart = (left - right) / math.sqrt(2)
        details.append(np.where(np.abs(apart) > SURE * sigma, apart, 0))
        sums = (left + right) / math.sqrt(2)
    for apart in reversed(details):
        sums = np.stack([sums + apart, sums - apart], axis=2).reshape(len(shifts), -1) / math.sqrt(2)
    back = np.zeros(length)
    np.add.at(back, places, sums)
    return back[: counts.size] / len(shifts)


def without_negatives(counts: Table, total: float) -> Table:
    """The nearest counts that are not negative and add up to the total: the same is taken off all, and what is below
    zero is zero.

    Args:
        counts: Noisy ones.
        total: What they shall add up to, at least one.
    """
    falling = np.sort(counts)[::-1]
    taken = (np.cumsum(falling) - max(total, 1.0)) / np.arange(1, counts.size + 1)
    return np.maximum(counts - taken[np.flatnonzero(falling > taken)[-1]], 0)
