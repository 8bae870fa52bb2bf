import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ScaleOutOfRange
from discreet.noise import discrete_gaussian
from discreet.noise import gaussian_sampler as module
from tests.support.checks import samples_follow
from tests.support.laws import gaussian_law
from tests.support.sources import SeededBits, UntouchableBits

VARIANCES = [Fraction(1, 20), Fraction(1), Fraction(7, 3), Fraction(100), Fraction(99999, 10)]


@pytest.mark.parametrize("variance", VARIANCES)
def test_a_million_samples_follow_the_law(variance):
    samples_follow(discrete_gaussian(variance, 10**6, SeededBits(f"gauss{variance}")), gaussian_law(variance))


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(100)])
def test_short_draws_follow_the_law_too(variance):
    bits = SeededBits(f"short{variance}")
    samples_follow(
        np.concatenate([discrete_gaussian(variance, 200, bits) for _ in range(2000)]), gaussian_law(variance)
    )


@pytest.mark.parametrize("variance", VARIANCES)
def test_proposal_times_acceptance_is_proportional_to_the_law_exactly(variance):
    """|y|/t + (|y| - v/t)^2/(2v) - y^2/(2v) is the same rational for every y; so is what the sampler is handed."""
    t = math.isqrt(int(variance)) + 1
    seen = []

    def capture(approximate, exactly, bits):
        seen.extend(exactly(lane) for lane in range(len(approximate)))
        for lane, x in enumerate(approximate):
            assert abs(Fraction(float(x)) - seen[lane]) <= Fraction(1, 2**44) or x > 64
        return np.ones(len(approximate), bool)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "flip_each_exp_minus", capture)
        proposed = module._accepted(variance, 1000, SeededBits("identity"))
    assert len(set(proposed.tolist())) > 1
    constants = {
        Fraction(abs(y), t) + exponent - Fraction(y * y) / (2 * variance)
        for y, exponent in zip(proposed.tolist(), seen, strict=True)
    }
    assert constants == {variance / (2 * t * t)}


def test_wide_noise_has_the_right_spread():
    sigma = 10**4
    samples = discrete_gaussian(Fraction(sigma**2), 10**6, SeededBits("wide"))
    for width in (100, 10**4, 3 * 10**4):
        chance = math.erfc((width + 0.5) / sigma / math.sqrt(2))
        seen = int((np.abs(samples) > width).sum())
        assert abs(seen - 10**6 * chance) < 6.2 * math.sqrt(10**6 * chance * (1 - chance))


def test_the_widest_noise_is_still_drawn():
    samples = discrete_gaussian(module.LARGEST_VARIANCE, 2000, SeededBits("widest"))
    assert abs(np.std(samples.astype(float)) / 2.0**55 - 1) < 0.1


@pytest.mark.parametrize("variance", [Fraction(1, 2**41), Fraction(2**111)])
def test_variances_that_cannot_be_sampled_exactly_are_refused_before_anything_is_drawn(variance):
    with pytest.raises(ScaleOutOfRange):
        discrete_gaussian(variance, 1, UntouchableBits())
