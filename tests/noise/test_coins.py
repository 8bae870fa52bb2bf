import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BadProbability
from discreet.noise import Probability, bernoulli, bernoulli_exp, flip
from discreet.noise.coins import flip_each_exp_minus
from discreet.noise.exp_bounds import exp_minus, exp_minus_doubled
from discreet.noise.float_exp import LARGEST_EXPONENT, RELATIVE_ERROR, exp_minus_float
from tests.mutants.coins import flips_are_exact
from tests.support.checks import samples_follow
from tests.support.laws import exp_of
from tests.support.sources import ScriptedBits, SeededBits

rationals = st.fractions(min_value=0, max_value=200, max_denominator=10**9)


@given(rationals, st.integers(min_value=1, max_value=300))
def test_the_enclosure_of_exp_holds_the_truth_and_is_narrow(x, bits):
    low, high = exp_minus(x, bits)
    finer_low, finer_high = exp_minus(x, bits + 200)
    assert low << 200 <= finer_low <= finer_high <= high << 200
    assert high - low <= 2


@given(st.integers(min_value=0, max_value=60))
def test_the_enclosure_agrees_with_the_library_where_the_library_is_known_to_be_good(k):
    low, high = exp_minus(Fraction(k), 80)
    assert low / 2**80 <= math.exp(-k) * (1 + 1e-15)
    assert high / 2**80 >= math.exp(-k) * (1 - 1e-15)


@given(st.floats(min_value=0, max_value=LARGEST_EXPONENT))
def test_the_float_exp_keeps_its_proven_error(a):
    approximate = Fraction(float(exp_minus_float(np.array([a]))[0]))
    truth = exp_of(-Fraction(a))
    assert abs(approximate / truth - 1) <= RELATIVE_ERROR / 4


def test_the_float_exp_is_an_upper_bound_beyond_its_range():
    assert exp_minus_float(np.array([65.0, 1e300]))[0] >= math.exp(-65)


PROBABILITIES = {
    "1/3": Probability.rational(Fraction(1, 3)),
    "1/2": Probability.rational(Fraction(1, 2)),
    "0": Probability.rational(Fraction(0)),
    "1": Probability.rational(Fraction(1)),
    "exp(-1)": Probability.exp_minus(Fraction(1)),
    "exp(-40)": Probability.exp_minus(Fraction(40)),
    "1/(1+e)": Probability.logistic_minus(Fraction(1)),
    "3/(3+e^2)": Probability.logistic_minus(Fraction(2), weight=3),
}


@pytest.mark.parametrize("name", PROBABILITIES)
def test_every_16_bit_word_is_decided_as_the_probability_says(name):
    flips_are_exact(flip, PROBABILITIES[name])


def test_a_tie_is_settled_by_as_many_bits_as_it_takes():
    p = Probability.exp_minus(Fraction(1))
    mask = 2**64 - 1
    tied = [p.prefix(64), p.prefix(128) & mask, p.prefix(192) & mask]
    for last, heads in ((p.prefix(256) & mask) - 1, True), ((p.prefix(256) & mask) + 1, False):
        bits = ScriptedBits(*tied, last)
        assert flip(p, 1, bits)[0] == heads
        assert bits.left == 0


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 7), Fraction(3), Fraction(40)])
def test_a_prefix_read_off_a_longer_one_is_the_same(x):
    from_longer = Probability.exp_minus(x)
    from_longer.prefix(64)
    assert [from_longer.prefix(width) for width in (16, 3, 1)] == [
        Probability.exp_minus(x).prefix(width) for width in (16, 3, 1)
    ]


def test_prefixes_are_floors():
    assert Probability.rational(Fraction(1, 3)).prefix(16) == 21845
    assert Probability.rational(Fraction(1, 2)).prefix(3) == 4
    assert Probability.exp_minus(Fraction(0)).prefix(8) == 256
    assert Probability.exp_minus(Fraction(1)).prefix(64) == int(exp_of(Fraction(-1)) * 2**64)


@pytest.mark.parametrize("x", [Fraction(1, 10), Fraction(1), Fraction(7, 2)])
def test_a_million_coins_fall_as_often_as_they_should(x):
    chance = exp_of(-x)
    heads = bernoulli_exp(x, 10**6, SeededBits(f"exp{x}")).astype(int)
    samples_follow(heads, {0: 1 - chance, 1: chance})
    p = Fraction(1, 3) / (1 + x)
    samples_follow(bernoulli(p, 10**6, SeededBits(f"p{x}")).astype(int), {0: 1 - p, 1: p})


@pytest.mark.parametrize("count", [100, 10**5])
def test_coins_of_different_probabilities_each_keep_their_own(count):
    exponents = [Fraction(0), Fraction(1, 1000), Fraction(1), Fraction(5), Fraction(100)]
    lanes = np.arange(count) % len(exponents)
    approximate = np.array([float(x) for x in exponents])[lanes]
    heads = np.zeros(len(exponents))
    rounds = 10**6 // count
    bits = SeededBits("each")
    for _ in range(rounds):
        heads += np.bincount(
            lanes, flip_each_exp_minus(approximate, lambda lane: exponents[lanes[lane]], bits), len(exponents)
        )
    per_lane = rounds * count // len(exponents)
    for x, seen in zip(exponents, heads, strict=True):
        chance = float(exp_of(-x))
        assert abs(seen - per_lane * chance) <= 6.2 * math.sqrt(per_lane * chance * (1 - chance)) + 1e-9


@pytest.mark.parametrize("word_above", [False, True])
def test_inside_the_float_band_exact_arithmetic_decides(word_above):
    x = Fraction(1)
    threshold = Probability.exp_minus(x).prefix(64)
    word = threshold + 1 if word_above else threshold - 1
    # The float alone could not tell these words apart: they are one unit in 2**64 from the threshold.
    heads = flip_each_exp_minus(np.array([1.0]), lambda _: x, ScriptedBits(word))
    assert heads[0] == (not word_above)


def test_a_certain_coin_always_shows_heads():
    assert bernoulli_exp(Fraction(0), 10**5, SeededBits(0)).all()
    assert not bernoulli(Fraction(0), 10**5, SeededBits(0)).any()


def test_probabilities_out_of_range_are_refused():
    bits = SeededBits(0)
    for p in (Fraction(-1, 2), Fraction(3, 2), float("nan")):
        with pytest.raises(BadProbability):
            bernoulli(p, 1, bits)
    with pytest.raises(BadProbability):
        bernoulli_exp(Fraction(-1), 1, bits)


@pytest.mark.parametrize("scale", [Fraction(1, 2**40), Fraction(1, 3), Fraction(7), Fraction(1000, 3), Fraction(2**56)])
def test_coins_whose_exponents_double_are_the_same_as_each_by_itself(scale):
    together = Probability.logistics_minus(1 / scale, doublings=20)
    apart = [Probability.logistic_minus(2**times / scale) for times in range(21)]
    for width in (16, 64, 128):
        assert [coin.prefix(width) for coin in together] == [coin.prefix(width) for coin in apart]


def test_bounds_of_doubled_exponents_enclose_them():
    for times, (low, high) in enumerate(exp_minus_doubled(Fraction(1, 1000), 16, 96)):
        finer_low, finer_high = exp_minus(Fraction(2**times, 1000), 300)
        assert low << 204 <= finer_low
        assert finer_high <= high << 204
        assert high - low <= 2
