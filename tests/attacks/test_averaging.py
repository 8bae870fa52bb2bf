"""Ask again, in other words."""

import numpy as np
import pytest

from discreet import attacks
from discreet.attacks.releases.noisy import StickyNoise
from tests.attacks.promises import EPSILONS, is_kept_within_the_bound, succeeds, trials_at


def test_four_hundred_repeats_wash_out_fresh_noise():
    found = succeeds("averaging", at_least=1.0)
    assert found.details["counts recovered exactly"] == 1


def test_rewriting_washes_out_noise_that_sticks_to_the_wording():
    succeeds("averaging", against="sticky-noise", at_least=0.9)


def test_sticky_noise_answers_the_same_words_the_same_and_few_repeats_are_not_enough():
    sticky, chosen = StickyNoise(secret=b"k"), np.arange(100) < 60
    assert len({sticky.count(chosen, ["secret"]) for _ in range(20)}) == 1
    assert len({sticky.count(chosen, ["secret", f"id + {k} <> {k - 1}"]) for k in range(50)}) > 3
    assert sticky.count(np.zeros(100, bool), ["secret"]) is None
    assert attacks.run("averaging", trials=400, repeats=2, noise=5.0, seed=1).success < 0.7


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_discreet_charges_every_wording_and_repeats_its_answers(epsilon):
    found = is_kept_within_the_bound("averaging", epsilon=epsilon, trials=trials_at(epsilon))
    observed = [step.text for step in found.transcript if step.kind == "answered"]
    assert observed[0] in observed[1]
    assert "free" in observed[1]
