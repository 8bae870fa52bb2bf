"""Budgets that are spent along the way: what fits is drawn, what does not is refused before."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.exact import UNIT, exact
from discreet.errors import BadData, BadInput, BudgetExceeded
from discreet.ledger.charges.release_json import mechanism_from_json, mechanism_to_json
from discreet.mechanisms import (
    AboveThreshold,
    Adaptive,
    Exponential,
    Gaussian,
    Laplace,
    PartitionSelection,
    PureAdaptive,
)
from discreet.mechanisms.adaptive_budget import Meter
from tests.support.sources import SeededBits, UntouchableBits


@pytest.mark.parametrize("rho", [0.00075, 0.014973, 0.015, 1e-9, 3, Fraction(1, 3)])
@pytest.mark.parametrize("weights", [[1] * 20, [n ** (2 / 3) for n in range(1, 101)], [1e-6, 1, 1e6]])
def test_shares_of_a_budget_always_fit_it_and_leave_next_to_nothing(rho, weights):
    budget = Adaptive(rho=rho)
    meter = Meter(budget, SeededBits(0))
    for share in meter.shares(weights, of=budget.amount):
        meter.draw(Gaussian.for_rho(sensitivity=Fraction(7, 5), rho=share), 3)
    assert 0 <= meter.left <= Fraction(len(weights), UNIT)
    assert meter.spent + meter.left <= budget.amount <= exact(rho)


@pytest.mark.parametrize("budget", [Adaptive(rho=0.3), PureAdaptive(epsilon=0.3)], ids=["rho", "epsilon"])
def test_what_is_left_can_be_spent_to_the_last_unit_and_not_beyond(budget):
    meter = Meter(budget, SeededBits(0))
    epsilon = budget.epsilon_of_choice(meter.left / 3)
    meter.draw(Exponential(sensitivity=1, epsilon=epsilon, size=1), np.zeros(1, np.int64))
    last = (
        Gaussian.for_rho(sensitivity=1, rho=meter.left)
        if isinstance(budget, Adaptive)
        else Laplace(sensitivity=1, epsilon=meter.left)
    )
    meter.draw(last, 0)
    assert meter.left == 0
    with pytest.raises(BudgetExceeded):
        meter.pay(Laplace(sensitivity=1, epsilon=1e-9))


@pytest.mark.parametrize("share", [Fraction(1, 1000), Fraction(1, 3), Fraction(7, 10**9)])
def test_a_choice_costs_at_most_its_share(share):
    epsilon = Adaptive(rho=1).epsilon_of_choice(share)
    cost = Exponential(sensitivity=1, epsilon=epsilon, size=2).exact_rho
    assert share * (1 - Fraction(1, 10**9)) < cost <= share


def test_what_does_not_fit_is_refused_before_anything_is_drawn():
    meter = Meter(Adaptive(rho=0.1), UntouchableBits())
    with pytest.raises(BudgetExceeded):
        meter.draw(Gaussian.for_rho(sensitivity=1, rho=0.11), 0)
    assert meter.spent == 0


def test_what_cannot_be_paid_in_the_unit_is_refused_by_name():
    with pytest.raises(BadInput):
        Meter(PureAdaptive(epsilon=1)).pay(Gaussian(sensitivity=1, variance=10**9))
    for budget in (PureAdaptive(epsilon=1), Adaptive(rho=1)):
        with pytest.raises(BadInput):
            Meter(budget).pay(PartitionSelection(epsilon=0.1, delta=1e-9))
        with pytest.raises(BadData):
            budget.release(5)
        with pytest.raises(BadInput):
            Meter(budget).shares([1, 0], of=1)


def test_a_run_of_the_sparse_vector_is_paid_in_full():
    meter = Meter(Adaptive(rho=1))
    run = AboveThreshold(epsilon=0.5, sensitivity=1, threshold=10)
    meter.pay(run)
    assert meter.spent >= run.exact_rho > Fraction(1, 10)


@pytest.mark.parametrize(
    "budget", [Adaptive(rho=0.1), Adaptive(rho=Fraction(1, 3)), PureAdaptive(epsilon=Fraction(1, 3))]
)
def test_the_books_describe_a_budget_and_rebuild_it(budget):
    assert mechanism_from_json(mechanism_to_json(budget)) == budget
