"""Privacy-loss distributions: the tightest account of a batch that is fixed in advance. Never a filter.

A distribution lives on the multiples of a step. It is made from a privacy profile alone, by connecting its dots:
between grid points the hockey-stick curve is convex in e^epsilon, so the straight line between two dots lies above it,
and the distribution whose curve that line is dominates the mechanism. Composition is convolution. What is cut off at the
top goes to infinity, what is cut off at the bottom is moved up: both only add loss. `docs/explanation/proofs/accounting.md`.

Citation: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022 (arXiv:2207.04380); Zhu, Dong, Wang 2022 (arXiv:2106.08567).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.hockey_stick import deltas_of, least_epsilon
from discreet.core.exact import finite, read_count, read_delta
from discreet.errors import BadInput, ScaleOutOfRange
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import Guarantee, read_epsilons, read_guarantee

_TAIL = 1e-15
"""Mass cut off at either end, each time; a transform leaves as much noise."""
_ROUNDING = 1e-16
"""By how much rounding may lower a sum of entries, for each entry of an array that was made or transformed."""
_DIRECT = 128
"""Up to this length, convolving term by term is faster than transforming, and more exact."""
_LONGEST = 1 << 22
_MOST_TIMES = 10**9


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """Chances of the privacy losses first * step, (first + 1) * step, ..., and of an infinite one."""

    step: float
    first: int
    chances: Floats
    infinite: float

    @classmethod
    def of(cls, guarantee: Guarantee, *, step: float) -> LossDistribution:
        """The distribution that connects the dots of a profile.

        Args:
            guarantee: Of a mechanism.
            step: How fine losses are told apart.
        """
        width = finite(step)
        if width is None or not 2**-40 <= width <= 1:
            raise BadInput("A step must be a number from 2**-40 to 1.", next_step="Give a step such as 1e-3.")
        step, guarantee = float(width), read_guarantee(guarantee)
        last = _last_step(guarantee, step)
        epsilons = np.arange(last + 1, dtype=np.float64) * step
        above = guarantee.deltas(epsilons)
        # Neighbours are neighbours both ways: delta(-e) = 1 - e^-e (1 - delta(e)).
        below = 1 - np.exp(-epsilons[:0:-1]) * (1 - above[:0:-1])
        deltas = np.concatenate([below, above])
        # The slope changes at each dot; in units that make the chance of the loss at the dot their difference.
        slopes = np.diff(deltas) / math.expm1(step)
        out = np.concatenate([slopes, [0.0]])
        into = np.concatenate([[deltas[0] - 1], slopes * math.exp(step)])
        chances = np.maximum(0.0, out - into)  # rounding can make a 0 negative; clipping only adds loss
        return cls(step, -last, chances, float(deltas[-1]) + _ROUNDING * chances.size)

    def __matmul__(self, other: LossDistribution) -> LossDistribution:
        """Both happened: losses add, so chances are convolved."""
        if not isinstance(other, LossDistribution) or self.step != other.step:
            raise BadInput(
                "Loss distributions on different grids cannot be composed.", next_step="Make both with one step."
            )
        shorter, length = min(self.chances.size, other.chances.size), self.chances.size + other.chances.size - 1
        if length > _LONGEST:
            raise _too_long()
        rounding = 0.0
        if shorter <= _DIRECT:
            chances = np.convolve(self.chances, other.chances)
        else:
            size = 1 << (length - 1).bit_length()
            transformed = np.fft.rfft(self.chances, size) * np.fft.rfft(other.chances, size)
            chances = np.maximum(0.0, np.fft.irfft(transformed, size)[:length])
            rounding = _ROUNDING * size
        infinite = 1 - (1 - self.infinite) * (1 - other.infinite) + rounding
        return LossDistribution(self.step, self.first + other.first, chances, infinite)._without_tails()

    def _without_tails(self) -> LossDistribution:
        bottom = int(np.searchsorted(np.cumsum(self.chances), _TAIL))
        top = self.chances.size - int(np.searchsorted(np.cumsum(self.chances[::-1]), _TAIL))
        if top <= bottom:
            return self
        kept = self.chances[bottom:top].copy()
        kept[0] += self.chances[:bottom].sum()
        infinite = self.infinite + float(self.chances[top:].sum())
        return LossDistribution(self.step, self.first + bottom, kept, infinite)

    def times(self, count: int) -> LossDistribution:
        """Composed with itself, by repeated squaring.

        Args:
            count: How often it is used.
        """
        times = read_count(count, name="count", most=_MOST_TIMES)
        if times == 1:
            return self
        half = self.times(times // 2)
        return half @ half @ self if times % 2 else half @ half

    def deltas(self, epsilons: Floats) -> Floats:
        """The hockey-stick curve, at epsilons of at least 0.

        Args:
            epsilons: A numpy array of them.
        """
        return np.minimum(1.0, deltas_of(self._losses, self.chances[::-1], read_epsilons(epsilons)) + self.infinite)

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon at `delta`; inf where more than that may be lost altogether.

        Args:
            delta: From 0 to 1.
        """
        most = float(read_delta(delta))
        if self.infinite >= most:
            return math.inf
        return least_epsilon(self._losses, self.chances[::-1], most - self.infinite)

    @property
    def _losses(self) -> Floats:
        """In falling order."""
        return (self.first + np.arange(self.chances.size, dtype=np.float64)[::-1]) * self.step


def composed(distributions: list[LossDistribution]) -> LossDistribution:
    """All of them: neighbours in pairs, then the pairs, so that short arrays meet short ones."""
    while len(distributions) > 1:
        pairs = zip(distributions[::2], distributions[1::2], strict=False)
        odd = distributions[len(distributions) // 2 * 2 :]
        distributions = [a @ b for a, b in pairs] + odd
    return distributions[0]


def _last_step(guarantee: Guarantee, step: float) -> int:
    """Up to the pure epsilon, or to where rho leaves less than 1e-18; what lies beyond counts as infinite."""
    rho = guarantee.rho
    reach = min(guarantee.pure_epsilon, rho + 2 * math.sqrt(rho * math.log(1e18)))
    last = math.ceil(reach / step * (1 - 1e-12)) + 1
    if last > _LONGEST:
        raise _too_long()
    return last


def _too_long() -> ScaleOutOfRange:
    return ScaleOutOfRange(
        "A loss this large cannot be composed at this precision.",
        next_step="Give a larger step, or add the losses up.",
    )
