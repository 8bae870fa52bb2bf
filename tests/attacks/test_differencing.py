"""Differencing: everyone minus everyone but you."""

import pytest

from tests.attacks.promises import EPSILONS, is_kept_within_the_bound, succeeds, trials_at


@pytest.mark.parametrize("release", ["minimum-size", "articles", "room"])
def test_exact_counts_give_everybody_away(release):
    assert succeeds("differencing", against=release, at_least=1.0).success == 1


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_discreet_keeps_the_difference_within_the_bound(epsilon):
    found = is_kept_within_the_bound("differencing", epsilon=epsilon, trials=trials_at(epsilon))
    if epsilon == 10:
        assert found.success > 0.6, "at epsilon 10 a sensible attacker is right"
