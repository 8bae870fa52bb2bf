"""Every check passes on the real thing and fails on its broken twin: a check that cannot fail is no check."""

from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet.mechanisms import Grid, Laplace, PartitionSelection
from discreet.noise import Probability, RandomBits, discrete_gaussian, discrete_laplace, flip
from tests.mutants import coins, grids, partitions, samplers, selection
from tests.support.checks import (
    children_share_no_noise,
    granularity_tells_nothing,
    laws_agree,
    ratio_within,
    samples_follow,
)
from tests.support.laws import gaussian_law, laplace_law
from tests.support.sources import SeededBits


def caught(check, *arguments):
    with pytest.raises(AssertionError):
        check(*arguments)


@pytest.mark.parametrize("mutant", [coins.threshold_off_by_one, coins.ties_ignored])
def test_a_threshold_that_is_one_off_is_caught(mutant):
    p = Probability.logistic_minus(Fraction(1))
    coins.flips_are_exact(flip, p)
    caught(coins.flips_are_exact, mutant, p)


@pytest.mark.parametrize(
    "mutant", [samplers.narrower_laplace, samplers.laplace_with_sign_bias, samplers.laplace_with_two_zeros]
)
def test_laplace_noise_that_is_too_narrow_or_lopsided_is_caught(mutant):
    scale = Fraction(10)

    def follows(sampler):
        samples_follow(sampler(scale, 10**6, SeededBits("mutant")), laplace_law(scale))

    follows(discrete_laplace)
    caught(follows, mutant)


def test_a_scale_times_nine_tenths_is_caught_by_the_exact_ratio_too():
    mechanism = Laplace(sensitivity=1, epsilon=0.5)
    ratio_within(laplace_law(mechanism.scale, 0), laplace_law(mechanism.scale, 1), 0.5)
    narrower = mechanism.scale * Fraction(9, 10)
    caught(ratio_within, laplace_law(narrower, 0), laplace_law(narrower, 1), 0.5)


def test_the_exact_law_catches_a_scale_times_nine_tenths():
    scale = Fraction(1)
    laws_agree(samplers.law_of_digits(discrete_laplace, scale), laplace_law(scale))
    caught(laws_agree, samplers.law_of_digits(discrete_laplace, scale * Fraction(9, 10)), laplace_law(scale))


@pytest.mark.parametrize("mutant", [samplers.narrower_gaussian, samplers.gaussian_without_rejection])
def test_gaussian_noise_of_another_shape_is_caught(mutant):
    variance = Fraction(25)

    def follows(sampler):
        samples_follow(sampler(variance, 10**6, SeededBits("mutant")), gaussian_law(variance))

    follows(discrete_gaussian)
    caught(follows, mutant)


@pytest.mark.parametrize("mutant", [samplers.ReusedKey, samplers.ReusedSeed])
def test_reuse_of_a_seed_after_a_fork_is_caught(mutant):
    children_share_no_noise(RandomBits)
    caught(children_share_no_noise, mutant)


@pytest.mark.parametrize("mutant", [partitions.one_person_early, partitions.one_person_skipped])
def test_a_selection_table_that_is_one_off_is_caught(mutant):
    chances = PartitionSelection(epsilon=1, delta=1e-3).keep_table.chances
    partitions.table_is_private(chances, 1, 1e-3)
    caught(partitions.table_is_private, mutant(chances), 1, 1e-3)


@pytest.mark.parametrize("law", [selection.exponential, selection.permute_and_flip, selection.noisy_max])
def test_a_selection_with_half_the_noise_is_caught(law):
    ratio_within(law(selection.HERE), law(selection.THERE), selection.EPSILON)
    caught(ratio_within, law(selection.HERE, factor=2), law(selection.THERE, factor=2), selection.EPSILON)


def test_rounding_half_to_even_is_caught():
    grids.distances_are_kept(Grid.given(1).onto, 0.5, 1.5)
    caught(grids.distances_are_kept, grids.half_to_even, 0.5, 1.5)


def test_noise_added_in_floating_point_is_caught():
    def ours(value, count):
        return discreet.laplace(np.full(count, value), sensitivity=count, epsilon=count, granularity=2**-10)

    granularity_tells_nothing(ours, 1.0)
    caught(granularity_tells_nothing, grids.float_laplace, 1.0)
