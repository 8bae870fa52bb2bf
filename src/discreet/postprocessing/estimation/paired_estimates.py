"""Two numbers together: covariance, correlation and regression from noisy sums, and their worst over the box in which the sums lie.

Everything is computed about centres in the middle of the ranges, in grid steps, and shifted back at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.query import Measure
from discreet.postprocessing import interval_arithmetic
from discreet.postprocessing.noisy_columns import Mask, Sides

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Axis:
    """One of the numbers: the size of a step, the middle it was summed about, and its range, in steps."""

    step: float
    centre: int
    low: int
    high: int

    @classmethod
    def of(cls, total: Measure) -> Axis:
        (steps,), (centre,) = total.steps, total.centres
        return cls(float(steps.step), centre, steps.low, steps.high)

    @property
    def range(self) -> int:
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Sums:
    """Where the sums about the centres and the number of rows lie."""

    x: Sides
    y: Sides
    count: Sides

    def floored(self) -> Sums:
        """A count below one counts as one."""
        return Sums(self.x, self.y, (np.maximum(self.count[0], 1.0), np.maximum(self.count[1], 1.0)))

    def mean(self, total: Sides) -> Sides:
        return interval_arithmetic.over(total, self.count)

    def about(self, products: Sides, *, sample: bool, is_square: bool) -> Sides:
        """Products / count - mean x · mean y: a variance where both are the same number."""
        counted = (np.maximum(products[0], 0.0), np.maximum(products[1], 0.0)) if is_square else products
        mean_x, mean_y = self.mean(self.x), self.mean(self.y)
        means = _squared(mean_x) if is_square else interval_arithmetic.times(mean_x, mean_y)
        spread = interval_arithmetic.minus(interval_arithmetic.over(counted, self.count), means)
        return interval_arithmetic.times(spread, self._correction) if sample else spread

    @property
    def _correction(self) -> Sides:
        """N / (n - 1), which falls with n."""
        fewest, most = self.count
        return most / np.maximum(most - 1, 1.0), fewest / np.maximum(fewest - 1, 1.0)


def _squared(a: Sides) -> Sides:
    low, high = interval_arithmetic.magnitude(a)
    return low**2, high**2


@dataclass(frozen=True, slots=True)
class Paired:
    """One of covar_samp, covar_pop, corr, slope and intercept."""

    kind: str
    x: Axis
    y: Axis

    def value(self, sums: Sums, products: Sides, squares: list[Sides]) -> tuple[Floats, Mask]:
        """Return the estimate: the box is one point. A variance of 0 or less has no correlation."""
        low, _ = self._rule(sums, products, squares)
        defined = np.isfinite(low)
        return np.where(defined, low, 0.0) + 0.0, defined

    def around(self, sums: Sums, products: Sides, squares: list[Sides]) -> Sides:
        """Return the worst case over the box; everything that bounds allow for tiny groups and if a divisor may be 0."""
        tiny = ~(sums.count[0] >= 2)
        low, high = self._rule(sums.floored(), products, squares)
        least, most = self._allowed(np.full(len(low), -np.inf), np.full(len(low), np.inf))
        lost = tiny | np.isnan(low) | np.isnan(high)
        return np.where(lost, least, low), np.where(lost, most, high)

    def _rule(self, sums: Sums, products: Sides, squares: list[Sides]) -> Sides:
        sample = self.kind == "covar_samp"
        spread = sums.about(products, sample=sample, is_square=False)
        if self.kind.startswith("covar"):
            return self._allowed(spread[0] * self._area, spread[1] * self._area)
        variance = self._variance(sums, sums.x, squares[0])
        if self.kind == "corr":
            other = self._variance(sums, sums.y, squares[1])
            return self._allowed(*interval_arithmetic.over(spread, _root(interval_arithmetic.times(variance, other))))
        slope = interval_arithmetic.over(spread, variance)
        if self.kind == "slope":
            return slope[0] * (self.y.step / self.x.step), slope[1] * (self.y.step / self.x.step)
        mean_x, mean_y = sums.mean(sums.x), sums.mean(sums.y)
        places = (
            mean_x[0] * self.x.step + self.x.centre * self.x.step,
            mean_x[1] * self.x.step + self.x.centre * self.x.step,
        )
        rise = self.y.step / self.x.step
        low, high = interval_arithmetic.minus(
            (mean_y[0] * self.y.step, mean_y[1] * self.y.step),
            interval_arithmetic.times((slope[0] * rise, slope[1] * rise), places),
        )
        return low + self.y.centre * self.y.step, high + self.y.centre * self.y.step

    @property
    def _area(self) -> float:
        return self.x.step * self.y.step

    def _variance(self, sums: Sums, total: Sides, squares: Sides) -> Sides:
        """Return the variance; NaN unless it is certainly above 0, so that it can be a divisor."""
        low, high = Sums(total, total, sums.count).about(squares, sample=False, is_square=True)
        sure = low > 0
        return np.where(sure, low, np.nan), np.where(sure, high, np.nan)

    def _allowed(self, low: Floats, high: Floats) -> Sides:
        """A correlation lies within [-1, 1], a covariance within a quarter of both ranges (half, for a sample of two)."""
        if self.kind == "corr":
            return np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)
        if self.kind.startswith("covar"):
            most = self.x.range * self.y.range * self._area / (2 if self.kind == "covar_samp" else 4)
            return np.clip(low, -most, most), np.clip(high, -most, most)
        return low, high


def _root(a: Sides) -> Sides:
    return np.sqrt(a[0]), np.sqrt(a[1])
