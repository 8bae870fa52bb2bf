"""Privacy filters: whether one more release fits, when every release may depend on the answers before it.

An analyst chooses the next question after seeing the last answer, so an account cannot use theorems about fixed lists.
Each filter here is proved valid for adaptive parameters in `docs/proofs/accounting.md`. A filter sees only totals, so a
decision takes the same time however long the history is. Amounts are whole multiples of 10**-24: ten charges of 0.1 fit a
cap of 1 exactly, and an eleventh does not.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal, TypeAlias

from discreet.accounting.composition import Composed
from discreet.accounting.conversions import epsilon_of_renyi, epsilon_of_rho, renyi_of_epsilon, rho_of_epsilon
from discreet.errors import BadDelta, BadInput
from discreet.exact import Number, exact, finite, read_epsilon, rounded_up
from discreet.loss import Loss
from discreet.mechanisms import RandomizedResponse
from discreet.mechanisms.base import Guarantee

Kind: TypeAlias = Literal["hybrid", "pure", "renyi"]

UNIT = 10**24
FILTER_ORDERS = (1.5, 2, 3, 4, 6, 8, 16, 32, 64, 128)
"""Fixed when an account opens; delta is shared over them."""


def units_up(amount: Fraction) -> int:
    """In units of 10**-24, rounded up: what is spent."""
    return math.ceil(amount * UNIT)


def units_down(amount: Fraction) -> int:
    """Rounded down: what may be spent."""
    return math.floor(amount * UNIT)


@dataclass(frozen=True, slots=True)
class Charge:
    """What one question costs, or many together: sums that every kind of account can read, in units.

    `pure` is None once anything without a pure epsilon is among them.
    """

    pure: int | None = 0
    rho: int = 0
    delta: int = 0
    renyi: tuple[int, ...] = (0,) * len(FILTER_ORDERS)

    def __post_init__(self) -> None:
        whole = type(self.rho) is type(self.delta) is int and (self.pure is None or type(self.pure) is int)
        if not whole or type(self.renyi) is not tuple or any(type(amount) is not int for amount in self.renyi):
            raise BadInput("A charge is made of whole units.", next_step="Make it of mechanisms, with Charge.of.")

    @classmethod
    def of(cls, releases: Sequence[Guarantee]) -> Charge:
        """The price of releases that are made together."""
        cost = Composed.of(releases)
        pure = cost.exact_pure_epsilon
        return cls(
            pure=None if pure is None else units_up(pure),
            rho=sum(units_up(exact(part.rho)) for part in cost.parts),
            delta=units_up(exact(cost.delta)),
            renyi=tuple(units_up(exact(cost.renyi(order))) for order in FILTER_ORDERS),
        )

    def __add__(self, other: Charge) -> Charge:
        other = _read_charge(other)
        return Charge(
            pure=None if self.pure is None or other.pure is None else self.pure + other.pure,
            rho=self.rho + other.rho,
            delta=self.delta + other.delta,
            renyi=tuple(a + b for a, b in zip(self.renyi, other.renyi, strict=True)),
        )


class Filter(ABC):
    """A cap, and the rule that keeps a history of charges below it."""

    __slots__ = ()
    kind: Kind
    cap: Loss

    def allows(self, total: Charge) -> bool:
        """Whether a history with these totals is still within the cap."""
        return self._allows(_read_charge(total))

    def spent(self, total: Charge) -> Loss:
        """What people are told was spent: the smallest loss at the cap's delta that covers the history."""
        return self._spent(_read_charge(total))

    @abstractmethod
    def _allows(self, total: Charge) -> bool:
        """The same, of what was read."""

    @abstractmethod
    def _spent(self, total: Charge) -> Loss:
        """The same, of what was read."""


def _read_charge(value: object) -> Charge:
    if not isinstance(value, Charge):
        raise BadInput("A Charge is needed here.", next_step="Make one with Charge.of([mechanism]).")
    return value


@dataclass(frozen=True, slots=True)
class PureFilter(Filter):
    """The sum of pure epsilons stays within the cap; nothing else is let in. The cap's delta is 0.

    Citation: Rogers, Roth, Ullman, Vadhan 2016 (arXiv:1605.08294): basic composition is a valid filter.
    """

    cap: Loss
    kind: Kind = "pure"

    def _allows(self, total: Charge) -> bool:
        return total.delta == 0 and total.pure is not None and total.pure <= units_down(exact(self.cap.epsilon))

    def _spent(self, total: Charge) -> Loss:
        return Loss(rounded_up(Fraction(total.pure or 0, UNIT)))


@dataclass(frozen=True, slots=True)
class HybridFilter(Filter):
    """Either the pure epsilons or the rhos stay within the cap; half of delta is for converting rho, half for selections.

    Valid without further delta: histories that end while the pure sum holds lose at most epsilon; on all others it makes
    the decisions of the zCDP filter (`docs/proofs/accounting.md`).
    Citation: Feldman, Zrnic 2021 (arXiv:2008.11193) and Whitehouse et al. 2023 (arXiv:2203.05481) for the zCDP filter.
    """

    cap: Loss
    kind: Kind = "hybrid"

    @property
    def delta_for_conversion(self) -> float:
        return self.cap.delta / 2

    @property
    def delta_for_selection(self) -> Fraction:
        return exact(self.cap.delta) / 2

    @property
    def rho_cap(self) -> float:
        return _rho_cap(self.cap.epsilon, self.delta_for_conversion)

    def _allows(self, total: Charge) -> bool:
        if total.delta > units_down(self.delta_for_selection):
            return False
        by_pure = total.pure is not None and total.pure <= units_down(exact(self.cap.epsilon))
        return by_pure or total.rho <= units_down(exact(self.rho_cap))

    def _spent(self, total: Charge) -> Loss:
        by_rho = epsilon_of_rho(float(Fraction(total.rho, UNIT)), delta=self.delta_for_conversion)
        by_pure = math.inf if total.pure is None else rounded_up(Fraction(total.pure, UNIT))
        aside = rounded_up(Fraction(total.delta, UNIT))
        return Loss(by_pure, aside) if by_pure <= by_rho else Loss(by_rho, aside + self.delta_for_conversion)


@dataclass(frozen=True, slots=True)
class RenyiFilter(Filter):
    """At least one of a few fixed orders stays within what the cap allows it; half of delta is shared over the orders.

    Shared, because which order binds in the end may depend on the answers. The other half is for selections.
    Citation: Feldman, Zrnic 2021 (arXiv:2008.11193), the Rényi filter for one order; a union bound over the orders.
    """

    cap: Loss
    kind: Kind = "renyi"

    @property
    def delta_for_order(self) -> float:
        return self.cap.delta / 2 / len(FILTER_ORDERS)

    def _allows(self, total: Charge) -> bool:
        if total.delta > units_down(exact(self.cap.delta) / 2):
            return False
        caps = _renyi_caps(self.cap.epsilon, self.delta_for_order)
        return any(spent <= cap for spent, cap in zip(total.renyi, caps, strict=True))

    def _spent(self, total: Charge) -> Loss:
        if not any(total.renyi):
            return Loss(0.0, rounded_up(Fraction(total.delta, UNIT)))
        epsilon = min(
            epsilon_of_renyi(float(Fraction(amount, UNIT)), order=order, delta=self.delta_for_order)
            for order, amount in zip(FILTER_ORDERS, total.renyi, strict=True)
        )
        return Loss(epsilon, rounded_up(Fraction(total.delta, UNIT) + exact(self.cap.delta) / 2))


def largest_pure_epsilon(account: Filter, total: Charge) -> float:
    """The largest pure epsilon that would still be granted, rounded down to four digits of the cap."""
    low, high = 0.0, account.cap.epsilon
    while high - low > 1e-4 * account.cap.epsilon:
        middle = (low + high) / 2
        fits = account.allows(total + Charge.of([RandomizedResponse(epsilon=middle)]))
        low, high = (middle, high) if fits else (low, middle)
    return (
        account.cap.epsilon
        if account.allows(total + Charge.of([RandomizedResponse(epsilon=account.cap.epsilon)]))
        else low
    )


@cache
def _rho_cap(epsilon: float, delta: float) -> float:
    return rho_of_epsilon(epsilon, delta=delta)


@cache
def _renyi_caps(epsilon: float, delta: float) -> tuple[int, ...]:
    return tuple(units_down(exact(renyi_of_epsilon(epsilon, order=order, delta=delta))) for order in FILTER_ORDERS)


def open_filter(epsilon: Number, delta: Number = 0.0, *, kind: Kind | None = None) -> Filter:
    """The account of a cap: pure where delta is 0, otherwise hybrid unless asked for Rényi."""
    chance = finite(delta)
    if chance is None or not 0 <= chance < 1:
        raise BadDelta(
            "The delta of a cap must be at least 0 and below 1.", next_step="Give 0, or a number such as 1e-6."
        )
    cap = Loss(rounded_up(read_epsilon(epsilon)), rounded_up(chance))
    if kind is None:
        kind = "pure" if chance == 0 else "hybrid"
    if not isinstance(kind, str) or kind not in ("pure", "hybrid", "renyi") or (kind == "pure") != (chance == 0):
        raise BadInput(
            "A cap with delta 0 is pure; one with a delta is hybrid or renyi.",
            next_step="Leave the kind out, or change the delta.",
        )
    kinds: dict[Kind, Callable[[Loss], Filter]] = {"pure": PureFilter, "hybrid": HybridFilter, "renyi": RenyiFilter}
    return kinds[kind](cap)
