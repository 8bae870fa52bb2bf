"""The Gaussian mechanism, on integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.exact import (
    Number,
    exact,
    read_count,
    read_delta,
    read_epsilon,
    read_level,
    read_sensitivity,
    rounded_up,
)
from discreet.errors import BadEpsilon
from discreet.mechanisms import curves
from discreet.mechanisms.additive.gaussian_tails import gaussian_deltas, tails_above
from discreet.mechanisms.additive.integer_addition import Integers, add, check_integers
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import Mechanism, least, positive_error, solved_for
from discreet.noise import SYSTEM_BITS, RandomBits, discrete_gaussian
from discreet.noise.gaussian_sampler import check_variance


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaussian(Mechanism):
    """Add integer noise Z with P(Z = z) proportional to exp(-z**2 / (2 variance)).

    Guarantee: zCDP with rho = sensitivity**2 / (2 variance) for an integer query, or a vector of `size` of them, whose L2 sensitivity is at most
    `sensitivity`, under the neighbours the sensitivity was computed for.
    Citation: Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), theorem 14; Sapienza slides, "Gaussian Mechanism".

    Args:
        sensitivity: How far one person can move the values: the length of the difference (L2).
        variance: Of the noise.
        size: How many numbers are released at once.
    """

    sensitivity: Number
    variance: Number
    size: int = 1

    def __post_init__(self) -> None:
        read_sensitivity(self.sensitivity)
        check_variance(self._variance)
        object.__setattr__(self, "size", read_count(self.size, name="size", least=0))

    @classmethod
    def for_rho(cls, *, sensitivity: Number, rho: Number, size: int = 1) -> Gaussian:
        """Noise for a zCDP budget.

        Args:
            sensitivity: How far one person can move the values: the length of the difference (L2).
            rho: The zCDP that may be spent.
            size: How many numbers are released at once.
        """
        wide = read_sensitivity(sensitivity)
        return cls(sensitivity=sensitivity, variance=wide**2 / (2 * read_epsilon(rho, name="rho")), size=size)

    @classmethod
    def for_loss(cls, *, sensitivity: Number, epsilon: Number, delta: Number, size: int = 1) -> Gaussian:
        """The least noise for (epsilon, delta): by the exact discrete sum for one number, by rho for vectors.

        Args:
            sensitivity: How far one person can move the values: the length of the difference (L2).
            epsilon: How much may be learned about a person; smaller is more private.
            delta: The chance that is set aside, such as 1e-6.
            size: How many numbers are released at once.
        """
        at, most = float(read_epsilon(epsilon)), float(read_delta(delta))
        wide = read_sensitivity(sensitivity)

        def private_enough(sigma_per_sensitivity: float) -> bool:
            return cls._with_sigma(wide, sigma_per_sensitivity, size).profile(at) <= most

        return cls._with_sigma(wide, least(private_enough), size)

    @classmethod
    def classical(cls, *, sensitivity: Number, epsilon: Number, delta: Number, size: int = 1) -> Gaussian:
        """The lectures' sigma = sensitivity * sqrt(2 ln(1.25/delta)) / epsilon, proved for epsilon < 1 only.

        Here for comparison: `for_loss` needs less noise for the same guarantee.

        Args:
            sensitivity: How far one person can move the values: the length of the difference (L2).
            epsilon: How much may be learned about a person; smaller is more private. Below 1.
            delta: The chance that is set aside, such as 1e-6.
            size: How many numbers are released at once.
        """
        loss, chance = read_epsilon(epsilon), read_delta(delta)
        if loss >= 1:
            raise BadEpsilon(
                "The classical Gaussian formula is proved for epsilon below 1 only.",
                next_step="Use Gaussian.for_loss, which is exact for every epsilon.",
            )
        factor = math.nextafter(math.sqrt(2 * math.log(1.25 / float(chance))), math.inf)
        return cls._with_sigma(read_sensitivity(sensitivity), Fraction(factor) / loss, size)

    @classmethod
    def _with_sigma(cls, sensitivity: Fraction, sigma_per_sensitivity: float | Fraction, size: int) -> Gaussian:
        return cls(sensitivity=sensitivity, variance=(sensitivity * Fraction(sigma_per_sensitivity)) ** 2, size=size)

    @property
    def _variance(self) -> Fraction:
        return exact(self.variance)

    @property
    def sigma(self) -> float:
        """About the standard deviation; the discrete one is a hair smaller."""
        return math.sqrt(self._variance)

    @property
    def pure_epsilon(self) -> float:
        """None: two Gaussians' ratio has no bound."""
        return math.inf

    @property
    def rho(self) -> float:
        return rounded_up(self.exact_rho)

    @property
    def exact_rho(self) -> Fraction:
        return exact(self.sensitivity) ** 2 / (2 * self._variance)

    def _renyi(self, order: float) -> float:
        return math.nextafter(order * self.rho, math.inf)

    def _deltas(self, epsilons: Floats) -> Floats:
        """For one number the exact sum over the discrete distribution; for vectors the bound that rho gives."""
        if self.size > 1:
            return curves.zcdp_deltas(self.rho, epsilons)
        shift = max(1, math.floor(exact(self.sensitivity)))  # integers that differ by at most 1.5 differ by 1
        return gaussian_deltas(shift, float(self._variance), epsilons)

    def release(self, exact: Integers, bits: RandomBits = SYSTEM_BITS) -> Integers:
        check_integers(exact, size=self.size)
        return add(exact, discrete_gaussian(self._variance, self.size, bits))

    def error(self, confidence: Number) -> int:
        """The least w with P(|Z| > w) at most 1 - confidence, number by number."""
        beta = float(1 - read_level(confidence))
        variance = float(self._variance)
        low, high = -1, math.ceil(40 * math.sqrt(variance)) + 40
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (low, middle) if 2 * tails_above(np.array([middle + 1.0]), variance).high[0] <= beta else (middle, high)
            )
        return high

    @solved_for("variance")
    def rho_for(cls: Any, *, error: Number, confidence: Number, **parameters: Any) -> float:  # noqa: N805
        """The least rho whose error at `confidence` is at most `error`.

        Args:
            error: How far off an answer may be.
            confidence: In which share of all releases it is no further off.
            **parameters: The mechanism's own.
        """
        wanted = positive_error(error)
        return least(lambda rho: cls.for_rho(rho=rho, **parameters).error(confidence) <= wanted)

    @solved_for("variance")
    def epsilon_for(cls: Any, *, error: Number, confidence: Number, delta: Number, **parameters: Any) -> float:  # noqa: N805
        """The epsilon at `delta` of the least noise whose error at `confidence` is at most `error`.

        Args:
            error: How far off an answer may be.
            confidence: In which share of all releases it is no further off.
            delta: The chance that is set aside, such as 1e-6.
            **parameters: The mechanism's own.
        """
        rho = cls.rho_for(error=error, confidence=confidence, **parameters)
        return float(cls.for_rho(rho=rho, **parameters).epsilon_at(float(read_delta(delta))))
