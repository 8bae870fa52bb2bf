"""Randomized response as in the lectures."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.local.device.client import WORD, ClientRefused
from discreet.local.protocols import protocol_for
from tests.local.cases import LN_3, randomizer_for
from tests.local.laws import device_law, twin_law

COIN = randomizer_for("coin", LN_3, {"size": 2})
WARNER = randomizer_for("warner", "1", {"size": 2})


def test_coin_flips_cost_the_logarithm_of_three():
    yes, no = device_law(COIN, 1), device_law(COIN, 0)
    assert yes == {0: Fraction(1, 4), 1: Fraction(3, 4)}
    assert max(yes[1] / no[1], no[0] / yes[0]) == 3
    assert math.log(3) == pytest.approx(float(Fraction(LN_3)), abs=1e-11)


def test_coin_flips_are_refused_to_those_who_promise_less_than_the_logarithm_of_three():
    with pytest.raises(ClientRefused):
        randomizer_for("coin", "1.098", {"size": 2})


def test_the_estimator_of_coin_flips_is_twice_the_yes_less_a_half():
    people, twin = 1000, protocol_for(COIN)
    for yes in range(0, people + 1, 50):
        tally = np.array([people - yes, yes])
        share = twin.estimate(tally, people, np.array([1]))[0] / people
        assert share == pytest.approx(2 * yes / people - 1 / 2, abs=1e-12)


def moments_of_the_estimated_share(randomizer, answers):
    """The exact mean and variance of the estimated share of yes, over all draws of all people."""
    twin, people = protocol_for(randomizer), len(answers)
    p, q = twin.chances
    law = twin_law(twin, np.array(answers), slots=np.zeros(people, np.int64))
    estimate = {reports: (sum(reports) - people * q) / (p - q) / people for reports in law}
    for reports, share in estimate.items():
        floating = twin.estimate(twin.tally(np.array(reports, np.uint64)), people, np.array([1]))[0] / people
        assert floating == pytest.approx(float(share), abs=1e-12)
    mean = sum(weight * estimate[reports] for reports, weight in law.items())
    return mean, sum(weight * (estimate[reports] - mean) ** 2 for reports, weight in law.items())


@pytest.mark.parametrize("answers", [(0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1)])
def test_warners_estimator_is_unbiased_with_the_variance_of_the_slide(answers):
    """Toronto slides, "Accuracy Analysis": (y (e^ε + 1) - 1) / (e^ε - 1) each, of variance e^ε / (e^ε - 1)^2."""
    mean, variance = moments_of_the_estimated_share(WARNER, answers)
    assert mean == Fraction(sum(answers), 3)
    assert float(variance) == pytest.approx(math.e / (math.e - 1) ** 2 / 3, rel=1e-12)
    counts = np.array([3 - sum(answers), sum(answers)], np.float64)
    assert protocol_for(WARNER).variance(counts, 3, np.arange(2)) / 9 == pytest.approx(float(variance), rel=1e-12)


@pytest.mark.parametrize("randomizer", [COIN, WARNER], ids=["coin", "warner"])
def test_the_variance_is_below_that_of_the_sapienza_slide(randomizer):
    """The truth with probability 1/2 + γ: at most 1 / (16 γ² n)."""
    gamma = Fraction(randomizer.keep, WORD) - Fraction(1, 2)
    mean, variance = moments_of_the_estimated_share(randomizer, (1, 0, 1))
    assert mean == Fraction(2, 3)
    assert variance == (Fraction(1, 4) - gamma**2) / (4 * gamma**2 * 3)
    assert variance <= 1 / (16 * gamma**2 * 3)


def test_an_answer_may_be_any_of_the_values_and_no_other():
    twin = protocol_for(randomizer_for("grr", "1", {"size": 5}))
    assert twin.legal(np.arange(8, dtype=np.uint64)).tolist() == [True] * 5 + [False] * 3
