"""Digital goods auction: choose a price with high revenue privately, for a good with unlimited copies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, exact, finite, read_count, read_epsilon, read_flag
from discreet.core.loss import Neighbours
from discreet.errors import BadInput
from discreet.games.private_choice import Choice, Reports
from discreet.mechanisms import Exponential
from discreet.mechanisms.statistics.bounded import Account
from discreet.mechanisms.values.value_reading import read_numbers
from discreet.noise import SYSTEM_BITS

_bits = SYSTEM_BITS


@dataclass(frozen=True, slots=True, kw_only=True)
class DigitalGoods:
    """Choose a price by its revenue with the exponential mechanism. Who values the good at the price or more buys.

    An additional buyer, or a higher valuation, never lowers a revenue. So scores are monotone and half the noise is
    enough (`docs/explanation/proofs/choice.md`), whether buyers are added, removed or change their valuations.

    Args:
        prices: The possible prices, public.
        epsilon: The privacy loss of a buyer; smaller is more private. There is no default.
        monotone: Whether to use the monotone scores; False gives the lecture's mechanism.
    """

    prices: tuple[Number, ...]
    epsilon: Number
    monotone: bool = True

    def __post_init__(self) -> None:
        read_epsilon(self.epsilon)
        read_flag(self.monotone, name="monotone")
        asked = [finite(price) for price in self.prices]
        if not asked or any(price is None or price <= 0 for price in asked):
            raise BadInput("Prices must be positive numbers.", next_step="Give a list such as prices=[0.5, 1, 2].")
        object.__setattr__(self, "prices", tuple(sorted({price for price in asked if price is not None})))
        if self._units()[-1] >= 1 << 31:
            raise BadInput("Prices have too many digits.", next_step="Use multiples of a coarser step.")

    @classmethod
    def for_people(cls, people: int, *, highest: Number, epsilon: Number, monotone: bool = True) -> Self:
        """Build an auction with evenly spaced prices, with a step that is about the size of the noise.

        Args:
            people: The approximate number of buyers, public.
            highest: The highest price.
            epsilon: The privacy loss of a buyer.
            monotone: Whether to use the monotone scores.
        """
        n = read_count(people, name="people")
        steps = max(1, min(1 << 20, math.floor(n * read_epsilon(epsilon) / math.log(max(n, 3)))))
        top = exact(highest)
        prices = tuple(top * k / steps for k in range(1, steps + 1))
        return cls(prices=prices, epsilon=epsilon, monotone=monotone)

    @property
    def mechanism(self) -> Exponential:
        """The mechanism that is charged and sampled. Its scores are revenues in units that divide every price."""
        units = self._units()
        return Exponential(sensitivity=units[-1], epsilon=self.epsilon, size=len(units), monotone=self.monotone)

    @property
    def choice(self) -> Choice:
        """The auction as a rule of a game. Outcomes are the indices of prices."""
        return Choice(
            mechanism=self.mechanism,
            scores=self._revenues,
            neighbours=Neighbours.REPLACE_ONE,
            ordered=True,
        )

    def price(self, valuations: object, *, account: Account | None = None) -> Fraction:
        """Draw the price.

        Args:
            valuations: What the good is worth to each buyer: a list, an array or a column. Entries that are not numbers
                count as buyers who buy nothing.
            account: The account to charge. Nothing is drawn if the charge is refused.
        """
        mechanism, revenues = self.mechanism, self._revenues(valuations)
        if account is not None:
            account.charge([mechanism])
        return exact(self.prices[mechanism.release(revenues, _bits)])

    def revenue_lost(self, confidence: Number) -> float:
        """Return a bound on the revenue lost compared with the best price of the list.

        Args:
            confidence: The probability that the bound holds, such as 0.95.
        """
        return float(self.mechanism.error(confidence) * self._unit)

    def revenues(self, valuations: object) -> list[Fraction]:
        """Return the exact revenue of each price. It is not private and never released.

        Args:
            valuations: What the good is worth to each buyer.
        """
        return [int(units) * self._unit for units in self._revenues(valuations)]

    def expected_revenue(self, valuations: Reports) -> float:
        """Return the exact expected revenue of the chosen price. It is not private and never released.

        Args:
            valuations: What the good is worth to each buyer.
        """
        return float(self.choice.law(valuations) @ self._revenues(valuations)) * float(self._unit)

    @property
    def _unit(self) -> Fraction:
        return _in_units(self.prices)[0]

    def _units(self) -> tuple[int, ...]:
        return _in_units(self.prices)[1]

    def _revenues(self, valuations: object) -> NDArray[np.int64]:
        """Return price times number of buyers, in units."""
        given = read_numbers(valuations, Fraction(0), exact(self.prices[-1])).given
        at_least = np.searchsorted(np.sort(given.astype(np.float64)), np.array([float(p) for p in self.prices]))
        return np.array(self._units(), np.int64) * (given.size - at_least)


@lru_cache(maxsize=64)
def _in_units(prices: tuple[Number, ...]) -> tuple[Fraction, tuple[int, ...]]:
    """Return a unit that divides every price, and the prices in this unit."""
    exactly = [exact(price) for price in prices]
    common = math.lcm(*(price.denominator for price in exactly))
    return Fraction(1, common), tuple(price.numerator * (common // price.denominator) for price in exactly)


def best_revenue(valuations: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the largest revenue of any single price: exact, for comparison; never released.

    Args:
        valuations: What the good is worth to each buyer.
    """
    falling = np.sort(np.asarray(valuations, np.float64))[::-1]
    return float((falling * np.arange(1, falling.size + 1)).max(initial=0.0))
