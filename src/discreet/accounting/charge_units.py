"""Charges: what queries cost, in whole units of 10**-24, so that sums are exact.

Ten charges of 0.1 fit a cap of 1 exactly, and an eleventh does not. Adding one up takes three additions of integers,
whatever was charged before; Rényi divergences are worked out for those accounts only that read them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.composition import Composed
from discreet.core.exact import UNIT, exact, units_up
from discreet.errors import BadInput
from discreet.mechanisms.mechanism import Guarantee, read_guarantees

FILTER_ORDERS = (1.5, 2, 3, 4, 6, 8, 16, 32, 64, 128)
"""Fixed when an account opens; delta is shared over them."""
PRICES = 2
"""The number of the list that charges are priced by."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What one query costs, or many together: sums that every kind of account can read, in units.

    `pure` is None once anything without a pure epsilon is among them. `renyi` is None where no divergence was worked out.
    """

    pure: int | None = 0
    rho: int = 0
    delta: int = 0
    renyi: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        whole = type(self.rho) is int and type(self.delta) is int and (self.pure is None or type(self.pure) is int)
        if not whole or (self.renyi is not None and not _are_orders(self.renyi)):
            raise BadInput("A charge is made of whole units.", next_step="Make it of mechanisms, with Charge.of.")

    @classmethod
    def of(cls, releases: Sequence[Guarantee]) -> Charge:
        """The price of releases that are made together.

        Args:
            releases: The mechanisms.
        """
        return _charge_of(tuple(read_guarantees(releases)))

    @classmethod
    def with_orders(cls, releases: Sequence[Guarantee]) -> Charge:
        """The same, with the Rényi divergence of each order.

        Args:
            releases: The mechanisms.
        """
        parts = Composed.of(releases).parts
        each = [_divergences(part) for part in parts]
        return replace(cls._of(parts), renyi=tuple(map(sum, zip(*each, strict=True))) if each else None)

    @classmethod
    def _of(cls, parts: Sequence[Guarantee]) -> Charge:
        pure, rho, delta = _price(parts[0]) if parts else (Fraction(0), 0, Fraction(0))
        for part in parts[1:]:
            more = _price(part)
            pure = None if pure is None or more[0] is None else pure + more[0]
            rho, delta = rho + more[1], delta + more[2]
        return cls(None if pure is None else units_up(pure), rho, units_up(delta))

    @property
    def orders(self) -> tuple[int, ...]:
        """The divergences of all orders; where they were not worked out, order * rho, which is never below them."""
        if self.renyi is not None:
            return self.renyi
        return tuple(math.ceil(Fraction(order) * self.rho) for order in FILTER_ORDERS)

    def __add__(self, other: Charge) -> Charge:
        more = read_charge(other)
        together = None
        if self.renyi is not None or more.renyi is not None:
            together = tuple(a + b for a, b in zip(self.orders, more.orders, strict=True))
        pure = None if self.pure is None or more.pure is None else self.pure + more.pure
        return Charge(pure, self.rho + more.rho, self.delta + more.delta, together)


def read_charge(value: object) -> Charge:
    """A charge, and nothing that merely looks like one."""
    if not isinstance(value, Charge):
        raise BadInput("A Charge is needed here.", next_step="Make one with Charge.of([mechanism]).")
    return value


def _are_orders(values: object) -> bool:
    return type(values) is tuple and len(values) == len(FILTER_ORDERS) and all(type(value) is int for value in values)


@lru_cache(maxsize=1 << 12)
def _charge_of(releases: tuple[Guarantee, ...]) -> Charge:
    """Once for all accounts that are charged, and for the entry that says so."""
    return Charge._of(Composed.of(releases).parts)  # noqa: SLF001  our own


@lru_cache(maxsize=1 << 14)
def _price(release: Guarantee) -> tuple[Fraction | None, int, Fraction]:
    """Pure epsilon, rho in units, and delta, of one release. Pure parts add up exactly: shares of one epsilon do."""
    return release.exact_pure_epsilon, units_up(exact(release.rho)), exact(release.delta)


@lru_cache(maxsize=1 << 14)
def _divergences(release: Guarantee) -> tuple[int, ...]:
    divergences = [release.renyi(order) for order in FILTER_ORDERS]
    if not all(map(math.isfinite, divergences)):
        raise BadInput("This costs more than any account can hold.", next_step="Ask for a smaller epsilon or rho.")
    ratios = [divergence.as_integer_ratio() for divergence in divergences]
    return tuple(-(-numerator * UNIT // denominator) for numerator, denominator in ratios)
