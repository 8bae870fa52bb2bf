"""Private choices as rules of a game: the reports determine the probability of each outcome.

A rule's `law` is exact up to floating-point rounding and is for the analysis of a game. `choose` samples exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, exact, read_level
from discreet.core.loss import Neighbours
from discreet.errors import BadInput
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.noise import SYSTEM_BITS, RandomBits, bernoulli, uniform_below

Floats = NDArray[np.float64]
Reports = Sequence[Any]


class Rule(Protocol):
    """A rule of a game: the distribution of outcomes, its sensitivity to one report, and exact sampling."""

    @property
    def replacement_epsilon(self) -> Fraction:
        """Epsilon under replacement: changing one report changes each probability by at most a factor of e to this."""

    def law(self, reports: Reports) -> Floats:
        """Return the probability of each outcome.

        Args:
            reports: The reports of all people, in order.
        """

    def choose(self, reports: Reports, bits: RandomBits = SYSTEM_BITS) -> int:
        """Draw the index of an outcome, with its exact probability.

        Args:
            reports: The reports of all people.
            bits: The source of randomness; the system's unless a test replaces it.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of several outcomes, chosen privately by scores computed from the reports.

    Args:
        mechanism: The exponential mechanism or permute-and-flip, with the sensitivity of the scores.
        scores: The function from all reports to an integer score for each outcome.
        neighbours: The relation to which the sensitivity refers. A lie replaces a report: two steps under add-remove.
        ordered: Whether replacing a report moves all scores in the same direction, as a valuation does. Then a lie is
            one step.
    """

    mechanism: Exponential | PermuteAndFlip
    scores: Callable[[Reports], NDArray[np.int64]]
    neighbours: Neighbours
    ordered: bool = False

    def __post_init__(self) -> None:
        if self.neighbours is Neighbours.REPLACE_ONE and self.mechanism.monotone and not self.ordered:
            raise BadInput(
                "Scores are monotone if a person is added, but not if one is replaced.",
                next_step="Create the mechanism without monotone=True.",
            )

    @property
    def replacement_epsilon(self) -> Fraction:
        """Epsilon, or twice epsilon if epsilon refers to adding or removing a person."""
        one_step = self.neighbours is Neighbours.REPLACE_ONE or self.ordered
        return exact(self.mechanism.epsilon) * (1 if one_step else 2)

    def law(self, reports: Reports) -> Floats:
        """Return the probability of each outcome.

        Args:
            reports: The reports of all people.
        """
        scores = self.scores(reports)
        coins = np.exp((scores - scores.max()).astype(np.float64) * float(self.mechanism.rate))
        if isinstance(self.mechanism, Exponential):
            return coins / coins.sum()
        return _permute_and_flip(coins)

    def choose(self, reports: Reports, bits: RandomBits = SYSTEM_BITS) -> int:
        """Draw the index of an outcome, with its exact probability.

        Args:
            reports: The reports of all people.
            bits: The source of randomness; the system's unless a test replaces it.
        """
        return self.mechanism.release(self.scores(reports), bits)


@lru_cache(maxsize=64)
def _gauss(points: int) -> tuple[Floats, Floats]:
    at, weights = np.polynomial.legendre.leggauss(points)
    return at, weights


def _permute_and_flip(coins: Floats) -> Floats:
    """Return P(i) = coin_i times the integral over t from 0 to 1 of the product of 1 - t coin_j for j other than i.

    The integrand is a polynomial, so Gauss-Legendre quadrature is exact.
    """
    points, weights = _gauss(coins.size // 2 + 1)
    tails = 1 - np.outer((points + 1) / 2, coins)
    law = [coin * (weights / 2 * np.delete(tails, i, axis=1).prod(axis=1)).sum() for i, coin in enumerate(coins)]
    return np.array(law)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lottery:
    """All outcomes are equally likely, for any reports.

    Args:
        outcomes: The number of outcomes.
    """

    outcomes: int

    @property
    def replacement_epsilon(self) -> Fraction:
        """Zero, since reports do not matter."""
        return Fraction(0)

    def law(self, reports: Reports) -> Floats:
        """Return equal probabilities.

        Args:
            reports: Ignored.
        """
        del reports
        return np.full(self.outcomes, 1 / self.outcomes)

    def choose(self, reports: Reports, bits: RandomBits = SYSTEM_BITS) -> int:
        """Draw the index of an outcome, with its exact probability.

        Args:
            reports: Ignored.
            bits: The source of randomness; the system's unless a test replaces it.
        """
        del reports
        return int(uniform_below(self.outcomes, 1, bits)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """A rule that is replaced by another one with a fixed probability; the coin flip is secret.

    Args:
        rule: The main rule.
        other: The rule that replaces it.
        share: The probability of the other rule.
    """

    rule: Rule
    other: Rule
    share: Number

    def __post_init__(self) -> None:
        read_level(self.share, name="share")

    @property
    def replacement_epsilon(self) -> Fraction:
        """The larger epsilon of both rules."""
        return max(self.rule.replacement_epsilon, self.other.replacement_epsilon)

    def law(self, reports: Reports) -> Floats:
        """Return the probability of each outcome.

        Args:
            reports: The reports of all people.
        """
        share = float(self.share)
        return (1 - share) * self.rule.law(reports) + share * self.other.law(reports)

    def choose(self, reports: Reports, bits: RandomBits = SYSTEM_BITS) -> int:
        """Draw the index of an outcome, with its exact probability.

        Args:
            reports: The reports of all people.
            bits: The source of randomness; the system's unless a test replaces it.
        """
        by_other = bool(bernoulli(exact(self.share), 1, bits)[0])
        return (self.other if by_other else self.rule).choose(reports, bits)
