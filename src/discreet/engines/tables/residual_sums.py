"""Integers for each row, from its codes and public tables only: what a pass over the rows sums.

A score is a sum of entries, one per column's code. It is mapped to an entry of a public curve or, if there are several scores, to
their shares of a whole. The value of the row's label is subtracted. Everything is an integer, so that a row's contribution depends
on that row only: in floating point, the order of the other rows would change the last bits of the sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Entries: TypeAlias = tuple[int, ...]
"""One entry per code of a column."""
LARGEST_SCORE, LARGEST = 2**52, 2**21
"""The largest score and the largest summand: engines add in 64 bits, numpy in doubles, which are exact up to 2**53."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Maps a score to the entry at (score + offset) >> shift, or to the first or last entry if that is outside of the table."""

    entries: Entries
    offset: int
    shift: int


@dataclass(frozen=True, slots=True)
class Score:
    """A constant, and for some columns one entry per code."""

    entries: Mapping[int, Entries]
    constant: int = 0


@dataclass(frozen=True, slots=True)
class Residuals:
    """One integer per score: the score, or its entry in a curve, minus the value of the label.

    With `whole`, the curve's entries are shares: score k becomes the largest integer at most whole · e_k / Σe, where each e is the curve's
    entry at the score minus the largest of the row's scores.
    """

    scores: tuple[Score, ...]
    curve: Curve | None = None
    whole: int | None = None
    label: int | None = None
    """The index of the label column."""
    labels: tuple[Entries, ...] = ()
    """For each score, the value of each label."""

    def __post_init__(self) -> None:
        bounds = [self.bound(score) for score in self.scores]
        if not self.scores or max(bounds) > LARGEST_SCORE or (self.label is not None) != bool(self.labels):
            message = "scores are whole numbers of a bounded size"
            raise ValueError(message)
        if self.whole is not None and not self._are_shares:
            message = "shares are of labels that stand for the whole"
            raise ValueError(message)
        if self.squares > LARGEST**2:
            message = "what is added up is too large"
            raise ValueError(message)

    @staticmethod
    def bound(score: Score) -> int:
        """The largest score that a row can have."""
        return abs(score.constant) + sum(max(map(abs, entries)) for entries in score.entries.values())

    @property
    def _are_shares(self) -> bool:
        """Whether every label has the whole in one score and 0 in the others, and all entries are positive."""
        sums = [sorted(column) for column in zip(*self.labels, strict=True)]
        expected = [0] * (len(self.scores) - 1) + [self.whole]
        is_positive = self.curve is not None and min(self.curve.entries) >= 0 and self.curve.entries[-1] > 0
        return is_positive and len(self.labels) == len(self.scores) and all(column == expected for column in sums)

    @property
    def squares(self) -> int:
        """The largest sum of squares that a row's integers can have.

        Shares are rounded down, so the others together are at most what the label's share lacks: at most twice its square.
        """
        if self.whole is not None:
            return 2 * self.whole**2
        total = 0
        for at, score in enumerate(self.scores):
            low, high = self._ends(score)
            labels = self.labels[at] if self.labels else (0,)
            total += max(abs(low - max(labels)), abs(high - min(labels))) ** 2
        return total

    def _ends(self, score: Score) -> tuple[int, int]:
        if self.curve is not None:
            return min(self.curve.entries), max(self.curve.entries)
        low = score.constant + sum(min(entries) for entries in score.entries.values())
        return low, score.constant + sum(max(entries) for entries in score.entries.values())


@dataclass(frozen=True, slots=True)
class Split:
    """A split by one code: which codes go to the second of two parts."""

    column: int
    is_second: tuple[bool, ...]


Partition: TypeAlias = tuple[tuple[Split, ...], ...]
"""One split per part and level, so level n has 2**n of them. Rows of part p are in part 2p or 2p + 1 of the next level."""
