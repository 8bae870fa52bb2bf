"""Too many answers, too well."""

import numpy as np
import pytest

from discreet import attacks
from discreet.attacks.lab.random_lists import Lists
from discreet.attacks.reconstruction.decoding import by_exhaustion, by_least_squares, by_linear_program
from discreet.errors import BadInput
from tests.attacks.many_answers import right_bits_are_no_more_than_coins_of_the_bound_would_be
from tests.attacks.promises import is_kept_within_the_bound, succeeds


@pytest.mark.parametrize(
    ("release", "at_least"), [("noisy-counts", 0.99), ("mostly-right", 0.95), ("sticky-noise", 0.9)]
)
def test_counts_that_are_too_good_give_nearly_everybody_away(release, at_least):
    succeeds("reconstruction", against=release, at_least=at_least)


def test_linear_programming_does_what_least_squares_does():
    assert succeeds("reconstruction", at_least=0.99, linear=1, trials=3).success >= 0.99


def test_without_noise_everybody_is_known_and_with_much_nobody():
    assert succeeds("reconstruction", at_least=1, noise=0).success == 1
    found = attacks.run("reconstruction", size="small", noise=20, trials=100, seed=20)
    assert 0.45 < found.success < 0.6
    (curve,) = found.series
    assert curve.y[0] > curve.y[-1]


def test_at_the_size_of_the_lectures_99_in_100_bits_are_right():
    found = attacks.run("reconstruction", people=256, trials=3, seed=20)
    assert found.options == {"noise": 0.1, "queries_per_person": 4, "lies": 0.1, "linear": 0}
    assert found.success >= 0.99


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_discreet_keeps_the_bits_within_the_bound(epsilon):
    found = is_kept_within_the_bound("reconstruction", epsilon=epsilon)
    right_bits_are_no_more_than_coins_of_the_bound_would_be(found)
    if epsilon == 10:
        assert found.success > 0.53, "at epsilon 10 a sensible attacker gets somewhere"
        assert found.details["bits right by querying each person's bit instead"] > 0.9


def test_with_a_delta_gaussian_noise_is_asked_for_and_the_bound_holds():
    found = is_kept_within_the_bound("reconstruction", epsilon=1, delta=1e-6, trials=3)
    assert found.delta == 1e-6
    assert any("max_groups_contributed = 128" in step.text for step in found.transcript)


def test_all_subsets_within_alpha_leave_at_most_four_alpha_wrong():
    for alpha in (0, 1):
        found = attacks.run("exhaustive", people=9, trials=12, alpha=alpha, seed=20)
        assert found.details["most bits wrong in a run"] <= 4 * alpha
        assert found.success >= 1 - 4 * alpha / 9
    assert found.details["most bits wrong in a run"] > 0, "a release that misleads as much as it may does mislead"


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_discreet_answers_all_subsets_within_the_bound(epsilon):
    right_bits_are_no_more_than_coins_of_the_bound_would_be(is_kept_within_the_bound("exhaustive", epsilon=epsilon))


def test_all_subsets_of_many_people_are_refused():
    with pytest.raises(BadInput, match="people=14"):
        attacks.run("exhaustive", people=15)


def test_decoders_solve_small_systems_exactly():
    rng = np.random.default_rng(5)
    bits = np.where(rng.random(12) < 0.5, 1.0, -1.0)
    matrix = rng.integers(0, 2, (60, 12)).astype(float)
    assert np.allclose(by_least_squares(matrix, matrix @ bits), bits)
    observed = matrix @ bits
    observed[:8] = 99
    assert np.allclose(by_linear_program(matrix, observed), bits, atol=1e-4)
    candidates = np.array([bits, -bits, np.zeros(12)])
    assert by_exhaustion(matrix, matrix @ bits, candidates, within=0.5).tolist() == [0]


def test_a_list_in_sql_has_the_members_that_it_says():
    lists = Lists.draw(np.random.default_rng(5), count=40)
    ids = np.arange(100, 300)
    members = lists.members(ids)
    for number in range(40):
        asked = [bool(eval(lists.condition(number), {"id": int(one)})) for one in ids]  # the formula is Python, too
        assert asked == members[number].tolist()
    assert 0.45 < members.mean() < 0.55
