from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.noise import (
    binomial,
    exact_selection,
    exponential_choice,
    exponential_choices,
    permute_and_flip,
    uniform_below,
    uniform_below_each,
)
from tests.support.checks import counts_are_fair, samples_follow
from tests.support.laws import exp_of, exponential_law, normalised, permute_and_flip_law
from tests.support.sources import ScriptedBits, SeededBits

SCORES = [[0, 1, 2, 3], [5, 5], [-3, 10, 9, 9], [7], [0, 0, 0, -1000]]


LAWS = [(exponential_choice, exponential_law), (permute_and_flip, permute_and_flip_law)]


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize(("choose", "law"), LAWS)
def test_choices_follow_their_law(choose, law, scores):
    follow_their_law(choose, law, scores, times=8_000)


def follow_their_law(choose, law, scores, *, times):
    if len(scores) == 1:
        assert choose(np.array(scores), Fraction(1, 2), SeededBits(0)) == 0
        return
    bits = SeededBits(f"choice{scores}")
    seen = Counter(choose(np.array(scores), Fraction(1, 2), bits) for _ in range(times))
    counts_are_fair(seen, law(scores, Fraction(1, 2)))


@settings(max_examples=200)
@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=30),
    st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000),
    st.data(),
)
def test_floats_decide_as_the_integers_do_or_not_at_all(scores, rate, data):
    """At every boundary between two candidates, one word before it and one after it, and anywhere else."""
    law = exponential_law(scores, rate)
    ends = np.cumsum([float(law[i]) for i in range(len(scores))])
    end = data.draw(st.sampled_from(ends.tolist()))
    nudge = data.draw(st.sampled_from([-(2**30), -1, 0, 1, 2**30]))
    word = min(2**64 - 1, max(0, int(end * 2**64) + nudge))
    gaps = exact_selection._gaps(np.array(scores))
    chosen = exact_selection._invert_in_floats(exact_selection._exponents(gaps, rate), word)
    exactly = exact_selection.invert_in_integers(gaps, np.ones(gaps.size, np.int64), rate, word, SeededBits(word))
    total, expected = Fraction(0), 0
    for i in range(len(scores)):
        total += law[i]
        if Fraction(word, 2**64) < total:
            expected = i
            break
    assert chosen in (None, exactly)
    if abs(Fraction(word, 2**64) - total) > Fraction(1, 2**60):
        assert exactly == expected


def test_an_open_case_is_settled_in_integers():
    # Two equal candidates: the boundary is exactly 1/2, and the word sits on it.
    bits = ScriptedBits(2**63, 5)
    assert exponential_choice(np.array([4, 4]), Fraction(1), bits) == 1
    assert bits.left == 0
    bits = ScriptedBits(2**63 - 1, 2**64 - 1)
    assert exponential_choice(np.array([4, 4]), Fraction(1), bits) == 0


def test_scores_at_both_ends_of_int64_do_not_wrap():
    limits = np.iinfo(np.int64)
    scores = np.array([limits.min, limits.max])
    for choose in (exponential_choice, permute_and_flip):
        assert choose(scores, Fraction(1, 2), SeededBits(1)) == 1


def test_sixty_five_thousand_candidates_are_chosen_fairly():
    scores = np.zeros(2**16, np.int64)
    bits = SeededBits("many")
    halves = Counter(exponential_choice(scores, Fraction(1), bits) >> 15 for _ in range(2000))
    assert abs(halves[0] - 1000) < 6.2 * 22.4


def together(groups, rate, bits):
    """Runs (gap, length) of each group through the many-group version; which run of its group was chosen."""
    gaps, lengths = (np.array([run[part] for runs in groups for run in runs], np.int64) for part in (0, 1))
    starts = np.cumsum([0, *(len(runs) for runs in groups)])
    return (exponential_choices(gaps, lengths, starts, rate, bits) - starts[:-1]).tolist()


def alone(runs, rate, bits):
    """One group's candidates one by one through the single-choice version; which run the chosen one lies in."""
    laid_out = [(-gap, run) for run, (gap, length) in enumerate(runs) for _ in range(length)]
    return laid_out[exponential_choice(np.array([score for score, _ in laid_out]), rate, bits)][1]


runs_of_a_group = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=12).flatmap(
    lambda runs: st.integers(0, len(runs)).map(lambda at: [*runs[:at], (0, 1), *runs[at:]])
)
RATES = st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000)


@settings(max_examples=200)
@given(st.lists(runs_of_a_group, min_size=1, max_size=5), RATES, st.data())
def test_many_groups_are_decided_as_each_alone_word_for_word(groups, rate, data):
    """At every boundary between two runs, beside it, and anywhere; further bits of each group are zeros."""
    words = []
    for runs in groups:
        weights = np.array([length * float(exp_of(-rate * gap)) for gap, length in runs])
        end = data.draw(st.sampled_from((np.cumsum(weights) / weights.sum()).tolist()))
        nudge = data.draw(st.sampled_from([-(2**40), -(2**22), -1, 0, 1, 2**22, 2**40]))
        words.append(min(2**64 - 1, max(0, int(end * 2**64) + nudge)))
    zeros = [0] * 8 * len(groups)
    chosen = together(groups, rate, ScriptedBits(*words, *zeros))
    assert chosen == [alone(runs, rate, ScriptedBits(word, *zeros)) for runs, word in zip(groups, words, strict=True)]


def test_a_word_on_a_boundary_is_settled_in_integers_in_many_groups_too():
    halves = [[(0, 1), (0, 1)]] * 3
    bits = ScriptedBits(2**63, 2**63 - 1, 2**62, 5, 2**64 - 1)
    assert together(halves, Fraction(1), bits) == [1, 0, 0]
    assert bits.left == 0
    assert together([[(0, 1), (5, 0)]], Fraction(1), ScriptedBits(2**64 - 1, 0)) == [0]


def test_running_sums_that_wrap_around_change_nothing():
    """Each of the groups weighs almost 2**63, so that the sum over all of them wraps around many times."""
    groups = [[(0, 30_000), (group, 2_000), (1, group)] for group in range(200)]
    words = SeededBits("wrap").words(len(groups), 64).tolist()
    chosen = together(groups, Fraction(1, 7), ScriptedBits(*words))
    assert chosen == [alone(runs, Fraction(1, 7), ScriptedBits(word)) for runs, word in zip(groups, words, strict=True)]
    assert set(chosen) == {0, 1, 2}


def test_choices_in_many_groups_follow_their_law():
    groups = [[(3, 1), (0, 2), (1, 5)], [(0, 1), (1, 0), (9, 400)]]
    bits, rate = SeededBits("many groups"), Fraction(1, 2)
    drawn = [together(groups * 1000, rate, bits) for _ in range(20)]
    for of_group, runs in enumerate(groups):
        seen = Counter(run for chosen in drawn for run in chosen[of_group::2])
        weights = {run: length * exp_of(-rate * gap) for run, (gap, length) in enumerate(runs) if length}
        counts_are_fair(seen, normalised(weights))


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 1000])
def test_uniform_integers_are_uniform(bound):
    samples = uniform_below(bound, 10**5, SeededBits(bound))
    if bound == 1:
        assert not samples.any()
    else:
        samples_follow(samples, dict.fromkeys(range(bound), Fraction(1, bound)))


def test_words_that_would_favour_small_remainders_are_drawn_again():
    assert uniform_below(3, 1, ScriptedBits(2**64 - 1, 4))[0] == 1
    with pytest.raises(BadInput):
        uniform_below(0, 1, SeededBits(0))


def test_uniform_integers_below_bounds_of_their_own_are_uniform():
    bounds = np.tile([1, 2, 3, 10], 25_000)
    samples = uniform_below_each(bounds, SeededBits("bounds"))
    for offset, bound in enumerate((1, 2, 3, 10)):
        if bound > 1:
            samples_follow(samples[offset::4], dict.fromkeys(range(bound), Fraction(1, bound)))
    assert not samples[::4].any()
    assert uniform_below_each(np.array([3, 4]), ScriptedBits(2**64 - 1, 6, 4)).tolist() == [1, 2]


def test_binomial_counts_follow_their_law():
    p = Fraction(1, 3)
    law = {0: (1 - p) ** 3, 1: 3 * p * (1 - p) ** 2, 2: 3 * p**2 * (1 - p), 3: p**3}
    samples_follow(binomial(3, p, 10**5, SeededBits("binomial")), law)
