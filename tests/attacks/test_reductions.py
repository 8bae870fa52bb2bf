"""Who reconstructs can tell who is there, and the other way round."""

import pytest

from tests.attacks.many_answers import right_bits_are_no_more_than_coins_of_the_bound_would_be
from tests.attacks.promises import is_kept_within_the_bound, succeeds


def test_a_reconstruction_attacker_tells_who_is_in_the_data():
    found = succeeds("reduction-to-membership", at_least=0.99)
    assert found.details["false positives"] + found.details["false negatives"] < 0.02


def test_a_membership_attacker_reconstructs_and_errs_as_often_as_it_accuses_wrongly():
    found = succeeds("reduction-to-reconstruction", at_least=0.95)
    assert found.details["a test says in, wrongly"] <= 0.02
    assert found.details["both tests say out"] <= 0.1


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize("name", ["reduction-to-membership", "reduction-to-reconstruction"])
def test_discreet_keeps_either_way_within_the_bound(name, epsilon):
    right_bits_are_no_more_than_coins_of_the_bound_would_be(is_kept_within_the_bound(name, epsilon=epsilon))
