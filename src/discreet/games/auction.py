"""A seller with as many copies as there are buyers: the price that brings the most, chosen privately."""

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
    """Choose a price by the revenue it would bring, with the exponential mechanism. Who values the good at the price or more buys.

    A buyer more raises all revenues or leaves them, and so does one who offers more: they move one way, and half the noise
    is enough (`docs/explanation/proofs/choice.md`), whether buyers come, go, or change their offers.

    Args:
        prices: What may be asked, public.
        epsilon: How much may be learned about a buyer; smaller is more private. There is no default.
        monotone: Whether to use that revenues move one way; without, it is the lecture's mechanism.
    """

    prices: tuple[Number, ...]
    epsilon: Number
    monotone: bool = True

    def __post_init__(self) -> None:
        read_epsilon(self.epsilon)
        read_flag(self.monotone, name="monotone")
        asked = [finite(price) for price in self.prices]
        if not asked or any(price is None or price <= 0 for price in asked):
            raise BadInput("Prices are positive numbers.", next_step="Give a list such as prices=[0.5, 1, 2].")
        object.__setattr__(self, "prices", tuple(sorted({price for price in asked if price is not None})))
        if self._units()[-1] >= 1 << 31:
            raise BadInput("Prices have too many digits.", next_step="Take multiples of a coarser step.")

    @classmethod
    def for_people(cls, people: int, *, highest: Number, epsilon: Number, monotone: bool = True) -> Self:
        """With evenly spaced prices, as many as are worth telling apart: one step is lost in the noise.

        Args:
            people: About how many buyers there are, public.
            highest: The highest price.
            epsilon: How much may be learned about a buyer.
            monotone: Whether to use that revenues move one way.
        """
        n = read_count(people, name="people")
        steps = max(1, min(1 << 20, math.floor(n * read_epsilon(epsilon) / math.log(max(n, 3)))))
        top = exact(highest)
        prices = tuple(top * k / steps for k in range(1, steps + 1))
        return cls(prices=prices, epsilon=epsilon, monotone=monotone)

    @property
    def mechanism(self) -> Exponential:
        """What is charged and drawn: among revenues in units of which every price is a whole number."""
        units = self._units()
        return Exponential(sensitivity=units[-1], epsilon=self.epsilon, size=len(units), monotone=self.monotone)

    @property
    def choice(self) -> Choice:
        """The auction as a rule of a game; outcomes are the places of prices in their list."""
        return Choice(
            mechanism=self.mechanism,
            scores=self._revenues,
            neighbours=Neighbours.REPLACE_ONE,
            ordered=True,
        )

    def price(self, valuations: object, *, account: Account | None = None) -> Fraction:
        """The price.

        Args:
            valuations: What the good is worth to each buyer: a list, an array or a column. Who has no number buys nothing.
            account: What pays for it; nothing is drawn unless it does.
        """
        mechanism, revenues = self.mechanism, self._revenues(valuations)
        if account is not None:
            account.charge([mechanism])
        return exact(self.prices[mechanism.release(revenues, _bits)])

    def revenue_lost(self, confidence: Number) -> float:
        """The price brings at most this much less than the best of the list, in `confidence` of all auctions.

        Args:
            confidence: In which share, such as 0.95.
        """
        return float(self.mechanism.error(confidence) * self._unit)

    def revenues(self, valuations: object) -> list[Fraction]:
        """What each price would bring: exact, for whoever may see it; never released.

        Args:
            valuations: What the good is worth to each buyer.
        """
        return [int(units) * self._unit for units in self._revenues(valuations)]

    def expected_revenue(self, valuations: Reports) -> float:
        """What the chosen price brings on average: exact, for whoever studies the auction; never released.

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
        """Price times buyers, in units."""
        given = read_numbers(valuations, Fraction(0), exact(self.prices[-1])).given
        at_least = np.searchsorted(np.sort(given.astype(np.float64)), np.array([float(p) for p in self.prices]))
        return np.array(self._units(), np.int64) * (given.size - at_least)


@lru_cache(maxsize=64)
def _in_units(prices: tuple[Number, ...]) -> tuple[Fraction, tuple[int, ...]]:
    """A unit of which every price is a whole number, and those numbers."""
    exactly = [exact(price) for price in prices]
    common = math.lcm(*(price.denominator for price in exactly))
    return Fraction(1, common), tuple(price.numerator * (common // price.denominator) for price in exactly)


def best_revenue(valuations: Sequence[float] | NDArray[np.float64]) -> float:
    """The most that any single price brings, of all prices there are: exact, to compare with.

    Args:
        valuations: What the good is worth to each buyer.
    """
    falling = np.sort(np.asarray(valuations, np.float64))[::-1]
    return float((falling * np.arange(1, falling.size + 1)).max(initial=0.0))
