"""A private quantile, by the exponential mechanism on rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import (
    Number,
    exact,
    finite,
    power_of_two_below,
    read_bounds,
    read_count,
    read_epsilon,
    read_flag,
)
from discreet.core.loss import Neighbours, read_neighbours
from discreet.errors import BadBounds, BadData, BadInput, BadProbability
from discreet.mechanisms.choice.selection import Exponential
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import SolvedForEpsilon
from discreet.mechanisms.statistics.sparse_histograms import Block, Histograms
from discreet.mechanisms.values.grid import Grid
from discreet.noise import SYSTEM_BITS, RandomBits, exponential_choices, uniform_below_each

_MOST_POINTS = 2**15
_FINEST_RANK = 10**6
"""The largest denominator of q: so that ranks of 10**12 values fit 64 bits."""
_FARTHEST = 2**61


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile(SolvedForEpsilon):
    """Choose a point of a public grid on [lower, upper] by how far its ranks are from the q-th quantile's.

    The values at a candidate c hold the ranks from -q #{x >= c} + (1-q) #{x < c} to -q #{x > c} + (1-q) #{x <= c}, where
    the quantile's own rank is 0; the score is minus the distance from `shift` to them. Adding or removing one value
    moves it by at most max(q, 1-q), replacing one by at most 1, and moving one from a group to another by max(q, 1-q)
    in each of the two. The outermost candidates hold every rank beyond them,
    so some candidate always scores 0, and with shift = -error the choice lies above the quantile no more often than
    the error allows: that is how intervals are made (`docs/explanation/proofs/quantile.md`).
    Guarantee: epsilon-DP for at most `rows` values per person, under `neighbours`; rho = epsilon**2 / 8. The same for
    many groups at once, if these rows are all that a person has in all groups together and, under replace-one, the
    mechanism is `grouped`.
    Citation: McSherry, Talwar 2007, with the rank score of Smith 2011; Sapienza slides, "Exponential Mechanism".

    Args:
        q: Which quantile, from 0 to 1; 0.5 is the median.
        lower: The least that a value can be, from public knowledge.
        upper: The most that a value can be, likewise.
        epsilon: How much may be learned about a person; smaller is more private.
        neighbours: What a person changes: values that come or go, or that are replaced.
        whole: Whether the values are whole numbers.
        points: At least so many candidates between the bounds.
        rows: How many values one person may have.
        shift: How many ranks above the quantile to aim.
        grouped: Whether many groups share the rows.
    """

    q: Number
    lower: Number
    upper: Number
    epsilon: Number
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    whole: bool = False
    """Whether the values are whole numbers: then so are the candidates, where the bounds allow it."""
    points: int = _MOST_POINTS
    """At least so many candidates between the bounds, and at most twice as many; fewer if whole numbers are fewer."""
    rows: int = 1
    shift: Number = 0
    """How many ranks above the quantile to aim; below, if negative."""
    grouped: bool = False
    """Whether many groups share the rows: under replace-one someone may leave one group and enter another."""

    def __post_init__(self) -> None:
        read_epsilon(self.epsilon)
        object.__setattr__(self, "neighbours", read_neighbours(self.neighbours))
        object.__setattr__(self, "rows", read_count(self.rows, name="rows"))
        object.__setattr__(self, "points", read_count(self.points, name="points", least=2))
        read_flag(self.whole, name="whole")
        read_flag(self.grouped, name="grouped")
        if self.points > _MOST_POINTS:
            raise BadInput("There are too many points.", next_step=f"Give at most {_MOST_POINTS:,}.")
        read_bounds(self.lower, self.upper)
        if finite(self.shift) is None:
            raise BadInput("shift must be a finite number of ranks.", next_step="Give 0 for the quantile itself.")
        q = finite(self.q)
        if q is None or not 0 <= q <= 1:
            raise BadProbability("q must be a number from 0 to 1.", next_step="Give q=0.5 for the median.")
        if not self.candidates:
            raise BadBounds("No whole number lies within the bounds.", next_step="Widen the bounds.")
        if max(abs(self.candidates[0]), abs(self.candidates[-1])) > 2**52:
            raise BadBounds(
                "The bounds are too far from zero for the distance between them.",
                next_step="Subtract a public offset from the values and the bounds.",
            )

    @property
    def grid(self) -> Grid:
        """From `points` to twice as many; fewer where the values are whole and the bounds near."""
        return _grid(*read_bounds(self.lower, self.upper), self.points, self.whole)

    @property
    def candidates(self) -> range:
        """The grid points within the bounds, in steps."""
        lower, upper = read_bounds(self.lower, self.upper)
        step = self.grid.step
        return range(math.ceil(lower / step), math.floor(upper / step) + 1)

    @property
    def _rank(self) -> tuple[int, int]:
        """Q as a fraction a / b, so that b times the score is an integer."""
        q = exact(self.q).limit_denominator(_FINEST_RANK)
        return q.numerator, q.denominator

    @property
    def _target(self) -> int:
        """The shift in units of 1 / b, kept where a distance from it fits 64 bits."""
        return max(-_FARTHEST, min(_FARTHEST, math.floor(exact(self.shift) * self._rank[1])))

    @property
    def selection(self) -> Exponential:
        """The mechanism underneath: what is charged and sampled."""
        return Exponential(sensitivity=self._moves * self.rows, epsilon=self.epsilon, size=len(self.candidates))

    @property
    def _moves(self) -> int:
        """How far one row can move the scores of all groups together, in units of 1 / b of a rank."""
        a, b = self._rank
        comes_or_goes = max(a, b - a)
        if self.neighbours is Neighbours.ADD_REMOVE:
            return comes_or_goes
        return 2 * comes_or_goes if self.grouped else b  # leaves one group and enters another, or stays and changes

    @property
    def exact_rho(self) -> Fraction:
        return self.selection.exact_rho

    def _renyi(self, order: float) -> float:
        return self.selection.renyi(order)

    def _deltas(self, epsilons: Floats) -> Floats:
        return self.selection.deltas(epsilons)

    def release(self, exact: NDArray[Any], bits: RandomBits = SYSTEM_BITS) -> float:
        """The chosen point; an empty array is fine and gives any point alike."""
        return self.grid.back(self.candidates[self.choose(self._counts(exact), bits)])

    def choose(self, counts: NDArray[np.int64], bits: RandomBits = SYSTEM_BITS) -> int:
        """The same from how many values each candidate has; which candidate was chosen.

        Args:
            counts: How many values each candidate has.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        return self.selection.release(self._scores(counts), bits)

    def choose_many(self, counts: NDArray[np.int64] | Histograms, bits: RandomBits = SYSTEM_BITS) -> NDArray[np.int64]:
        """The same for many groups at once: which candidate was chosen in each.

        Takes a row of counts for each group or, better where several quantiles of the same groups are asked for, their
        `Histograms`, made once.

        Args:
            counts: A row of counts for each group, or histograms.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        histograms = counts if isinstance(counts, Histograms) else Histograms.of(counts)
        if histograms.candidates != len(self.candidates):
            raise BadData(
                "There must be one count for each candidate.", next_step="Count at the mechanism's candidates."
            )
        rate = self.selection.rate
        chosen = [_choices(self._runs(block), rate, bits) for block in histograms.blocks]
        return np.concatenate([np.zeros(0, np.int64), *chosen])

    def _runs(self, block: Block) -> _Runs:
        """Each cell is one run: its own candidate, and the empty ones beside it, on the side away from the target.

        The ranks of those begin and end where the cell's nearer end is, so they share its score.
        """
        a, b = self._rank
        first, last = block.starts[:-1], block.starts[1:] - 1
        ends = b * block.up_to
        ends -= np.repeat(np.append(a * block.totals + self._target, 0), np.diff(block.starts, append=ends.size))
        above = block.empty_after * (ends < 0)
        lengths = 1 + above
        lengths[1:] += (block.empty_after - above)[:-1]
        lengths[block.starts[-1] :] = 0
        begins = np.concatenate([[0], ends[:-1]])
        begins[first], ends[last] = 0, np.maximum(ends[last], 0)  # beyond the outermost candidates every rank is theirs
        gaps = np.maximum(np.maximum(begins, -ends), 0)
        return _Runs(block.starts, gaps, block.candidates - (lengths - 1 - above), lengths)

    def _counts(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Values beyond the bounds, infinities too, are clamped; NaN is nobody's value, and an error would tell of it."""
        if type(values) is not np.ndarray or values.dtype.kind not in "iuf" or values.ndim != 1:
            raise BadData("A quantile takes an array of numbers.", next_step="Give a flat array of ints or floats.")
        values = values[~np.isnan(values)]
        first, last = self.candidates[0], self.candidates[-1]
        clamped = np.clip(values, float(exact(self.lower)), float(exact(self.upper)))
        steps = np.clip(self.grid.array_onto(clamped), first, last) - first
        return np.bincount(steps, minlength=len(self.candidates)).astype(np.int64)

    def _scores(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        a, b = self._rank
        target = self._target
        up_to = np.cumsum(counts)
        begins = b * (up_to - counts) - a * up_to[-1]  # where the ranks of the candidate before end
        ends = b * up_to - a * up_to[-1]
        begins[0], ends[-1] = min(begins[0], target), max(ends[-1], target)
        return -np.maximum(0, np.maximum(begins - target, target - ends))

    def error(self, confidence: Number) -> float:
        """In ranks: how much further the answer's rank is from the quantile's than the best grid point's is, at most."""
        _, b = self._rank
        return self.selection.error(confidence) / b

    def interval(self, level: Number) -> tuple[float, float]:
        """(-ranks, ranks). A value interval would have to look at the data."""
        ranks = self.error(level)
        return -ranks, ranks


class _Runs(NamedTuple):
    """Candidates in a row that share a score: how far it is from the best, the first of them, and how many they are."""

    starts: NDArray[np.int64]
    gaps: NDArray[np.int64]
    first: NDArray[np.int64]
    lengths: NDArray[np.int64]


def _choices(runs: _Runs, rate: Fraction, bits: RandomBits) -> NDArray[np.int64]:
    chosen = exponential_choices(runs.gaps, runs.lengths, runs.starts, rate, bits)
    return runs.first[chosen] + uniform_below_each(runs.lengths[chosen], bits)


@lru_cache(maxsize=256)
def _grid(lower: Fraction, upper: Fraction, points: int, whole: bool) -> Grid:
    step = power_of_two_below((upper - lower) / (points - 1))
    return Grid.given(max(step, Fraction(1)) if whole else step)
