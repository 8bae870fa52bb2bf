from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet
from discreet.errors import BadGranularity
from discreet.mechanisms import Grid
from tests.mutants.grids import distances_are_kept
from tests.support.checks import granularity_tells_nothing, lowest_bits

reals = st.floats(min_value=-1e9, max_value=1e9)


@given(reals, reals)
@example(0.49999999999999994, -0.5)
@example(0.5, 1.5)
@example(-0.5, 0.5)
def test_rounding_onto_the_grid_stretches_no_distance(a, b):
    distances_are_kept(lambda value: Grid.given(1).onto(value), a, b)
    distances_are_kept(lambda value: int(Grid.given(1).array_onto(np.array([value]))[0]), a, b)


@given(reals, st.integers(-20, 20))
def test_arrays_are_rounded_as_scalars_are(value, exponent):
    grid = Grid.given(Fraction(2) ** exponent)
    assert grid.array_onto(np.array([value]))[0] == grid.onto(value)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-70, 70))
@example(2**63 - 1, 1)
@example(-(2**63), 64)
@example(-1, -63)
def test_integers_are_rounded_exactly_and_clamped(value, exponent):
    grid = Grid.given(Fraction(2) ** exponent)
    farthest = 2**62 if exponent <= 0 else 2**63
    assert grid.array_onto(np.array([value]))[0] == min(max(grid.onto(value), -farthest), farthest)


@given(st.integers(-(2**53), 2**53), st.integers(-900, 900))
def test_coming_back_from_the_grid_is_exact(steps, exponent):
    grid = Grid.given(Fraction(2) ** exponent)
    assert Fraction(grid.back(steps)) == steps * grid.step
    assert grid.array_back(np.array([steps]))[0] == grid.back(steps)


def test_what_is_too_large_for_a_float_is_clamped_and_not_infinite():
    assert Grid.given(Fraction(2) ** 1000).back(2**62) == np.finfo(np.float64).max
    assert Grid.given(Fraction(2) ** 1000).back(-(2**62)) == -np.finfo(np.float64).max


@pytest.mark.parametrize("granularity", [0, -1, 3, 0.1, float("nan"), float("inf"), None, "1", True])
def test_a_granularity_that_is_no_power_of_two_is_refused(granularity):
    with pytest.raises(BadGranularity):
        Grid.given(granularity)


def test_the_default_grid_follows_from_public_facts_alone():
    for value in (0.0, 1.0, 1e9, -3.7):
        released = lowest_bits(discreet.laplace(np.full(4000, value), sensitivity=1e4, epsilon=1.0))
        # sensitivity 1e4, 4000 roundings: 2**floor(log2(1e4 / 256 / 4000)) = 2**-7
        assert released.min() == -7


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_low_bits_of_laplace_do_not_tell_zero_from_one(epsilon):
    def release(value, count):
        return discreet.laplace(np.full(count, value), sensitivity=count, epsilon=count * epsilon, granularity=2**-10)

    granularity_tells_nothing(release, epsilon)
    zeros, ones = (set(lowest_bits(release(value, 10**5)).tolist()) for value in (0.0, 1.0))
    assert {e for e in zeros if e < -3} == {e for e in ones if e < -3} == set(range(-10, -3))


def test_low_bits_of_gauss_do_not_tell_zero_from_one():
    def release(value, count):
        return discreet.gaussian(np.full(count, value), sensitivity=1, rho=0.01, granularity=2**-10)

    granularity_tells_nothing(release, 1.0)
