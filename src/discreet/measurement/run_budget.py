"""The budget of a run, given as rho, as epsilon with delta, or as a pure epsilon; and the mechanisms that a share of it pays for."""

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
    """Return the budget, or refuse it. `delta` is only used to convert epsilon to rho, and is not spent.

    An account that counts pure epsilons spends an epsilon, on Laplace noise. Any other account spends a rho, on Gaussian noise.
    """
    if (rho is None) == (epsilon is None) or (rho is not None and delta is not None):
        raise BadInput(
            "Give exactly one budget.",
            next_step="Give rho, such as 0.01; or epsilon with delta, such as 1 and 1e-9; or a pure epsilon alone.",
        )
    if is_pure_account:
        if epsilon is None or delta is not None:
            raise NeedsDelta(
                "This account has no delta and counts pure epsilons only.", next_step="Give epsilon alone."
            )
        return PureAdaptive(epsilon=read_epsilon(epsilon))
    if rho is not None:
        return Adaptive(rho=float(read_epsilon(rho, name="rho")))
    if epsilon is None or delta is None:
        raise NeedsDelta(
            "This account needs a delta to convert epsilon to rho.",
            next_step="Give delta too, such as 1e-9; or give rho instead.",
        )
    return Adaptive(rho=rho_of_epsilon(float(read_epsilon(epsilon)), delta=float(read_delta(delta))))


def whole_units(share: Number) -> Fraction:
    """Return a share rounded down to whole units of the ledger."""
    return Fraction(units_down(exact(share)), UNIT)


def table_noise(budget: AdaptiveBudget, domain: Domain, columns: Columns, share: Number) -> Gaussian | Laplace:
    """Return the mechanism that measures the table over some columns for this share."""
    size, amount = domain.cells(domain.check(columns)), whole_units(share)
    if isinstance(budget, PureAdaptive):
        return Laplace(sensitivity=domain.l1, epsilon=amount, size=size)
    return Gaussian.for_rho(sensitivity=domain.l2, rho=amount, size=size)


def count_noise(budget: AdaptiveBudget, domain: Domain, share: Fraction) -> Gaussian | Laplace:
    """Return the mechanism that measures one count of rows for this share."""
    if isinstance(budget, PureAdaptive):
        return Laplace(sensitivity=domain.count, epsilon=share)
    return Gaussian.for_rho(sensitivity=domain.count, rho=share)


def watching(budget: AdaptiveBudget, domain: Domain, share: Fraction, *, threshold: int = 0) -> AboveThreshold:
    """Return the sparse vector over counts of rows for this share. It counts in steps of 1 / GRID."""
    epsilon = budget.epsilon_of_watch(share)
    return AboveThreshold(epsilon=epsilon, sensitivity=GRID * domain.count, threshold=threshold)
