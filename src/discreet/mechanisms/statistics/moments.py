"""How many values there are, their total and the total of their squares: exact integers about the middle of their bounds, then noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, power_of_two_below, read_bounds, read_flag
from discreet.core.loss import Neighbours
from discreet.errors import BadBounds
from discreet.mechanisms.additive.laplace_mechanism import Laplace
from discreet.mechanisms.values.grid import Grid
from discreet.mechanisms.values.value_reading import read_numbers
from discreet.noise import RandomBits

_FINENESS = 2**16
_WHOLE = 2**20
"""Whole numbers of a wider range are put on a grid too, so that the noise of their squares can be drawn."""
_FARTHEST = 2**61
_LOW_BITS = 31
Ends = tuple[Fraction, Fraction]


class Scale(NamedTuple):
    """The grid that values are put on, and their bounds as they are and in its steps. It follows from public facts alone."""

    grid: Grid
    bounds: Ends
    low: int
    high: int
    is_whole: bool

    @classmethod
    def between(cls, lower: Number, upper: Number, *, whole: bool) -> Scale:
        """One by one where the values were said to be whole, else a grid that follows from the bounds.

        Args:
            lower: The least that a value can be.
            upper: The most that it can be.
            whole: Whether the values are whole numbers.
        """
        low, high = read_bounds(lower, upper)
        fine = power_of_two_below((high - low) / _FINENESS)
        if read_flag(whole, name="whole"):
            fine = Fraction(1) if high - low <= _WHOLE else max(fine, Fraction(1))
        grid = Grid.given(fine)
        ends = grid.onto(low), grid.onto(high)
        if max(map(abs, ends)) > _FARTHEST:
            raise BadBounds(
                "The bounds are too far from zero for the distance between them.",
                next_step="Subtract a public offset from the values and the bounds.",
            )
        if ends[0] == ends[1]:
            raise BadBounds("Fewer than two whole numbers lie within the bounds.", next_step="Widen the bounds.")
        return cls(grid, (low, high), *ends, whole)

    @property
    def step(self) -> Fraction:
        """How far two neighbours on the grid are apart."""
        return self.grid.step

    @property
    def rounding(self) -> Fraction:
        """How far a value may be from its place on the grid; whole numbers that are put on one by one stay what they are."""
        return Fraction(0) if self.is_whole and self.step == 1 else self.step / 2

    @property
    def middle(self) -> int:
        """Half way between the bounds, which is public."""
        return (self.low + self.high) // 2

    @property
    def reach(self) -> int:
        """The farthest that a value can be from the middle."""
        return self.high - self.middle

    def read(self, values: object, neighbours: Neighbours) -> NDArray[np.int64]:
        """Values as steps within the bounds. Who has no number is left out; where how many there are is public, they are in the middle.

        Args:
            values: One a person.
            neighbours: What a person changes.
        """
        given, lacking = read_numbers(values, *self.bounds)
        if given.dtype == object:
            steps = np.array([self.grid.onto(number) for number in given], np.int64)
        else:
            steps = self.grid.array_onto(given)
        steps = np.clip(steps, self.low, self.high)
        if neighbours is Neighbours.ADD_REMOVE:
            return steps
        return np.concatenate([steps, np.full(lacking, self.middle)])


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
    def of(cls, scale: Scale, *, epsilon: Fraction, neighbours: Neighbours, squares: bool) -> Plan:
        """From public facts alone."""
        replaces = neighbours is Neighbours.REPLACE_ONE
        share = epsilon / (1 + (not replaces) + squares)
        moved = scale.high - scale.low if replaces else scale.reach
        return cls(
            None if replaces else Laplace(sensitivity=1, epsilon=share),
            Laplace(sensitivity=moved, epsilon=share),
            Laplace(sensitivity=scale.reach**2, epsilon=share) if squares else None,
        )

    @property
    def mechanisms(self) -> list[Laplace]:
        """All that will be drawn from."""
        return [mechanism for mechanism in (self.count, self.total, self.squares) if mechanism is not None]

    def release(self, centred: NDArray[np.int64], bits: RandomBits) -> Moments:
        """The noisy integers.

        Args:
            centred: How many steps each value is from the middle.
            bits: Where randomness comes from.
        """
        size = len(centred)
        return Moments(
            plan=self,
            count=size if self.count is None else self.count.release(size, bits),
            total=self.total.release(total_of(centred), bits),
            squares=0 if self.squares is None else self.squares.release(total_of(centred * centred), bits),
        )


@dataclass(frozen=True, slots=True)
class Moments:
    """What was released, noisy numbers alone, and where the exact integers behind it lie."""

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
