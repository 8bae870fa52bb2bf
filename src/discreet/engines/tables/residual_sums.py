"""Whole numbers for each row, from its codes and public tables alone: what a pass over the rows adds up.

A score is a sum of entries, one for each column's code. It becomes an entry of a public curve; or, of several scores, their shares of a whole. What
the row's label stands for is subtracted. All of it is integers, so that a row's numbers are a function of that row: floating-point sums are not, since
the order of the other rows changes their last bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Entries: TypeAlias = tuple[int, ...]
"""One for each code of a column."""
LARGEST_SCORE, LARGEST = 2**52, 2**21
"""Of a score, and of what is added up: engines add in 64 bits, and numpy in doubles, which are exact up to 2**53."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What a score becomes: the entry at (score + offset) >> shift, the first or last where that is beyond the table."""

    entries: Entries
    offset: int
    shift: int


@dataclass(frozen=True, slots=True)
class Score:
    """A constant, and for some columns an entry for each code."""

    entries: Mapping[int, Entries]
    constant: int = 0


@dataclass(frozen=True, slots=True)
class Residuals:
    """One number for each score: the score itself, or what a curve makes of it, less what the label stands for.

    With `whole`, the curve's entries are shares: score k becomes the largest integer below whole · e_k / Σe, where each e is the curve's entry at the
    score less the largest of the row's scores.
    """

    scores: tuple[Score, ...]
    curve: Curve | None = None
    whole: int | None = None
    label: int | None = None
    """The column of labels."""
    labels: tuple[Entries, ...] = ()
    """For each score, what each label stands for."""

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
        """No row has a larger score."""
        return abs(score.constant) + sum(max(map(abs, entries)) for entries in score.entries.values())

    @property
    def _are_shares(self) -> bool:
        """Whether every label stands for the whole in one score and for nothing in the others, and entries are positive."""
        sums = [sorted(column) for column in zip(*self.labels, strict=True)]
        expected = [0] * (len(self.scores) - 1) + [self.whole]
        is_positive = self.curve is not None and min(self.curve.entries) >= 0 and self.curve.entries[-1] > 0
        return is_positive and len(self.labels) == len(self.scores) and all(column == expected for column in sums)

    @property
    def squares(self) -> int:
        """No row's numbers have a larger sum of squares.

        Shares are rounded down, so that all but the label's are together at most what the label's lacks: twice its square.
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
    """A query about one code: whether it goes to the second of two parts."""

    column: int
    is_second: tuple[bool, ...]


Partition: TypeAlias = tuple[tuple[Split, ...], ...]
"""Level by level a query for each part, so that level n has 2**n of them; rows of part p that go to the second are in part 2p + 1 of the next level."""
