"""Private choices as rules of a game: what is reported decides how likely each outcome is.

A rule's `law` is exact up to the rounding of floats and is for whoever studies a game; what is played is `choose`, which draws
exactly.
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
    """What a game is played by: how likely each outcome is, how much one report can change that, and a draw."""

    @property
    def replacement_epsilon(self) -> Fraction:
        """How much one person who reports something else can change the chance of any outcome: a factor of e to this."""

    def law(self, reports: Reports) -> Floats:
        """The chance of each outcome.

        Args:
            reports: What everybody says, in the order of the people.
        """

    def choose(self, reports: Reports, bits: RandomBits = SYSTEM_BITS) -> int:
        """The index of the outcome, drawn exactly.

        Args:
            reports: What everybody says.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of several outcomes, chosen privately by scores that reports give.

    Args:
        mechanism: The exponential mechanism or permute-and-flip, with the sensitivity of the scores.
        scores: From everybody's reports to a whole number for each outcome.
        neighbours: For which relation the sensitivity is. A lie replaces a report: under add-remove that is two steps.
        ordered: Whether one report in place of another moves all scores one way, as a valuation does; then a lie is one step.
    """

    mechanism: Exponential | PermuteAndFlip
    scores: Callable[[Reports], NDArray[np.int64]]
    neighbours: Neighbours
    ordered: bool = False

    def __post_init__(self) -> None:
        if self.neighbours is Neighbours.REPLACE_ONE and self.mechanism.monotone and not self.ordered:
            raise BadInput(
                "Scores are monotone when a person comes, not when one is replaced.",
                next_step="Make the mechanism without monotone=True.",
            )

    @property
    def replacement_epsilon(self) -> Fraction:
        """Epsilon, or twice epsilon where it is the price of one who comes or goes."""
        one_step = self.neighbours is Neighbours.REPLACE_ONE or self.ordered
        return exact(self.mechanism.epsilon) * (1 if one_step else 2)

    def law(self, reports: Reports) -> Floats:
        """The chance of each outcome.

        Args:
            reports: What everybody says.
        """
        scores = self.scores(reports)
        coins = np.exp((scores - scores.max()).astype(np.float64) * float(self.mechanism.rate))
        if isinstance(self.mechanism, Exponential):
            return coins / coins.sum()
        return _permute_and_flip(coins)

    def choose(self, reports: Reports, bits: RandomBits = SYSTEM_BITS) -> int:
        """The index of the outcome, drawn exactly.

        Args:
            reports: What everybody says.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        return self.mechanism.release(self.scores(reports), bits)


@lru_cache(maxsize=64)
def _gauss(points: int) -> tuple[Floats, Floats]:
    at, weights = np.polynomial.legendre.leggauss(points)
    return at, weights


def _permute_and_flip(coins: Floats) -> Floats:
    """P(i) = coin_i times the integral over t from 0 to 1 of the product of 1 - t coin_j, j not i: a polynomial, so that Gauss's points are exact."""
    points, weights = _gauss(coins.size // 2 + 1)
    tails = 1 - np.outer((points + 1) / 2, coins)
    law = [coin * (weights / 2 * np.delete(tails, i, axis=1).prod(axis=1)).sum() for i, coin in enumerate(coins)]
    return np.array(law)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lottery:
    """Every outcome is equally likely, whatever is reported: nobody can change it.

    Args:
        outcomes: How many there are.
    """

    outcomes: int

    @property
    def replacement_epsilon(self) -> Fraction:
        """None at all."""
        return Fraction(0)

    def law(self, reports: Reports) -> Floats:
        """The same chance for each.

        Args:
            reports: Not looked at.
        """
        del reports
        return np.full(self.outcomes, 1 / self.outcomes)

    def choose(self, reports: Reports, bits: RandomBits = SYSTEM_BITS) -> int:
        """The index of the outcome, drawn exactly.

        Args:
            reports: Not looked at.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        del reports
        return int(uniform_below(self.outcomes, 1, bits)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """A rule that is replaced by another one in a share of all cases, decided by a coin that nobody sees.

    Args:
        rule: The one that is mostly used.
        other: The one that takes its place.
        share: How often.
    """

    rule: Rule
    other: Rule
    share: Number

    def __post_init__(self) -> None:
        read_level(self.share, name="share")

    @property
    def replacement_epsilon(self) -> Fraction:
        """The larger of both."""
        return max(self.rule.replacement_epsilon, self.other.replacement_epsilon)

    def law(self, reports: Reports) -> Floats:
        """The chance of each outcome.

        Args:
            reports: What everybody says.
        """
        share = float(self.share)
        return (1 - share) * self.rule.law(reports) + share * self.other.law(reports)

    def choose(self, reports: Reports, bits: RandomBits = SYSTEM_BITS) -> int:
        """The index of the outcome, drawn exactly.

        Args:
            reports: What everybody says.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        by_other = bool(bernoulli(exact(self.share), 1, bits)[0])
        return (self.other if by_other else self.rule).choose(reports, bits)
