"""What nobody can do better than: nothing of ours does, and where a bound is attained, ours attains it."""

import itertools
import math

import numpy as np
import pytest

from discreet.accounting import limits
from discreet.accounting.lower_bounds import least_mean_error
from discreet.accounting.stated_guarantee import Promise
from discreet.errors import DiscreetError
from discreet.mechanisms import Exponential, Gaussian, Laplace, PermuteAndFlip, RandomizedResponse
from tests.support.laws import gaussian_law, laplace_law
from tests.support.sources import SeededBits

PROMISES = [
    {"epsilon": 0.1},
    {"epsilon": 1},
    {"epsilon": 5},
    {"epsilon": 1, "delta": 1e-6},
    {"rho": 1e-3},
    {"rho": 0.5},
]


def named(task, **given):
    return next(limit for limit in limits(**given) if task in limit.task)


@pytest.mark.parametrize("promise", PROMISES, ids=str)
@pytest.mark.parametrize("people", [1, 50, 10**6])
def test_nothing_of_ours_is_below_a_proved_limit(promise, people):
    for columns, queries, confidence in itertools.product((1, 30, 3000), (1, 40), (0.5, 0.95)):
        for limit in limits(people=people, columns=columns, queries=queries, confidence=confidence, **promise):
            assert limit.least >= 0
            for achieved in limit.achieved if limit.proved else ():
                assert achieved.error >= limit.least, (limit, achieved)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1, 3])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_geometric_mechanism_meets_the_limit_of_a_count(epsilon, confidence):
    limit = named("one count", people=1000, columns=2, queries=1, epsilon=epsilon, confidence=confidence)
    assert limit.achieved[0].error == limit.least
    q, width = math.exp(-epsilon), int(limit.least)
    assert 2 * q ** (width + 1) / (1 + q) <= 1 - confidence < (2 * q**width / (1 + q) if width else 1)


@pytest.mark.parametrize("columns", [100, 1000, 10_000])
@pytest.mark.parametrize("rho", [1e-4, 1e-3, 0.01, 0.03])
@pytest.mark.parametrize("people", [10**4, 10**6])
def test_gaussian_means_are_within_fifteen_times_of_fingerprinting(columns, rho, people):
    limit = named("means", people=people, columns=columns, queries=1, rho=rho)
    assert 1 < limit.achieved[0].error / limit.least < 15


def test_the_fingerprinting_identity_holds_for_any_estimate():
    """E[(f - p) sum(x - p) + (f - p)^2] = 1/3 + E[f^2], by exact integration over p for functions of three bits."""
    points, weights = np.polynomial.legendre.leggauss(12)
    bits = np.array(list(itertools.product((-1, 1), repeat=3)))
    for f in (bits.mean(1), bits.max(1), 0.3 * bits[:, 0] - 0.9, np.zeros(8)):
        total = 0.0
        for p, weight in zip(points, weights / 2, strict=True):
            chance = np.prod((1 + bits * p) / 2, axis=1)
            total += weight * (chance * ((f - p) * (bits - p).sum(1) + (f - p) ** 2 - f**2)).sum()
        assert total == pytest.approx(1 / 3)


@pytest.mark.parametrize("distance", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.2, 1])
def test_two_databases_are_confused_at_least_that_often(distance, epsilon):
    """Against the best guess there is, by exact laws; at distance 1 randomized response attains it."""
    for promise, law in (
        (Promise(epsilon=epsilon), lambda at: laplace_law(Laplace(sensitivity=1, epsilon=epsilon).scale, at)),
        (
            Promise(epsilon=math.inf, rho=epsilon),
            lambda at: gaussian_law(Gaussian.for_rho(sensitivity=1, rho=epsilon).variance, at),
        ),
    ):
        one, other = law(0), law(distance)
        wrong = float(sum(min(one.get(at, 0), other.get(at, 0)) for at in {*one, *other})) / 2
        assert wrong >= promise.confusion(distance) * (1 - 1e-12)
    report = RandomizedResponse(epsilon=epsilon)
    assert 1 / (1 + math.exp(report.epsilon)) == pytest.approx(Promise(epsilon=epsilon).confusion(1))


def test_measured_errors_are_not_below_proved_limits():
    bits, runs = SeededBits("limits"), 400
    given = {"people": 1000, "columns": 50, "queries": 20, "epsilon": 1}
    worst = [
        np.abs(Laplace(sensitivity=20, epsilon=1, size=20).release(np.zeros(20, np.int64), bits)).max()
        for _ in range(runs)
    ]
    assert np.quantile(worst, 0.95) >= named("counts at once", **given).least
    limit = named("the best of", **given)
    for kind in (Exponential, PermuteAndFlip):
        mechanism = kind(sensitivity=1, epsilon=1, size=50, monotone=True)
        scores = np.zeros(50, np.int64)
        scores[7] = int(limit.least) - 1
        assert sum(mechanism.release(scores, bits) != 7 for _ in range(runs)) > 0.05 * runs
    promise = Promise(epsilon=math.inf, rho=0.03)
    noise = promise.gaussian(l2_squared=4 * 100, size=100).release(np.zeros(100, np.int64), bits) / 1000
    assert np.sqrt((noise**2).mean()) > least_mean_error(promise, people=1000, columns=100) > 0


def test_all_subset_sums_of_reported_bits_are_as_wrong_as_they_must_be():
    people, bits = 2000, SeededBits("sums")
    limit = named("every set", people=people, columns=2, queries=1, epsilon=0.5)
    truth = np.arange(people) % 2
    reports = RandomizedResponse(epsilon=0.5).release(truth, bits)
    worst = max(int((reports > truth).sum()), int((reports < truth).sum()))
    assert limit.least <= worst <= limit.achieved[0].error


@pytest.mark.parametrize(
    "promise", [{}, {"epsilon": 1, "rho": 1}, {"rho": 1, "delta": 1e-6}, {"epsilon": 0}, {"epsilon": 1, "delta": 1}]
)
def test_a_guarantee_is_epsilon_with_delta_or_rho(promise):
    with pytest.raises(DiscreetError):
        limits(people=10, columns=2, queries=2, **promise)


def test_every_limit_says_what_it_is():
    for promise in PROMISES:
        for limit in limits(people=100, columns=10, queries=10, **promise):
            assert limit.formula
            assert limit.source
            assert limit.as_dict()["proved"] is limit.proved
