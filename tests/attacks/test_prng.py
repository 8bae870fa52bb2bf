"""Noise that can be foretold."""

import numpy as np
import pytest

from discreet.attacks.implementation.mersenne_twister import STATE_WORDS, clone_generator, untemper
from tests.attacks.promises import is_kept_within_the_bound, succeeds


def test_a_seed_from_the_clock_is_found_from_three_counts():
    found = succeeds("prng", at_least=1.0, epsilon=1)
    assert found.details["seeds found"] == 1


def test_624_words_of_a_mersenne_twister_are_its_future():
    found = succeeds("prng", against="mersenne", at_least=1.0, epsilon=1)
    assert found.details["noise predicted"] == 1


def test_a_twin_has_the_state_and_goes_on_with_a_thousand_words():
    twister = np.random.RandomState(7)
    words = twister.randint(0, 2**32, size=STATE_WORDS, dtype=np.uint32)
    assert np.array_equal(untemper(words), twister.get_state()[1])
    assert np.array_equal(clone_generator(words).randint(0, 2**32, size=1000), twister.randint(0, 2**32, size=1000))
    with pytest.raises(ValueError, match="623"):
        clone_generator(words[1:])


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_no_seed_explains_discreets_noise(epsilon):
    found = is_kept_within_the_bound("prng", epsilon=epsilon, seconds=1000)
    if epsilon < 10:
        assert found.details["answers that the best seed explains"] < 0.9
    else:
        assert found.success > 0.9
