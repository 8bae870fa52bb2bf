"""Selections among scores that move one way: half the noise, by exact laws."""

import itertools

import numpy as np
import pytest

from discreet.ledger.charges.release_json import mechanism_from_json, mechanism_to_json
from discreet.mechanisms import Exponential, PermuteAndFlip
from tests.support.laws import exponential_law, max_log_ratio, permute_and_flip_law

LAWS = {Exponential: exponential_law, PermuteAndFlip: permute_and_flip_law}
BEGINNINGS = [(0, 0, 0), (0, 1, 2), (5, 0, 3), (2, 2, 0), (0, 0, 9)]
selections = pytest.mark.parametrize("kind", LAWS, ids=lambda kind: kind.__name__)


def worst(mechanism, moves):
    """The largest log-ratio over all beginnings and moves of three scores."""
    law = LAWS[type(mechanism)]
    return max(
        max_log_ratio(law(list(scores), mechanism.rate), law(np.add(scores, move).tolist(), mechanism.rate))
        for scores in BEGINNINGS
        for move in itertools.product(moves, repeat=3)
    )


@selections
@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("epsilon", [0.3, 2])
def test_monotone_scores_keep_epsilon_at_twice_the_rate(kind, sensitivity, epsilon):
    mechanism = kind(sensitivity=sensitivity, epsilon=epsilon, size=3, monotone=True)
    assert mechanism.rate == 2 * kind(sensitivity=sensitivity, epsilon=epsilon, size=3).rate
    assert 0.6 * epsilon < worst(mechanism, range(sensitivity + 1)) <= epsilon * (1 + 1e-12)


@selections
def test_scores_that_move_both_ways_would_not(kind):
    mechanism = kind(sensitivity=1, epsilon=1, size=3, monotone=True)
    assert worst(mechanism, (-1, 0, 1)) > 1.2
    assert worst(kind(sensitivity=1, epsilon=1, size=3), (-1, 0, 1)) <= 1 + 1e-12


def test_the_best_of_many_counts_is_found_more_often():
    plain, monotone = (Exponential(sensitivity=1, epsilon=1, size=1000, monotone=flag) for flag in (False, True))
    assert monotone.error(0.95) < 0.6 * plain.error(0.95)
    assert monotone.rho == plain.rho
    assert monotone.profile(0.3) == plain.profile(0.3)


@selections
def test_the_books_say_whether_scores_were_monotone_and_older_books_are_still_read(kind):
    mechanism = kind(sensitivity=1, epsilon=1, size=3, monotone=True)
    written = mechanism_to_json(mechanism)
    assert written["monotone"] is True
    assert mechanism_from_json(written) == mechanism
    assert not mechanism_from_json({name: value for name, value in written.items() if name != "monotone"}).monotone
