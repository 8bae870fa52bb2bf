"""Parameters far out, and inputs that are almost right."""

import math
import threading
import time
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadData, BadEpsilon, BadInput, DiscreetError
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
)
from discreet.mechanisms.statistics import sensitivity
from tests.mechanisms.cases import CASES
from tests.support.sources import SeededBits, UntouchableBits


def test_a_gaussian_profile_is_no_zero_where_floats_overflow():
    assert Gaussian(sensitivity=379, variance=100).profile(722.0) > 0.4
    assert Gaussian.for_loss(sensitivity=1, epsilon=720, delta=1e-6).sigma > 0.0263


def test_a_gaussian_never_claims_to_be_pure():
    for size in (1, 2):
        mechanism = Gaussian(sensitivity=1, variance=1, size=size)
        assert mechanism.epsilon_at(0.0) == math.inf
        assert mechanism.profile(60.0) > 0
    assert Laplace(sensitivity=1, epsilon=0.5).epsilon_at(0.0) == 0.5


@pytest.mark.parametrize("epsilon", [300, 10**4, 10**6])
def test_the_laplace_profile_is_not_below_the_truth_at_large_epsilons(epsilon):
    """Sensitivity 1: delta(e) = (1 - e^(e - epsilon)) / (1 + e^-epsilon)."""
    for gap in (1e-9, 1e-3, 0.5, 3.0):
        at = epsilon - gap
        assert Laplace(sensitivity=1, epsilon=epsilon).profile(at) >= -math.expm1(at - epsilon) * (1 - 1e-9)


@pytest.mark.parametrize("bad", [-3.0, -1e-9, math.nan, None, "x"])
def test_a_profile_starts_at_zero(bad):
    for mechanism in (Laplace(sensitivity=1, epsilon=1), Exponential(sensitivity=1, epsilon=1, size=3)):
        with pytest.raises(BadEpsilon):
            mechanism.profile(bad)


@pytest.mark.parametrize("values", [[0.25, 0.5], [math.nan, 1], [True, 1], [Fraction(1, 2), 1]])
def test_fractions_in_disguise_are_no_integers(values):
    disguised = np.array(values, object)
    for release in (
        Laplace(sensitivity=1, epsilon=1, size=2).release,
        Gaussian.for_rho(sensitivity=1, rho=1, size=2).release,
        Exponential(sensitivity=1, epsilon=1, size=2).release,
        PermuteAndFlip(sensitivity=1, epsilon=1, size=2).release,
        NoisyMax(sensitivity=1, epsilon=1, size=2).release,
        RandomizedResponse(epsilon=1).release,
        PartitionSelection(epsilon=1, delta=1e-3).release,
        Quantile(q=0.5, lower=0, upper=1, epsilon=1).release,
        AboveThreshold(epsilon=1, sensitivity=1, threshold=0).release,
    ):
        with pytest.raises(BadData):
            release(disguised, UntouchableBits())


FLAGGED = [(case.mechanism, f.name) for case in CASES for f in fields(case.mechanism) if f.type == "bool"]


@pytest.mark.parametrize(("mechanism", "flag"), FLAGGED, ids=lambda x: x if isinstance(x, str) else type(x).__name__)
@pytest.mark.parametrize("value", ["no", "", 0, 1, None, np.True_, []])
def test_a_flag_is_true_or_false_and_nothing_that_counts_as_such(mechanism, flag, value):
    """The text "no" counts as true, and would halve the noise of a watch."""
    with pytest.raises(BadInput, match=flag):
        replace(mechanism, **{flag: value})


def test_floats_are_no_categories():
    with pytest.raises(BadData):
        RandomizedResponse(epsilon=0.01).release(np.array([math.nan, 0.3]), UntouchableBits())


def test_small_integer_types_are_counted_right():
    kept = PartitionSelection(epsilon=1, delta=1e-3).release(np.array([0, 100], np.int8), SeededBits(0))
    assert kept.tolist() == [False, True]


def test_two_threads_cannot_share_the_last_positive():
    class Slow(SeededBits):
        def words(self, count, width):
            time.sleep(0.02)
            return super().words(count, width)

    watch = AboveThreshold(epsilon=1, sensitivity=1, threshold=0).start(Slow("watch"))
    answers = []

    def ask():
        try:
            answers.append(watch.is_above(10**6))
        except BadInput:
            answers.append(None)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.count(True) == 1
    assert watch.exhausted


def test_a_neighbour_relation_may_be_named_and_must_exist():
    assert sensitivity.total(lower=100, upper=110, neighbours="add-remove") == 110
    with pytest.raises(DiscreetError):
        sensitivity.total(lower=0, upper=1, neighbours="nobody")


def test_the_error_of_the_widest_noise_is_found_by_bisection(monkeypatch):
    from discreet.mechanisms.additive import laplace_mechanism

    calls, real = [], laplace_mechanism._tail_at_most
    monkeypatch.setattr(laplace_mechanism, "_tail_at_most", lambda *a: (calls.append(1), real(*a))[1])
    assert Laplace(sensitivity=2**55, epsilon=0.5).error(0.999) == pytest.approx(2**56 * math.log(1000), rel=1e-6)
    assert len(calls) < 80


def test_an_accuracy_is_found_where_epsilon_one_would_be_too_wide_to_draw():
    epsilon = Laplace.epsilon_for(error=10**18, confidence=0.95, sensitivity=2**60)
    assert Laplace(sensitivity=2**60, epsilon=epsilon).error(0.95) <= 10**18


def test_a_sensitivity_between_integers_counts_as_the_one_below():
    sigma = [Gaussian.for_loss(sensitivity=s, epsilon=1, delta=1e-6).sigma for s in (1, 1.5)]
    assert sigma[0] == pytest.approx(sigma[1], rel=1e-6)
