"""Routes advised from noisy loads."""

import numpy as np
import pytest

from discreet.accounting import Account
from discreet.errors import DiscreetError
from discreet.games import Route, Traffic
from tests.support.sources import SeededBits

ROUTES = [Route(0.1, 0.9), Route(0.2, 0.6), Route(0.3, 0.5), Route(0, 1)]


def test_the_largest_regret_is_nearly_that_without_noise():
    detours = np.random.default_rng(4).random((1000, 4)) * 0.3
    traffic = Traffic(routes=ROUTES, rounds=200, epsilon=1, delta=1e-6)
    with_noise = np.mean([traffic.regrets(detours, bits=SeededBits(seed)).max() for seed in range(3)])
    without = np.mean([traffic.regrets(detours, noiseless=True, bits=SeededBits(seed)).max() for seed in range(3)])
    assert 0 < without < 0.06
    assert with_noise <= 1.15 * without


def test_all_rounds_are_charged_before_the_first():
    detours = np.zeros((50, 4))
    traffic = Traffic(routes=ROUTES, rounds=20, epsilon=0.5, delta=1e-6)
    account = Account(0.6, 2e-6)
    advice = traffic.advise(detours, account=account)
    assert 0.4 < account.spent.epsilon <= 0.6
    assert advice.loads.shape == (20, 4)
    assert advice.shares.sum(axis=1) == pytest.approx(1)
    with pytest.raises(DiscreetError):
        traffic.advise(detours, account=account)


def test_one_person_moves_the_loads_of_a_round_by_no_more_than_is_charged():
    """With the same coins and the same noisy loads so far, other detours move one person to another route at most."""
    traffic = Traffic(routes=ROUTES, rounds=1, epsilon=1, delta=1e-6)
    rng = np.random.default_rng(5)
    moved = 0
    for seed in range(60):
        detours = rng.random((40, 4))
        other = detours.copy()
        other[7] = rng.random(4)
        one, two = (traffic._play(each, lambda loads: loads, SeededBits(seed)).loads[0] for each in (detours, other))
        moved = max(moved, int(((one - two) ** 2).sum()))
    assert moved <= traffic.mechanism.sensitivity**2
    assert traffic.mechanism.rho * 1 <= 0.0244


def test_others_see_of_a_person_what_passed_the_noise():
    """Person 7's detours change nobody else's advice while the noisy loads stay as they are."""
    traffic = Traffic(routes=ROUTES, rounds=30, epsilon=1, delta=1e-6)
    rng = np.random.default_rng(6)
    detours = rng.random((40, 4))
    other = detours.copy()
    other[7] = 1 - other[7]
    fixed = np.array([10, 10, 10, 10])
    one, two = (traffic._play(each, lambda _: fixed, SeededBits(1)).taken for each in (detours, other))
    assert (np.delete(one, 7, axis=1) == np.delete(two, 7, axis=1)).all()
    assert (one[:, 7] != two[:, 7]).any()


@pytest.mark.parametrize("detours", [[[0, 0, 0, 0]], np.zeros(4), np.zeros((3, 2)), np.zeros((0, 4)), None])
def test_detours_are_one_row_a_person(detours):
    account = Account(2, 1e-5)
    with pytest.raises(DiscreetError):
        Traffic(routes=ROUTES, rounds=2, epsilon=1, delta=1e-6).advise(detours, account=account)
    assert account.spent.epsilon == 0


def test_nobodys_row_decides_whether_there_is_advice():
    detours = np.full((30, 4), 0.2)
    detours[3] = [np.nan, np.inf, -np.inf, 7]
    Traffic(routes=ROUTES, rounds=2, epsilon=1, delta=1e-6).advise(detours)
