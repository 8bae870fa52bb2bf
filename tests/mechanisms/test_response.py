import math

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.mechanisms import BiasedCoin, RandomizedResponse
from tests.support.sources import SeededBits


def test_the_lecture_coin_flips_cost_ln_three():
    mechanism = BiasedCoin.coin_flip()
    assert mechanism.truth_probability == 0.75
    assert mechanism.pure_epsilon == pytest.approx(math.log(3), rel=1e-12)
    assert mechanism.pure_epsilon >= math.log(3)


@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.25, 0.4, 0.49])
def test_half_plus_gamma_has_its_exact_epsilon(gamma):
    assert BiasedCoin(gamma=gamma).pure_epsilon == pytest.approx(math.log((0.5 + gamma) / (0.5 - gamma)), rel=1e-12)


@pytest.mark.parametrize("gamma", [0, 0.5, -0.1, 1, float("nan"), True, None])
def test_a_gamma_that_is_no_bias_is_refused(gamma):
    with pytest.raises(DiscreetError):
        BiasedCoin(gamma=gamma)


@pytest.mark.parametrize("epsilon", [0.1, 1, math.log(3), 5])
def test_warner_tells_the_truth_as_the_slide_says(epsilon):
    assert RandomizedResponse(epsilon=epsilon).truth_probability == pytest.approx(
        math.exp(epsilon) / (1 + math.exp(epsilon))
    )


@pytest.mark.parametrize("mechanism", [RandomizedResponse(epsilon=1), RandomizedResponse(epsilon=1, categories=5)])
def test_the_estimate_is_unbiased(mechanism):
    people, yes = 200_000, 60_000
    truth = np.zeros(people, np.int64)
    truth[:yes] = 1
    reports = mechanism.release(truth, SeededBits("estimate"))
    estimate = mechanism.unbiased_count(ones=int((reports == 1).sum()), people=people)
    gap = mechanism.truth_probability - (1 - mechanism.truth_probability) / (mechanism.categories - 1)
    assert abs(estimate - yes) < 6.2 * math.sqrt(people / 4) / gap
