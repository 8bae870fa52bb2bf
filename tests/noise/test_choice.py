from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.noise import binomial, choice, exponential_choice, permute_and_flip, uniform_below
from tests.checks import counts_are_fair, samples_follow
from tests.laws import exponential_law, permute_and_flip_law
from tests.sources import ScriptedBits, SeededBits

SCORES = [[0, 1, 2, 3], [5, 5], [-3, 10, 9, 9], [7], [0, 0, 0, -1000]]


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize(
    ("choose", "law"), [(exponential_choice, exponential_law), (permute_and_flip, permute_and_flip_law)]
)
def test_choices_follow_their_law(choose, law, scores):
    if len(scores) == 1:
        assert choose(np.array(scores), Fraction(1, 2), SeededBits(0)) == 0
        return
    bits = SeededBits(f"choice{scores}")
    seen = Counter(choose(np.array(scores), Fraction(1, 2), bits) for _ in range(20_000))
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
    gaps = choice._gaps(np.array(scores))
    chosen = choice._invert_in_floats(choice._exponents(gaps, rate), word)
    exactly = choice._invert_in_integers(gaps, rate, word, SeededBits(word))
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


def test_binomial_counts_follow_their_law():
    p = Fraction(1, 3)
    law = {0: (1 - p) ** 3, 1: 3 * p * (1 - p) ** 2, 2: 3 * p**2 * (1 - p), 3: p**3}
    samples_follow(binomial(3, p, 10**5, SeededBits("binomial")), law)
