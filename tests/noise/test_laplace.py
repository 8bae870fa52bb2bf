from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ScaleOutOfRange
from discreet.noise import discrete_laplace, geometric, one_discrete_laplace
from discreet.noise import laplace_sampler as module
from tests.mutants.samplers import law_of_digits
from tests.support.checks import laws_agree, samples_follow
from tests.support.laws import BITS, exp_of, laplace_law, normalised
from tests.support.sources import ScriptedBits, SeededBits, UntouchableBits

SMALL_SCALES = [Fraction(1, 3), Fraction(1), Fraction(3, 2), Fraction(22, 7)]
SCALES = [*SMALL_SCALES, Fraction(10), Fraction(1, 5), Fraction(123457, 1000)]


@pytest.mark.parametrize("scale", SMALL_SCALES)
def test_the_law_of_the_code_is_the_law_of_the_theorem(scale):
    """Every combination of coins goes through the sampler's own code; each weighs what its coins weigh."""
    laws_agree(law_of_digits(discrete_laplace, scale), laplace_law(scale))


@pytest.mark.parametrize("scale", SMALL_SCALES)
def test_the_law_of_the_geometric_code_is_the_geometric_law(scale):
    q = exp_of(-1 / scale)
    weights, power = {}, Fraction(1)
    for k in range(400):
        weights[k], power = power, Fraction(int(power * q * 2**BITS), 2**BITS)
    laws_agree(law_of_digits(geometric, scale), normalised(weights))


@pytest.mark.parametrize("scale", SCALES)
def test_a_million_samples_follow_the_law(scale):
    samples_follow(discrete_laplace(scale, 10**6, SeededBits(f"laplace{scale}")), laplace_law(scale))


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10)])
def test_short_draws_follow_the_law_too(scale):
    bits = SeededBits(f"short{scale}")
    samples_follow(np.concatenate([discrete_laplace(scale, 500, bits) for _ in range(2000)]), laplace_law(scale))


@pytest.mark.parametrize("scale", [*SCALES, Fraction(2**56)])
@pytest.mark.parametrize("further", [0, 2**64 - 1])
def test_one_sample_is_what_the_vector_makes_of_the_same_words(scale, further):
    """Words below, on and above each coin's threshold; where one ties, the further bits are all 0 or all 1."""
    prefixes = module._digits(scale).prefixes
    choose = np.random.default_rng(int(scale.numerator))
    for _ in range(300):
        words = [
            min(2**64 - 1, max(0, prefix + int(choose.choice([-(2**40), -1, 0, 1, 2**40])))) for prefix in prefixes
        ]
        words[-1] = 2**64 - 1  # no flag
        twice = [word for word in words for _ in range(2)]
        rest = [further] * 200
        one = one_discrete_laplace(scale, ScriptedBits(*words, *rest))
        assert discrete_laplace(scale, 2, ScriptedBits(*twice, *rest)).tolist() == [one, one]
        assert discrete_laplace(scale, 1, ScriptedBits(*words, *rest)).tolist() == [one]


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10)])
def test_single_samples_follow_the_law_too(scale):
    bits = SeededBits(f"single{scale}")
    samples_follow(np.array([one_discrete_laplace(scale, bits) for _ in range(50_000)]), laplace_law(scale))


def test_wide_noise_has_the_right_spread():
    scale = 10**4
    samples = discrete_laplace(Fraction(scale), 10**6, SeededBits("wide"))
    # Beyond w lies 2 q^(w+1) / (1+q); six standard deviations of the binomial leave 1e-9.
    for width in (0, 100, 10**4, 5 * 10**4):
        chance = 2 * np.exp(-(width + 1) / scale) / (1 + np.exp(-1 / scale))
        seen = int((np.abs(samples) > width).sum())
        assert abs(seen - 10**6 * chance) < 6.2 * np.sqrt(10**6 * chance * (1 - chance))
    assert abs((samples < 0).mean() - 0.5) < 0.0032


@pytest.mark.parametrize("sign", [0, 2**64 - 1])
def test_a_flagged_sample_starts_afresh_beyond_the_digits(sign):
    scale = Fraction(1)
    digits = module._digits(scale)
    # For this scale: sign, six digits, flag. The flag's threshold is 0, so word 0 ties and the next words settle it.
    assert digits.count == 6
    quiet = 2**64 - 1
    flag_settled = [0]
    rest = [quiet, quiet, 0, quiet, quiet, quiet, quiet, quiet]  # a fresh draw: digit 1 is set, no flag
    bits = ScriptedBits(2**64 - 1 - sign, *[quiet] * 6, 0, *flag_settled, *rest)
    magnitude = 2**6 + 2
    assert discrete_laplace(scale, 1, bits)[0] == (magnitude if sign == 0 else ~magnitude)
    assert bits.left == 0


def test_a_sample_beyond_64_bits_comes_as_a_python_int():
    scale = module.LARGEST_SCALE
    digits = module._digits(scale)
    assert digits.count == 62
    heads = [0] * 62
    quiet = 2**64 - 1
    tie = [digits.coins[-1].prefix(64)]
    settled = [0]
    bits = ScriptedBits(quiet, *heads, *tie, *settled, quiet, *heads, *tie, *settled, quiet, *[quiet] * 62, quiet)
    sample = discrete_laplace(scale, 1, bits)
    assert sample.dtype == object
    assert sample[0] == 2**62 + 2**62


@pytest.mark.parametrize("scale", [Fraction(1, 2**41), Fraction(2**57)])
def test_scales_that_cannot_be_sampled_exactly_are_refused_before_anything_is_drawn(scale):
    with pytest.raises(ScaleOutOfRange):
        discrete_laplace(scale, 1, UntouchableBits())


def test_every_sample_costs_the_same_number_of_random_words():
    """Nothing is rejected and no digit is skipped, so the work does not depend on the value."""

    class Counting(SeededBits):
        drawn = 0

        def words(self, count, width):
            self.drawn += count
            return super().words(count, width)

    bits = Counting("work")
    values = {}
    for _ in range(200):
        before = bits.drawn
        value = int(discrete_laplace(Fraction(10), 1, bits)[0])
        values[value] = bits.drawn - before
    assert len(values) > 20
    assert set(values.values()) == {len(module._digits(Fraction(10)).coins)}
