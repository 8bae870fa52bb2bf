"""Slow answers are noisy answers. No test here depends on how fast a machine is."""

import numpy as np
import pytest

from discreet.attacks.implementation import timing
from discreet.attacks.implementation.timing import Clock, TimedAnswer
from discreet.attacks.releases.loops import LoopGeometric
from tests.attacks.promises import EPSILONS, is_kept_within_the_bound, succeeds, trials_at


@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_a_loop_that_tells_its_time_tells_its_noise(epsilon):
    found = succeeds("timing", at_least=1.0, epsilon=epsilon)
    assert found.details["bound at its claimed epsilon"] < 0.74


@pytest.mark.parametrize(("a_toss", "least", "most"), [(50, 1.0, 1.0), (0, 0.3, 0.7)])
def test_a_real_clock_tells_as_much_as_the_tosses_take(a_toss, least, most, monkeypatch):
    """A clock by which an answer takes 100 ns, and so much more for each toss of the loop."""

    def timed(do):
        done = do()
        return 100 + a_toss * done.tosses, done

    monkeypatch.setattr(timing, "_timed", timed)
    found = succeeds("timing", at_least=1.0, epsilon=0.5)
    assert least <= found.details["right with real time measurements"] <= most
    assert found.series[0].x == (0, 1, 2, 3, 4, 5)
    assert found.series[0].y == pytest.approx([100 + a_toss * tosses for tosses in (1, 3, 4, 5, 6, 7)])


def test_the_loop_draws_the_noise_that_it_says():
    loop = LoopGeometric(epsilon=1.0, rng=np.random.default_rng(1))
    drawn = np.array([loop.count(0).answer for _ in range(20_000)])
    expected = np.tanh(0.5) * np.exp(-np.abs(np.arange(-2, 3)))
    assert [float(np.mean(drawn == z)) for z in range(-2, 3)] == pytest.approx(expected, abs=0.02)


def test_a_clock_finds_what_time_tells_and_nothing_else():
    rng = np.random.default_rng(2)

    def timed(presence, noise):
        there = rng.random(400) < 0.5
        answers = there + rng.geometric(0.5, 400) - rng.geometric(0.5, 400)
        seconds = 5 + presence * there + noise * np.abs(answers - there) + rng.normal(0, 0.1, 400)
        return [TimedAnswer(bool(t), float(a), float(s)) for t, a, s in zip(there, answers, seconds, strict=True)]

    telling = Clock.fit(timed(1.0, 0.5))
    assert (telling.presence, telling.noise) == pytest.approx((1.0, 0.5), abs=0.2)
    known = timed(1.0, 0.5)
    assert np.mean([(telling.log_ratio(one) > 0) == one.is_there for one in known]) > 0.95
    silent = Clock.fit(timed(0.0, 0.0))
    assert (silent.presence, silent.noise) == (0, 0)
    assert silent.log_ratio(known[0]) == 0


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_time_of_discreets_answers_tells_nothing_beyond_the_bound(epsilon):
    found = is_kept_within_the_bound(
        "timing", epsilon=epsilon, rehearsals=40, trials=60 if epsilon == 10 else trials_at(epsilon)
    )
    if epsilon == 10:
        assert found.success > 0.9
