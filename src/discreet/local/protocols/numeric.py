"""The mean of a number on a grid: one bit, a window of positions, or one of the two by a coin flip.

Each report gives an unbiased guess of its sender's position on the grid. The variance of that guess is a known
quadratic in the position. So the mean of the guesses is unbiased, and its variance needs two sums: of the positions and
of their squares.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import WORD, Hybrid, OneBit, Window
from discreet.local.protocols.draws import Codes, Draws, Flags
from discreet.local.protocols.protocol import Floats, Protocol, R, Reports, Tally, chance_of

Quadratic: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""The coefficients of x², x and 1."""

_HYBRID_FROM = 0.61
"""Below this epsilon the window never beats the one bit in the worst case (Wang et al. 2019, section 3.3)."""


def piecewise_width(steps: int, epsilon: float) -> int:
    """Return the window width that minimizes the worst-case variance of the piecewise mean: steps / e^(epsilon / 2)."""
    return max(1, round(steps * math.exp(-epsilon / 2)))


def square_wave_width(steps: int, epsilon: float) -> int:
    """Return the window width with the most information about the number: 2b steps (Li et al. 2020, section 5.3).

    b = (eps e^eps - e^eps + 1) / (2 e^eps (e^eps - 1 - eps)). It is computed by power series, because both differences
    lose all precision for small epsilon.
    """
    terms = [1.0]
    while len(terms) < 4 * epsilon + 40:
        terms.append(terms[-1] * epsilon / len(terms))  # epsilon^k / k!
    above = sum((k - 1) * term for k, term in enumerate(terms) if k >= 2)
    below = math.exp(epsilon) * sum(terms[2:])
    return max(1, round(steps * above / below))


def hybrid_share(epsilon: float) -> int:
    """Return the probability, times 2**64, of the window that minimizes the worst variance (Wang et al. 2019)."""
    return int(-math.expm1(-epsilon / 2) * WORD) if epsilon > _HYBRID_FROM else 0


class GridMean(Protocol[R]):
    """The mean in steps of the grid, as an array of one number. A tally counts the outputs."""

    steps: int

    @property
    @abstractmethod
    def second_moment(self) -> Quadratic:
        """The expected square of one report's guess, for a person at position x."""

    @property
    @abstractmethod
    def guesses(self) -> tuple[float, float]:
        """The least and the largest guess of one report; both lie far outside the grid."""

    @abstractmethod
    def sum_of_positions(self, tally: Tally) -> Fraction:
        """Return the sum of the guesses, which is unbiased for the sum of all positions."""

    @abstractmethod
    def sum_of_squares(self, tally: Tally) -> float | None:
        """Return an unbiased estimate of the sum of the squared positions; None if the reports do not determine one."""

    def estimate(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        return np.array([float(self.sum_of_positions(tally) / reports) if reports else math.nan])

    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        """Return the variance of the mean if `counts` people are at each of the positions `codes`."""
        square, linear, constant = self._spread
        positions = np.asarray(codes, np.float64)
        each = square * positions**2 + linear * positions + constant
        return np.array([float(np.dot(counts, each)) / reports**2])

    def estimated_variance(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """Estimate the variance from the sums. Without a sum of squares it is an upper bound, by Jensen's inequality.

        The variance of a guess is then concave in the position, so its average is largest if all people are at their
        mean; the factor n / (n - 1) accounts for the error of that mean.
        """
        if not reports:
            return np.array([math.nan])
        square, linear, constant = self._spread
        positions, squares = float(self.sum_of_positions(tally)), self.sum_of_squares(tally)
        if squares is None:
            total = square * positions**2 / reports + linear * positions + constant * reports
            total *= reports / max(reports - 1, 1)
        else:
            total = square * squares + linear * positions + constant * reports
        least, most = self._spread_range
        return np.array([min(max(total / reports, least), most) / reports])

    @property
    def influence(self) -> float:
        """The most by which one fabricated report moves the sum: from one end of the grid to the farthest guess."""
        least, most = self.guesses
        return max(most, self.steps - least)

    @cached_property
    def _spread(self) -> tuple[float, float, float]:
        """The variance of one guess: its second moment minus the squared position."""
        square, linear, constant = self.second_moment
        return float(square - 1), float(linear), float(constant)

    @cached_property
    def _spread_range(self) -> tuple[float, float]:
        square, linear, constant = self._spread
        turn = -linear / (2 * square) if square else 0.0
        at = [0.0, float(self.steps), min(max(turn, 0.0), float(self.steps))]
        values = [square * x * x + linear * x + constant for x in at]
        return max(min(values), 0.0), max(values)


class OneBitMean(GridMean[OneBit]):
    """A report is a bit that is one with probability (least + position * step) / 2**64."""

    def __init__(self, randomizer: OneBit) -> None:
        super().__init__(randomizer)
        self.steps = randomizer.steps

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        thresholds = np.uint64(self.randomizer.least) + codes.astype(np.uint64) * np.uint64(self.randomizer.step)
        return draws.chance_each(thresholds).astype(np.uint64)

    def legal(self, reports: Reports) -> Flags:
        return reports < 2

    def tally(self, reports: Reports) -> Tally:
        return np.bincount(reports.astype(np.int64), minlength=2)

    def _guess(self, bit: int) -> Fraction:
        return Fraction(bit * WORD - self.randomizer.least, self.randomizer.step)

    def sum_of_positions(self, tally: Tally) -> Fraction:
        return int(tally[0]) * self._guess(0) + int(tally[1]) * self._guess(1)

    def sum_of_squares(self, tally: Tally) -> float | None:
        return None

    @property
    def guesses(self) -> tuple[float, float]:
        return float(self._guess(0)), float(self._guess(1))

    @property
    def second_moment(self) -> Quadratic:
        zero, one = self._guess(0), self._guess(1)  # E g² = (one + zero) E g - one zero, as g is one of the two
        return Fraction(0), one + zero, -one * zero


class WindowResponse(Protocol[Window]):
    """A report is a position inside the window that starts at the person's own, or one outside it."""

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        r = self.randomizer
        inside = draws.chance(r.keep, codes.size)
        in_window = codes + draws.below(r.width, codes.size)
        out_of_window = draws.below(r.steps, codes.size)
        out_of_window += r.width * (out_of_window >= codes)
        return np.where(inside, in_window, out_of_window).astype(np.uint64)

    def legal(self, reports: Reports) -> Flags:
        return reports < self.randomizer.outputs

    def tally(self, reports: Reports) -> Tally:
        return np.bincount(reports.astype(np.int64), minlength=self.randomizer.outputs)


class PiecewiseMean(WindowResponse, GridMean[Window]):
    """A guess is the reported position, rescaled: its mean is slope * position + base."""

    def __init__(self, randomizer: Window) -> None:
        super().__init__(randomizer)
        self.steps = randomizer.steps
        width, outputs = randomizer.width, randomizer.outputs
        inside = chance_of(randomizer.keep)
        outside = (1 - inside) / randomizer.steps
        # The means of y and y² over the window at position x are x + middle and x² + 2 middle x + around.
        self._middle, self._around = Fraction(width - 1, 2), Fraction((width - 1) * (2 * width - 1), 6)
        self._slope = inside - outside * width
        self._base = self._slope * self._middle + outside * Fraction(outputs * (outputs - 1), 2)
        self._base_of_squares = self._slope * self._around + outside * (outputs - 1) * outputs * Fraction(
            2 * outputs - 1, 6
        )

    def sum_of_positions(self, tally: Tally) -> Fraction:
        reported = int(np.dot(tally, np.arange(tally.size)))
        return (reported - int(tally.sum()) * self._base) / self._slope

    def sum_of_squares(self, tally: Tally) -> float | None:
        reported = float(np.dot(tally, np.arange(tally.size, dtype=np.float64) ** 2))
        known = 2 * self._slope * self._middle * self.sum_of_positions(tally) + int(tally.sum()) * self._base_of_squares
        return (reported - float(known)) / float(self._slope)

    @property
    def guesses(self) -> tuple[float, float]:
        ends = (-self._base / self._slope, (self.randomizer.outputs - 1 - self._base) / self._slope)
        return float(ends[0]), float(ends[1])

    @property
    def second_moment(self) -> Quadratic:
        slope, base = self._slope, self._base
        linear = 2 * slope * (self._middle - base)
        return 1 / slope, linear / slope**2, (self._base_of_squares - base**2) / slope**2


class HybridMean(GridMean[Hybrid]):
    """The mean of both kinds of guess together: each is unbiased, so any mixture is.

    A tally counts the bits, zeros first, then the positions.
    """

    def __init__(self, randomizer: Hybrid) -> None:
        super().__init__(randomizer)
        self.window, self.one_bit = PiecewiseMean(randomizer.window), OneBitMean(randomizer.one_bit)
        self.steps = randomizer.window.steps

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        by_window = draws.chance(self.randomizer.share, codes.size)
        positions = self.window.encode(codes, draws, slots=slots) | np.uint64(1 << self.randomizer.window.bits)
        return np.where(by_window, positions, self.one_bit.encode(codes, draws, slots=slots))

    def _split(self, reports: Reports) -> tuple[Flags, NDArray[np.uint64]]:
        """Return whether each report is from the window, and the reported value."""
        bits = self.randomizer.window.bits
        return reports >> np.uint64(bits) == 1, reports & np.uint64((1 << bits) - 1)

    def legal(self, reports: Reports) -> Flags:
        """A report of a kind that the coin never selects is not legal."""
        by_window, value = self._split(reports)
        positions = by_window & (value < self.randomizer.window.outputs) & (self.randomizer.share > 0)
        return positions | ((reports < 2) & (self.randomizer.share < WORD))

    def tally(self, reports: Reports) -> Tally:
        by_window, value = self._split(reports)
        return np.bincount((value + 2 * by_window).astype(np.int64), minlength=2 + self.randomizer.window.outputs)

    def sum_of_positions(self, tally: Tally) -> Fraction:
        return self.one_bit.sum_of_positions(tally[:2]) + self.window.sum_of_positions(tally[2:])

    def sum_of_squares(self, tally: Tally) -> float | None:
        share = float(chance_of(self.randomizer.share))
        squares = self.window.sum_of_squares(tally[2:])
        return squares / share if share and squares is not None else None

    @property
    def guesses(self) -> tuple[float, float]:
        kinds = [self.window.guesses] if self.randomizer.share > 0 else []
        kinds += [self.one_bit.guesses] if self.randomizer.share < WORD else []
        return min(least for least, _ in kinds), max(most for _, most in kinds)

    @property
    def second_moment(self) -> Quadratic:
        share = chance_of(self.randomizer.share)
        pairs = zip(self.window.second_moment, self.one_bit.second_moment, strict=True)
        square, linear, constant = (share * window + (1 - share) * bit for window, bit in pairs)
        return square, linear, constant
