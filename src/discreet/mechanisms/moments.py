"""How many values there are, their total and the total of their squares: exact integers about the middle of their bounds, then noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadBounds
from discreet.exact import Number, power_of_two_below, read_bounds
from discreet.loss import Neighbours
from discreet.mechanisms.grid import Grid
from discreet.mechanisms.kinds import Data
from discreet.mechanisms.laplace import Laplace
from discreet.noise import RandomBits

_FINENESS = 2**16
_WHOLE = 2**20
"""Whole numbers of a wider range are put on a grid too, so that the noise of their squares can be drawn."""
_FARTHEST = 2**61
_LOW_BITS = 31
Ends = tuple[Fraction, Fraction]


class Steps(NamedTuple):
    """Values as whole steps of a grid, within the steps of their bounds."""

    numbers: NDArray[np.int64]
    low: int
    high: int
    step: Fraction
    is_whole: bool

    @property
    def middle(self) -> int:
        """Half way between the bounds, which is public."""
        return (self.low + self.high) // 2

    @property
    def reach(self) -> int:
        """The farthest that a value can be from the middle."""
        return self.high - self.middle


def on_grid(values: object, lower: Number, upper: Number) -> Steps:
    """Values as steps: whole numbers one by one, others on a grid that follows from the bounds alone."""
    low, high = read_bounds(lower, upper)
    data = Data.read(values)
    is_whole = not data.real and low.denominator == high.denominator == 1 and high - low <= _WHOLE
    grid = Grid(Fraction(1)) if is_whole else Grid.given(power_of_two_below((high - low) / _FINENESS))
    ends = grid.onto(low), grid.onto(high)
    if max(map(abs, ends)) > _FARTHEST:
        raise BadBounds(
            "The bounds are too far from zero for the distance between them.",
            next_step="Subtract a public offset from the values and the bounds.",
        )
    steps: NDArray[Any] = data.numbers if is_whole else data.onto(grid)
    return Steps(np.clip(steps, *ends).astype(np.int64), *ends, grid.step, is_whole)


def total_of(values: NDArray[np.int64]) -> int:
    """Their sum, exactly, of up to 2**31 values of any size: high and low bits apart, neither of which overflows."""
    high, low = values >> _LOW_BITS, values & ((1 << _LOW_BITS) - 1)
    return (int(high.sum()) << _LOW_BITS) + int(low.sum())


@dataclass(frozen=True, slots=True)
class Plan:
    """Which noise the count, the total and the squares get: an equal share of epsilon each; no count where it is public."""

    count: Laplace | None
    total: Laplace
    squares: Laplace | None

    @classmethod
    def of(cls, steps: Steps, *, epsilon: Fraction, neighbours: Neighbours, squares: bool) -> Plan:
        """From public facts alone."""
        replaces = neighbours is Neighbours.REPLACE_ONE
        share = epsilon / (1 + (not replaces) + squares)
        moved = steps.high - steps.low if replaces else steps.reach
        return cls(
            None if replaces else Laplace(sensitivity=1, epsilon=share),
            Laplace(sensitivity=moved, epsilon=share),
            Laplace(sensitivity=steps.reach**2, epsilon=share) if squares else None,
        )

    @property
    def mechanisms(self) -> list[Laplace]:
        """All that will be drawn from."""
        return [mechanism for mechanism in (self.count, self.total, self.squares) if mechanism is not None]

    def release(self, steps: Steps, bits: RandomBits) -> Moments:
        """The noisy integers."""
        centred = steps.numbers - steps.middle
        size = len(centred)
        return Moments(
            plan=self,
            count=size if self.count is None else self.count.release(size, bits),
            total=self.total.release(total_of(centred), bits),
            squares=0 if self.squares is None else self.squares.release(total_of(centred * centred), bits),
        )


@dataclass(frozen=True, slots=True)
class Moments:
    """What was released, and where the exact integers behind it lie."""

    plan: Plan
    count: int
    total: int
    squares: int

    def at(self, measure: int) -> Fraction:
        """A measure by the count, which is taken for at least 1."""
        return Fraction(measure, max(self.count, 1))

    def first(self, level: Fraction) -> Ends:
        """The mean distance from the middle, in steps."""
        return self._by_count(self.total, self.plan.total, level, least=None)

    def second(self, level: Fraction) -> Ends:
        """The mean square of it."""
        assert self.plan.squares is not None  # noqa: S101  asked for with the plan
        return self._by_count(self.squares, self.plan.squares, level, least=0)

    def _by_count(self, measure: int, mechanism: Laplace, level: Fraction, *, least: int | None) -> Ends:
        """All draws hold together where each holds at 1 - (1 - level) / their number."""
        each = 1 - (1 - level) / len(self.plan.mechanisms)
        width = mechanism.error(each)
        ends = [measure - width, measure + width]
        ends = ends if least is None else [max(end, least) for end in ends]
        off = 0 if self.plan.count is None else self.plan.count.error(each)
        quotients = [Fraction(end, max(self.count + side, 1)) for end in ends for side in (-off, off)]
        return min(quotients), max(quotients)
