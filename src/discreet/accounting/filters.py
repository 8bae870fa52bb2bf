"""Privacy filters: whether one more release fits, when every release may depend on the answers before it.

An analyst chooses the next query after seeing the last answer, so an account cannot use theorems about fixed lists.
Each filter here is proved valid for adaptive parameters in `docs/explanation/proofs/accounting.md`. A filter sees only totals, so a
decision takes the same time however long the history is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from discreet.accounting.charge_units import FILTER_ORDERS, Charge, read_charge
from discreet.accounting.conversions import (
    delta_of_rho,
    epsilon_of_renyi,
    epsilon_of_rho,
    renyi_of_epsilon,
    rho_of_epsilon,
)
from discreet.accounting.periods import Period, read_period
from discreet.core.exact import UNIT, Number, exact, finite, read_epsilon, rounded_up, units_down
from discreet.core.loss import Loss
from discreet.errors import BadDelta, BadInput
from discreet.mechanisms.mechanism import Guarantee
from discreet.mechanisms.response import RandomizedResponse

Kind: TypeAlias = Literal["hybrid", "pure", "renyi"]


class Filter(ABC):
    """A cap, and the rule that keeps a history of charges below it.

    The history is everything, or what was charged within one period where the cap renews: who keeps the account sees to that.
    """

    __slots__ = ()
    kind: Kind
    cap: Loss
    renews: Period | None

    def price(self, releases: Sequence[Guarantee]) -> Charge:
        """What releases that are made together cost here; no more is worked out than this kind of account reads.

        Args:
            releases: The mechanisms.
        """
        return Charge.of(releases)

    def kept(self, total: Charge) -> Charge:
        """What this kind of account keeps of a total.

        Args:
            total: Of all charges.
        """
        return total if total.renyi is None else replace(total, renyi=None)

    def allows(self, total: Charge) -> bool:
        """Whether a history with these totals is still within the cap.

        Args:
            total: Of all charges, with the one that is asked for.
        """
        return self._allows(read_charge(total))

    def spent(self, total: Charge) -> Loss:
        """What people are told was spent: the smallest loss at the cap's delta that covers the history.

        Args:
            total: Of all charges.
        """
        return self._spent(read_charge(total))

    @abstractmethod
    def _allows(self, total: Charge) -> bool:
        """The same, of what was read."""

    @abstractmethod
    def _spent(self, total: Charge) -> Loss:
        """The same, of what was read."""


@dataclass(frozen=True, slots=True)
class PureFilter(Filter):
    """The sum of pure epsilons stays within the cap; nothing else is let in. The cap's delta is 0.

    Citation: Rogers, Roth, Ullman, Vadhan 2016 (arXiv:1605.08294): basic composition is a valid filter.
    """

    cap: Loss
    kind: Kind = "pure"
    renews: Period | None = None

    def _allows(self, total: Charge) -> bool:
        return total.delta == 0 and total.pure is not None and total.pure <= _pure_cap(self.cap)

    def _spent(self, total: Charge) -> Loss:
        return Loss(rounded_up(Fraction(total.pure or 0, UNIT)))


@dataclass(frozen=True, slots=True)
class HybridFilter(Filter):
    """Either the pure epsilons or the rhos stay within the cap; half of delta is for converting rho, half for selections.

    Valid without further delta: histories that end while the pure sum holds lose at most epsilon; on all others it makes
    the decisions of the zCDP filter (`docs/explanation/proofs/accounting.md`).
    Citation: Feldman, Zrnic 2021 (arXiv:2008.11193) and Whitehouse et al. 2023 (arXiv:2203.05481) for the zCDP filter.
    """

    cap: Loss
    kind: Kind = "hybrid"
    renews: Period | None = None

    @property
    def delta_for_conversion(self) -> float:
        return self.cap.delta / 2

    @property
    def rho_cap(self) -> float:
        """The rho that converts to the cap."""
        return _largest_rho(self.cap.epsilon, self.delta_for_conversion)

    def _allows(self, total: Charge) -> bool:
        if total.delta > _delta_cap(self.cap):
            return False
        by_pure = total.pure is not None and total.pure <= _pure_cap(self.cap)
        return by_pure or total.rho <= _rho_cap(self.cap)

    def _spent(self, total: Charge) -> Loss:
        rho = float(Fraction(total.rho, UNIT))
        by_pure = math.inf if total.pure is None else rounded_up(Fraction(total.pure, UNIT))
        aside = rounded_up(Fraction(total.delta, UNIT))
        if by_pure < math.inf and delta_of_rho(rho, epsilon=by_pure) > self.delta_for_conversion:
            return Loss(by_pure, aside)  # rho converts to more: so the slow search for how much is not needed
        by_rho = epsilon_of_rho(rho, delta=self.delta_for_conversion)
        return Loss(by_pure, aside) if by_pure <= by_rho else Loss(by_rho, aside + self.delta_for_conversion)


@dataclass(frozen=True, slots=True)
class RenyiFilter(Filter):
    """At least one of a few fixed orders stays within what the cap allows it; half of delta is shared over the orders.

    Shared, because which order binds in the end may depend on the answers. The other half is for selections.
    Citation: Feldman, Zrnic 2021 (arXiv:2008.11193), the Rényi filter for one order; a union bound over the orders.
    """

    cap: Loss
    kind: Kind = "renyi"
    renews: Period | None = None

    @property
    def delta_for_order(self) -> float:
        return self.cap.delta / 2 / len(FILTER_ORDERS)

    def price(self, releases: Sequence[Guarantee]) -> Charge:
        return Charge.with_orders(releases)

    def kept(self, total: Charge) -> Charge:
        return total

    def _allows(self, total: Charge) -> bool:
        if total.delta > _delta_cap(self.cap):
            return False
        caps = _renyi_caps(self.cap)
        return any(spent <= cap for spent, cap in zip(total.orders, caps, strict=True))

    def _spent(self, total: Charge) -> Loss:
        if not any(total.orders):
            return Loss(0.0, rounded_up(Fraction(total.delta, UNIT)))
        epsilon = min(
            epsilon_of_renyi(float(Fraction(amount, UNIT)), order=order, delta=self.delta_for_order)
            for order, amount in zip(FILTER_ORDERS, total.orders, strict=True)
        )
        return Loss(epsilon, rounded_up(Fraction(total.delta, UNIT) + exact(self.cap.delta) / 2))


def largest_pure_epsilon(account: Filter, total: Charge) -> float:
    """The largest pure epsilon that would still be granted, rounded down to four digits of the cap."""
    low, high = 0.0, account.cap.epsilon
    while high - low > 1e-4 * account.cap.epsilon:
        middle = (low + high) / 2
        fits = account.allows(total + account.price([RandomizedResponse(epsilon=middle)]))
        low, high = (middle, high) if fits else (low, middle)
    return (
        account.cap.epsilon
        if account.allows(total + account.price([RandomizedResponse(epsilon=account.cap.epsilon)]))
        else low
    )


@lru_cache(maxsize=4096)
def _pure_cap(cap: Loss) -> int:
    return units_down(exact(cap.epsilon))


@lru_cache(maxsize=4096)
def _delta_cap(cap: Loss) -> int:
    """The half of delta that selections may use."""
    return units_down(exact(cap.delta) / 2)


@lru_cache(maxsize=4096)
def _largest_rho(epsilon: float, delta: float) -> float:
    return rho_of_epsilon(epsilon, delta=delta)


@lru_cache(maxsize=4096)
def _rho_cap(cap: Loss) -> int:
    return units_down(exact(HybridFilter(cap).rho_cap))


@lru_cache(maxsize=4096)
def _renyi_caps(cap: Loss) -> tuple[int, ...]:
    delta = RenyiFilter(cap).delta_for_order
    return tuple(units_down(exact(renyi_of_epsilon(cap.epsilon, order=order, delta=delta))) for order in FILTER_ORDERS)


def open_filter(
    epsilon: Number, delta: Number = 0.0, *, kind: Kind | None = None, renews: Period | str | None = None
) -> Filter:
    """The account of a cap: pure where delta is 0, otherwise hybrid unless asked for Rényi.

    Args:
        epsilon: All that may be spent.
        delta: Beside it; 0 for pure epsilons.
        kind: "pure", "hybrid" or "renyi"; follows from delta if left out.
        renews: "daily", "weekly", "monthly", "quarterly" or "yearly" for a ledger that allows so much in each period; left out, in all.
    """
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
    kinds: dict[Kind, Callable[..., Filter]] = {"pure": PureFilter, "hybrid": HybridFilter, "renyi": RenyiFilter}
    return kinds[kind](cap, renews=read_period(renews))
