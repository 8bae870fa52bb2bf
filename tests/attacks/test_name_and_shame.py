"""Name and shame."""

import pytest

from discreet import attacks
from tests.attacks.promises import EPSILONS, is_kept_within_the_bound, succeeds, trials_at


def test_a_random_row_exposes_somebody_every_time():
    found = succeeds("name-and-shame", at_least=1.0)
    assert found.details["total variation"] == 1 / 256


def test_each_with_a_small_delta_exposes_somebody_more_often_than_not():
    found = succeeds("name-and-shame", against="each-with-delta", at_least=0.75, trials=1000)
    assert found.details["releases that expose a person"] == pytest.approx(0.632, abs=0.06)


def test_a_delta_far_below_one_in_n_exposes_hardly_anybody():
    found = attacks.run("name-and-shame", against="each-with-delta", expected=0.01, trials=1000, seed=20)
    assert found.details["releases that expose a person"] < 0.05


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_discreet_refuses_rows_and_keeps_whoever_is_named_within_the_bound(epsilon):
    found = is_kept_within_the_bound(
        "name-and-shame", epsilon=epsilon, trials=48 if epsilon == 10 else trials_at(epsilon)
    )
    assert "refused" in {step.kind for step in found.transcript}
    if epsilon == 10:
        assert found.success > 0.9
