"""The least significant bits of a floating-point answer."""

import math

import numpy as np
import pytest

from discreet import attacks
from discreet.attacks.implementation.lowbits import by_granularity, by_support, in_support
from discreet.errors import MissingPackage
from tests.attacks.promises import EPSILONS, SURE, is_kept_within_the_bound, succeeds, trials_at


def test_the_slides_laplace_is_told_apart_far_beyond_what_its_epsilon_allows():
    found = succeeds("lowbits", at_least=0.85, epsilon=1, trials=1000)
    assert found.details["bound at its claimed epsilon"] == pytest.approx(math.e / (1 + math.e))
    assert found.interval(SURE)[0] > found.details["bound at its claimed epsilon"]
    assert found.details["epsilon refuted up to"] > 3


def test_a_smaller_epsilon_does_not_help_it():
    assert succeeds("lowbits", at_least=0.85, epsilon=0.1, trials=1000).details["bound at its claimed epsilon"] < 0.53


def test_the_last_bit_alone_refutes_the_epsilon_too():
    found = succeeds("lowbits", against="granularity", at_least=0.65, epsilon=0.5, trials=1000)
    assert found.details["epsilon refuted up to"] > 3


@pytest.mark.parametrize("scale", [0.1, 0.7, 1.0, 10.0, 100.0])
def test_what_numpy_draws_is_always_in_its_support(scale):
    rng = np.random.default_rng(4)
    assert all(in_support(value + rng.laplace(0.0, scale), value, scale) for value in (0, 1) for _ in range(300))


def test_most_doubles_are_not_in_it():
    rng = np.random.default_rng(4)
    answers = rng.random(1000)
    assert np.mean([in_support(float(answer), 0, 1.0) for answer in answers]) < 0.3


def test_whole_numbers_have_no_low_bits():
    assert {tell(float(n), 1.0) for tell in (by_support, by_granularity) for n in range(-5, 6)} == {None}


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_discreet_answers_whole_numbers_and_keeps_within_the_bound(epsilon):
    found = is_kept_within_the_bound("lowbits", epsilon=epsilon, trials=60 if epsilon == 10 else trials_at(epsilon))
    assert found.details["answers that are whole numbers"] == 1
    if epsilon == 10:
        assert found.success > 0.9


def test_opendp_keeps_within_the_bound():
    assert attacks.run("lowbits", against="opendp", epsilon=1, size="small", trials=300, seed=20).holds(SURE)


def test_a_peer_that_is_not_installed_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr("discreet.core.optional_imports.find_spec", lambda _: None)
    with pytest.raises(MissingPackage, match="pip install opendp"):
        attacks.run("lowbits", against="opendp", epsilon=1)
