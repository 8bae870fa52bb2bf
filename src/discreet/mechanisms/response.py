"""Randomized response: each person lies a little, by a known coin."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, exact, finite, read_count, read_epsilon, read_level
from discreet.errors import BadData, BadProbability
from discreet.mechanisms import curves
from discreet.mechanisms.additive.integer_addition import as_int64
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import PureMechanism, SolvedForEpsilon
from discreet.noise import SYSTEM_BITS, Probability, RandomBits, flip, uniform_below


class _Response(PureMechanism):
    """Tell the truth or, with probability `_lie`, one of the other categories, each as likely."""

    __slots__ = ()
    categories: int

    @property
    def _lie(self) -> Probability:
        raise NotImplementedError

    def _renyi(self, order: float) -> float:
        return curves.response_renyi(self.pure_epsilon, order, categories=self.categories)

    def _deltas(self, epsilons: Floats) -> Floats:
        return curves.response_deltas(self.pure_epsilon, epsilons, categories=self.categories)

    @property
    def truth_probability(self) -> float:
        return 1 - self._lie.prefix(53) / 2**53

    def release(self, exact: NDArray[np.int64], bits: RandomBits = SYSTEM_BITS) -> NDArray[np.int64]:
        """One answer for each of the given categories 0, 1, ..., categories - 1; both coins are drawn for everyone."""
        truth = as_int64(exact)
        if np.any((truth < 0) | (truth >= self.categories)):
            raise BadData("A value is not one of the categories.", next_step="Code the values as 0, 1, 2, and so on.")
        lies = flip(self._lie, truth.size, bits).reshape(truth.shape)
        step = 1 + uniform_below(self.categories - 1, truth.size, bits).reshape(truth.shape)
        return np.where(lies, (truth + step) % self.categories, truth)

    def unbiased_count(self, *, ones: int, people: int) -> float:
        """An unbiased estimate of how many of `people` are in a category that `ones` of them reported.

        Args:
            ones: How many reported the category.
            people: How many reported at all.
        """
        truth = self.truth_probability
        other = (1 - truth) / (self.categories - 1)
        reported, asked = read_count(ones, name="ones", least=0), read_count(people, name="people", least=0)
        return (reported - asked * other) / (truth - other)

    def error(self, confidence: Number) -> int:
        """0 where an answer is true often enough; otherwise any other category is possible."""
        truthful = float(read_level(confidence)) <= self.truth_probability
        return 0 if truthful else self.categories - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedResponse(_Response, SolvedForEpsilon):
    """Tell the truth with probability e^epsilon / (e^epsilon + categories - 1), else another category at random.

    Guarantee: epsilon-DP for each person's answer, with nobody to trust (local model).
    Citation: Warner 1965; Toronto slides, "Warner's mechanism"; Kairouz, Bonawitz, Ramage 2016 for k categories.

    Args:
        epsilon: How much may be learned about a person; smaller is more private.
        categories: How many answers there are to choose among; 2 for yes and no.
    """

    epsilon: Number
    categories: int = 2

    def __post_init__(self) -> None:
        read_epsilon(self.epsilon)
        object.__setattr__(self, "categories", read_count(self.categories, name="categories"))
        if not 2 <= self.categories <= 2**62:
            raise BadData("Randomized response needs 2 to 2**62 categories.", next_step="Give categories=2 for a bit.")

    @property
    def _lie(self) -> Probability:
        return Probability.logistic_minus(exact(self.epsilon), weight=self.categories - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasedCoin(_Response):
    """Tell the true bit with probability 1/2 + gamma, its opposite with 1/2 - gamma, both rational.

    Guarantee: epsilon-DP with epsilon = ln((1/2 + gamma) / (1/2 - gamma)), rounded up.
    Citation: Sapienza slides, "Randomized Response"; with gamma 1/4, the Chicago slides' two coin flips, epsilon ln 3.

    Args:
        gamma: How much more often than half of the time the truth is told; below 1/2.
    """

    gamma: Number
    epsilon: Number = field(init=False)
    categories: int = field(init=False, default=2)

    def __post_init__(self) -> None:
        gamma = finite(self.gamma)
        if gamma is None or not 2**-40 <= gamma <= Fraction(1, 2) - Fraction(1, 2**40):
            raise BadProbability(
                "gamma must be a number above 0 and below 1/2, by 2**-40 at least.",
                next_step="Give gamma=0.25 for the lecture's coin flips, less for more privacy.",
            )
        odds = math.log1p(
            float(4 * gamma / (1 - 2 * gamma))
        )  # (1/2 + gamma) / (1/2 - gamma) = 1 + 4 gamma / (1 - 2 gamma)
        object.__setattr__(self, "epsilon", odds * (1 + 2.0**-50))

    @classmethod
    def coin_flip(cls) -> BiasedCoin:
        """Flip a coin: heads, tell the truth; tails, answer by a second coin."""
        return cls(gamma=Fraction(1, 4))

    @property
    def _lie(self) -> Probability:
        return Probability.rational(Fraction(1, 2) - exact(self.gamma))
