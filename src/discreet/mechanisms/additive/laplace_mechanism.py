"""The Laplace mechanism, on integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.core.exact import Number, exact, read_count, read_epsilon, read_level, read_sensitivity
from discreet.mechanisms import curves
from discreet.mechanisms.additive.integer_addition import Integers, add, check_integers
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import SolvedForEpsilon
from discreet.noise import SYSTEM_BITS, RandomBits, discrete_laplace, one_discrete_laplace
from discreet.noise.exp_bounds import exp_minus
from discreet.noise.laplace_sampler import check_scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace(SolvedForEpsilon):
    """Add integer noise Z with P(Z = z) proportional to exp(-|z| / scale), scale = sensitivity / epsilon.

    Guarantee: epsilon-DP for an integer query, or a vector of `size` of them, whose L1 sensitivity is at most
    `sensitivity`, under the neighbours the sensitivity was computed for.
    Citation: Ghosh, Roughgarden, Sundararajan 2009 (arXiv:0811.2841); Sapienza slides, "Laplace Mechanism".

    Args:
        sensitivity: How far one person can move the values: all of them together (L1).
        epsilon: How much may be learned about a person; smaller is more private.
        size: How many numbers are released at once.
    """

    sensitivity: Number
    epsilon: Number
    size: int = 1

    def __post_init__(self) -> None:
        check_scale(read_sensitivity(self.sensitivity) / read_epsilon(self.epsilon))
        object.__setattr__(self, "size", read_count(self.size, name="size", least=0))

    @property
    def scale(self) -> Fraction:
        return _scale(self.sensitivity, self.epsilon)

    @property
    def sigma(self) -> float:
        """About the standard deviation; the discrete one is a hair smaller."""
        return math.sqrt(2) * float(self.scale)

    def _renyi(self, order: float) -> float:
        """For one number the exact curve of the discrete distribution; for vectors the bound of any pure mechanism."""
        bound = curves.pure_renyi(self.pure_epsilon, order)
        return bound if self.size > 1 else min(bound, curves.laplace_renyi(self._shift, float(self.scale), order))

    def _deltas(self, epsilons: Floats) -> Floats:
        bound = curves.pure_deltas(self.pure_epsilon, epsilons)
        if self.size > 1:
            return bound
        return np.minimum(bound, curves.laplace_deltas(self._shift, float(self.scale), epsilons))

    @property
    def _shift(self) -> int:
        return max(1, math.floor(exact(self.sensitivity)))  # integers that differ by at most 1.5 differ by 1

    def release(self, exact: Integers, bits: RandomBits = SYSTEM_BITS) -> Integers:
        check_integers(exact, size=self.size)
        if isinstance(exact, int):
            return exact + one_discrete_laplace(self.scale, bits)
        return add(exact, discrete_laplace(self.scale, self.size, bits))

    def error(self, confidence: Number) -> int:
        """The least w with P(|Z| > w) = 2 q**(w+1) / (1 + q) at most 1 - confidence; exact, number by number."""
        beta = 1 - read_level(confidence)
        scale = self.scale
        guess = float(scale) * math.log(2 / float(beta) / (1 + math.exp(-1 / scale)))
        low, high = -1, max(0, math.ceil(guess * (1 + 1e-9))) + 1  # too heavy a tail at `low`, light enough at `high`
        near = math.ceil(guess * (1 - 1e-9)) - 2  # nearly always the last that is too heavy, so that one is left to try
        if near > low and not _tail_at_most(scale, near, beta):
            low = near
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _tail_at_most(scale, middle, beta) else (middle, high)
        return high


@lru_cache(maxsize=1024)
def _scale(sensitivity: Number, epsilon: Number) -> Fraction:
    return exact(sensitivity) / exact(epsilon)


@lru_cache(maxsize=256)
def _ratio(scale: Fraction, bits: int) -> tuple[int, int]:
    return exp_minus(1 / scale, bits)


def _tail_at_most(scale: Fraction, width: int, beta: Fraction) -> bool:
    """Whether P(|Z| > width) <= beta, decided in integers; undecidable only by 128 bits, and then no."""
    bits = 128 + beta.denominator.bit_length()
    _, tail = exp_minus((width + 1) / scale, bits)
    q, _ = _ratio(scale, bits)
    return 2 * tail * beta.denominator <= beta.numerator * ((1 << bits) + q)
