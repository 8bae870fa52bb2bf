"""Errors come from the exact discrete distribution, and can be asked for."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.exact import exact
from discreet.mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    Laplace,
    NoisyMax,
    PartitionSelection,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    Snapping,
)
from discreet.mechanisms.additive.gaussian_tails import tails_above
from tests.support.laws import exponential_law, gaussian_law, laplace_law, noisy_max_law, permute_and_flip_law
from tests.support.sources import SeededBits

LEVELS = [0.5, 0.8, 0.95, 0.999, 1 - 1e-9]


def outside(law, width):
    return sum(chance for value, chance in law.items() if abs(value) > width)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 3])
def test_the_error_of_laplace_is_the_least_that_holds(epsilon, level):
    mechanism = Laplace(sensitivity=1, epsilon=epsilon)
    law, width, beta = laplace_law(mechanism.scale), mechanism.error(level), 1 - exact(level)
    assert outside(law, width) <= beta
    assert width == 0 or outside(law, width - 1) > beta


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(10), Fraction(1000)])
def test_the_error_of_gauss_is_the_least_that_holds(variance, level):
    mechanism = Gaussian(sensitivity=1, variance=variance)
    law, width, beta = gaussian_law(variance), mechanism.error(level), float(1 - exact(level))
    assert float(outside(law, width)) <= beta
    assert width == 0 or float(outside(law, width - 1)) > beta * (1 - 1e-10)


@pytest.mark.parametrize("beta", [0.5, 0.1, 0.05, 1e-3, 1e-6])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1])
def test_the_lecture_says_the_same_about_counts(epsilon, beta):
    """Sapienza slides: the error exceeds ln(1/beta)/epsilon with probability at most beta."""
    assert abs(Laplace(sensitivity=1, epsilon=epsilon).error(1 - beta) - math.log(1 / beta) / epsilon) <= 1


def test_fifty_with_ninety_five_percent_has_a_price():
    epsilon = Laplace.epsilon_for(error=50, confidence=0.95, sensitivity=1)
    assert Laplace(sensitivity=1, epsilon=epsilon).error(0.95) == 50
    assert Laplace(sensitivity=1, epsilon=epsilon * 0.999).error(0.95) > 50
    assert epsilon == pytest.approx(math.log(20) / 50.5, rel=0.01)


@pytest.mark.parametrize(
    ("make", "error", "parameters"),
    [
        (Laplace, 1000, {"sensitivity": 20}),
        (Laplace, 10**9, {"sensitivity": 10**7, "size": 5}),
        (Exponential, 5, {"sensitivity": 1, "size": 100}),
        (PermuteAndFlip, 5, {"sensitivity": 1, "size": 100}),
        (NoisyMax, 5, {"sensitivity": 1, "size": 100}),
        (AboveThreshold, 30, {"sensitivity": 1, "threshold": 0}),
        (PartitionSelection, 50, {"delta": 1e-6}),
        (Quantile, 10, {"q": 0.5, "lower": 0, "upper": 100}),
        (RandomizedResponse, 0, {}),
        (Snapping, 40.0, {"sensitivity": 1, "bound": 1000}),
    ],
)
def test_epsilon_for_an_error_is_enough_and_no_more(make, error, parameters):
    epsilon = make.epsilon_for(error=error, confidence=0.9, **parameters)
    assert make(epsilon=epsilon, **parameters).error(0.9) <= error
    assert make(epsilon=epsilon * 0.99, **parameters).error(0.9) > error


def test_rho_and_epsilon_for_an_error_of_gauss():
    rho = Gaussian.rho_for(error=20, confidence=0.95, sensitivity=1)
    assert Gaussian.for_rho(sensitivity=1, rho=rho).error(0.95) == 20
    assert Gaussian.for_rho(sensitivity=1, rho=rho * 0.99).error(0.95) > 20
    epsilon = Gaussian.epsilon_for(error=20, confidence=0.95, sensitivity=1, delta=1e-6)
    assert Gaussian.for_rho(sensitivity=1, rho=rho).profile(epsilon) <= 1e-6


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize(
    ("make", "law"),
    [
        (Exponential, lambda scores, m: exponential_law(scores, m.rate)),
        (PermuteAndFlip, lambda scores, m: permute_and_flip_law(scores, m.rate)),
        (NoisyMax, lambda scores, m: noisy_max_law(scores, 1 / m.rate)),
    ],
)
def test_the_winner_is_as_close_to_the_best_as_promised_in_the_worst_case(make, law, level):
    mechanism = make(sensitivity=1, epsilon=2, size=4)
    gap = mechanism.error(level)
    beta = 1 - exact(level)
    loses = 1 - law([0, -gap - 1, -gap - 1, -gap - 1], mechanism)[0]
    assert loses <= beta
    if make is not NoisyMax and gap:  # a union bound there
        assert 1 - law([0, -gap, -gap, -gap], mechanism)[0] > beta


def test_the_slides_bound_on_the_exponential_mechanism_holds():
    """Sapienza slides: the score is below the best by 2 sensitivity / epsilon * (ln k + t) with probability e^-t at most."""
    mechanism = Exponential(sensitivity=1, epsilon=0.5, size=1000)
    for beta in (0.1, 0.01):
        assert mechanism.error(1 - beta) <= 2 / 0.5 * (math.log(1000) + math.log(1 / beta))


def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism():
    for size in (2, 10, 1000):
        for epsilon in (0.1, 1, 4):
            chances = {"sensitivity": 1, "epsilon": epsilon, "size": size}
            assert PermuteAndFlip(**chances).error(0.95) <= Exponential(**chances).error(0.95)


def test_tails_by_integrals_enclose_tails_by_sums(monkeypatch):
    variance = 500.0**2
    for start in (1, 100, 499, 502, 1500, 3000):
        summed = tails_above(np.array([float(start)]), variance)
        monkeypatch.setattr("discreet.mechanisms.additive.gaussian_tails._SHORT_SIGMA", 1.0)
        integrated = tails_above(np.array([float(start)]), variance)
        monkeypatch.undo()
        assert integrated.low <= summed.high
        assert summed.low <= integrated.high
        assert integrated.high - integrated.low <= 1e-4 * integrated.high


def test_a_released_quantile_is_within_its_rank_error():
    mechanism = Quantile(q=0.5, lower=0, upper=1000, epsilon=0.5)
    values, bits, worst = np.arange(1000), SeededBits("rank"), mechanism.error(0.95)
    off = sum(abs(mechanism.release(values, bits) - 499.5) > worst + 1 for _ in range(400))
    assert off <= 20 + 6.2 * math.sqrt(19)


def test_a_mechanism_knows_its_own_parameters_when_asked_for_an_accuracy():
    asked = {"error": 50, "confidence": 0.95}
    assert Laplace(sensitivity=3, epsilon=9).epsilon_for(**asked) == Laplace.epsilon_for(sensitivity=3, **asked)
    chosen = {"sensitivity": 1, "size": 100}
    assert Exponential(epsilon=1, **chosen).epsilon_for(**asked) == Exponential.epsilon_for(**asked, **chosen)
    assert Gaussian(sensitivity=2, variance=9).rho_for(**asked) == Gaussian.rho_for(sensitivity=2, **asked)
    assert Gaussian(sensitivity=2, variance=9).epsilon_for(delta=1e-6, **asked) == Gaussian.epsilon_for(
        sensitivity=2, delta=1e-6, **asked
    )
