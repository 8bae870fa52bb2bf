import math

import pytest
from dp_accounting.pld import privacy_loss_mechanism as oracle

from discreet.errors import BadEpsilon
from discreet.mechanisms import Gaussian, Laplace


def test_the_continuous_formula_understates_delta():
    """sigma = 3.73 at epsilon 1: 1.003e-5 by the continuous formula, 1.037e-5 really."""
    mechanism = Gaussian(sensitivity=1, variance=3.73**2)
    assert mechanism.profile(1.0) == pytest.approx(1.037e-5, rel=1e-3)


@pytest.mark.parametrize("sigma", [1, 4, 25])
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_discrete_profile_agrees_with_dp_accounting(sigma, epsilon):
    theirs = oracle.DiscreteGaussianPrivacyLoss(sigma, truncation_bound=40 * sigma).get_delta_for_epsilon(epsilon)
    ours = Gaussian(sensitivity=1, variance=sigma**2).profile(epsilon)
    assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-18)


@pytest.mark.parametrize("shift", [1, 2, 9])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.35, 1])
def test_the_laplace_profile_agrees_with_dp_accounting(shift, epsilon):
    theirs = oracle.DiscreteLaplacePrivacyLoss(0.2, sensitivity=shift).get_delta_for_epsilon(epsilon)
    ours = Laplace(sensitivity=shift, epsilon=shift / 5).profile(epsilon)
    assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.99, 3])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("sensitivity", [1, 3, 4096, 10**6])
def test_calibration_meets_delta_with_no_noise_to_spare(epsilon, delta, sensitivity):
    mechanism = Gaussian.for_loss(sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    assert mechanism.profile(epsilon) <= delta
    narrower = Gaussian(sensitivity=sensitivity, variance=mechanism.variance * 0.9999)
    assert narrower.profile(epsilon) > delta


def test_calibration_of_a_vector_meets_delta_by_rho():
    mechanism = Gaussian.for_loss(sensitivity=1, epsilon=1, delta=1e-6, size=10)
    assert mechanism.profile(1.0) <= 1e-6
    assert mechanism.sigma == pytest.approx(4.531, abs=0.01)  # zCDP, against 4.225 for one number


def test_large_noise_is_calibrated_like_small_noise():
    """The switch from sums to integrals at sigma 2**10 leaves no step."""
    ratios = [Gaussian.for_loss(sensitivity=s, epsilon=1, delta=1e-6).sigma / s for s in (100, 240, 250, 10**4, 10**8)]
    assert max(ratios) / min(ratios) < 1.0005


def test_the_classical_formula_is_there_by_name_and_needs_more_noise():
    classical = Gaussian.classical(sensitivity=1, epsilon=0.5, delta=1e-5)
    assert classical.sigma == pytest.approx(math.sqrt(2 * math.log(1.25e5)) / 0.5)
    assert classical.sigma > Gaussian.for_loss(sensitivity=1, epsilon=0.5, delta=1e-5).sigma
    assert classical.profile(0.5) <= 1e-5


@pytest.mark.parametrize("epsilon", [1, 1.0, 2])
def test_the_classical_formula_is_refused_where_it_is_not_proved(epsilon):
    with pytest.raises(BadEpsilon, match="below 1"):
        Gaussian.classical(sensitivity=1, epsilon=epsilon, delta=1e-5)
