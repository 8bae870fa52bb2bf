"""The price of a run: one budget, named as rho, as epsilon with a delta, or as epsilon alone where only that is counted; and what a part of it buys."""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.conversions import rho_of_epsilon
from discreet.core.exact import UNIT, Number, exact, read_delta, read_epsilon, units_down
from discreet.errors import BadInput, NeedsDelta
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import GRID
from discreet.mechanisms import AboveThreshold, Adaptive, Gaussian, Laplace, PureAdaptive
from discreet.mechanisms.adaptive_budget import AdaptiveBudget


def budget_of(
    *, epsilon: Number | None, delta: Number | None, rho: Number | None, is_pure_account: bool
) -> AdaptiveBudget:
    """The budget that was named, or a refusal; `delta` only converts, and is not spent.

    On an account of pure epsilons it is an epsilon alone, spent on Laplace noise; elsewhere it is a rho, spent on Gaussian noise.
    """
    if (rho is None) == (epsilon is None) or (rho is not None and delta is not None):
        raise BadInput(
            "A run takes one price.",
            next_step="Give a rho, such as 0.01, or an epsilon with a delta, such as 1 and 1e-9; an epsilon alone if it is pure.",
        )
    if is_pure_account:
        if epsilon is None or delta is not None:
            raise NeedsDelta(
                "This account has no delta, and counts pure epsilons only.", next_step="Give epsilon alone."
            )
        return PureAdaptive(epsilon=read_epsilon(epsilon))
    if rho is not None:
        return Adaptive(rho=float(read_epsilon(rho, name="rho")))
    if epsilon is None or delta is None:
        raise NeedsDelta(
            "An epsilon needs a delta here, at which it is converted to rho.",
            next_step="Give a delta, too, such as 1e-9; or a rho.",
        )
    return Adaptive(rho=rho_of_epsilon(float(read_epsilon(epsilon)), delta=float(read_delta(delta))))


def whole_units(share: Number) -> Fraction:
    """A share as budgets count it, rounded down."""
    return Fraction(units_down(exact(share)), UNIT)


def table_noise(budget: AdaptiveBudget, domain: Domain, columns: Columns, share: Number) -> Gaussian | Laplace:
    """The mechanism that measures the table over some columns for so much."""
    size, amount = domain.cells(domain.check(columns)), whole_units(share)
    if isinstance(budget, PureAdaptive):
        return Laplace(sensitivity=domain.l1, epsilon=amount, size=size)
    return Gaussian.for_rho(sensitivity=domain.l2, rho=amount, size=size)


def count_noise(budget: AdaptiveBudget, domain: Domain, share: Fraction) -> Gaussian | Laplace:
    """The mechanism that measures one count of rows for so much."""
    if isinstance(budget, PureAdaptive):
        return Laplace(sensitivity=domain.count, epsilon=share)
    return Gaussian.for_rho(sensitivity=domain.count, rho=share)


def watching(budget: AdaptiveBudget, domain: Domain, share: Fraction, *, threshold: int = 0) -> AboveThreshold:
    """The run of the sparse vector over counts of rows that costs so much; it counts in steps of 1 / GRID."""
    epsilon = budget.epsilon_of_watch(share)
    return AboveThreshold(epsilon=epsilon, sensitivity=GRID * domain.count, threshold=threshold)
