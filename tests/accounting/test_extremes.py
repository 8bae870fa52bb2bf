"""Parameters far out: never below the truth, never a raw exception."""

import math

import pytest

from discreet import Loss, accounting
from discreet.accounting import Composed, LossDistribution
from discreet.errors import BadDelta, DiscreetError
from discreet.mechanisms import Laplace, PartitionSelection, RandomizedResponse


def test_infinite_orders_and_what_is_no_number():
    assert accounting.epsilon_of_renyi(5.0, order=math.inf, delta=1e-6) == 5.0
    for bad in (math.nan, -1.0):
        with pytest.raises(DiscreetError):
            accounting.epsilon_of_renyi(bad, order=2, delta=1e-6)
    with pytest.raises(DiscreetError):
        accounting.delta_of_rho(1, epsilon=math.nan)


def test_a_delta_that_is_smaller_than_the_losses_own_is_not_promised():
    assert accounting.optimal(Loss(0.1, 1e-17), delta=1e-20).delta >= 1e-17
    assert accounting.optimal(Loss(1, 4e-17), delta=3e-17).delta >= 4e-17


@pytest.mark.parametrize(("delta", "truth"), [(1.7e-16, 7.79634), (1e-13, 7.1609822)])
def test_optimal_composition_at_tiny_deltas(delta, truth):
    """The truth to the digits given, from multiple-precision arithmetic."""
    assert accounting.optimal(Loss(0.1), k=100, delta=delta).epsilon >= truth * (1 - 1e-6)


def test_losses_beyond_the_range_of_exp():
    assert Composed.of([RandomizedResponse(epsilon=740)]).profile(720.0) > 0.99
    assert Composed.of([RandomizedResponse(epsilon=7.4)] * 100).profile(720.0) > 0.9
    for epsilon in (744.8, 800.0):
        assert accounting.optimal(Loss(epsilon), delta=1e-6).epsilon == pytest.approx(epsilon, rel=1e-3)
    assert accounting.compose([Laplace(sensitivity=1, epsilon=5000)], delta=1e-6).epsilon == 5000
    assert accounting.subsampled(Loss(800), rate=0.1).epsilon == pytest.approx(800 + math.log(0.1))
    assert accounting.group(Loss(1), k=1000) == Loss(1000.0, 0.0)
    assert accounting.group(Loss(1, 1e-9), k=1000).delta == 1.0
    assert accounting.epsilon_of_rho(1e19, delta=1e-6) > 1e19
    assert accounting.epsilon_of_rho(1e-300, delta=1e-6) > 0


def test_distributions_on_different_grids_do_not_mix():
    a, b = (LossDistribution.of(Laplace(sensitivity=1, epsilon=1), step=step) for step in (1e-3, 1e-2))
    with pytest.raises(DiscreetError):
        a @ b
    for step in (0, -1, 1000):
        with pytest.raises(DiscreetError):
            LossDistribution.of(Laplace(sensitivity=1, epsilon=1), step=step)


def test_a_pure_target_is_not_met_by_what_sets_delta_aside():
    with pytest.raises(DiscreetError):
        accounting.calibrate(lambda e: PartitionSelection(epsilon=e, delta=1e-3), target=Loss(1.0), count=2)
    with pytest.raises(BadDelta):
        accounting.compose([PartitionSelection(epsilon=1, delta=1e-6)] * 2, delta=1e-6)


def test_too_many_different_losses_are_refused_rather_than_waited_for():
    losses = [Loss(0.1 + i * 1e-5) for i in range(2000)]
    with pytest.raises(DiscreetError, match="precision"):
        accounting.optimal(losses, delta=1e-6)


def test_the_unlikely_outcome_of_a_binary_ish_pair_is_not_lost():
    assert accounting.binary_ish(Loss(40.0)).first[2] == pytest.approx(math.exp(-40))
