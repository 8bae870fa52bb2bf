"""Hadamard response."""

import math

import numpy as np
import pytest

from discreet.local.protocols import protocol_for
from discreet.local.protocols.draws import Draws
from discreet.local.protocols.hadamard_response import walsh_hadamard
from tests.local.cases import randomizer_for
from tests.support.sources import SeededBits

SHAPES = [(1, 2), (1, 8), (2, 4), (3, 8), (4, 16)]


def response(blocks, columns, epsilon="1", size=None):
    size = size or blocks * (columns - 1)
    return protocol_for(randomizer_for("hadamard", epsilon, {"size": size, "blocks": blocks, "columns": columns}))


@pytest.mark.parametrize("columns", [1, 2, 4, 64, 1024])
@pytest.mark.parametrize("large", [1, 2**40])
def test_the_transform_is_the_product_with_the_matrix(columns, large):
    rows = SeededBits("rows").words(3 * columns, 8).astype(np.int64).reshape(3, columns) * large - 77
    at = np.arange(columns)
    matrix = 1 - 2 * (np.bitwise_count(at[:, None] & at).astype(np.int64) % 2)
    np.testing.assert_array_equal(walsh_hadamard(rows), rows @ matrix)


def test_transforming_many_rows_is_transforming_each():
    rows = SeededBits("many").words(5000 * 16, 16).astype(np.int64).reshape(5000, 16)
    whole = walsh_hadamard(rows)
    np.testing.assert_array_equal(whole[4321], walsh_hadamard(rows[4321:4322])[0])
    np.testing.assert_array_equal(walsh_hadamard(whole), rows * 16)


@pytest.mark.parametrize(("blocks", "columns"), SHAPES)
def test_the_estimate_compares_the_halves_of_the_block(blocks, columns):
    """f = (2 C - N) Z / (s (e^ε - 1)), with Z = e^ε s + outputs - s and s = columns / 2."""
    twin, size = response(blocks, columns), blocks * (columns - 1)
    tally = SeededBits("tally").words(blocks * columns, 8).astype(np.int64)
    half = columns // 2
    scale = (math.e * half + blocks * columns - half) / (half * (math.e - 1))
    for code in range(size):
        block, row = divmod(code, columns - 1)
        part = tally[block * columns : (block + 1) * columns]
        agree = sum(int(part[column]) for column in range(columns) if (column & row + 1).bit_count() % 2 == 0)
        estimate = twin.estimate(tally, int(tally.sum()), np.array([code]))[0]
        assert estimate == pytest.approx((2 * agree - int(part.sum())) * scale, rel=1e-12)


def test_a_value_in_a_crowded_block_is_noisier():
    twin = response(2, 8)
    codes = np.arange(14)
    lonely, crowded = np.zeros(14), np.zeros(14)
    lonely[7], crowded[1] = 1000, 1000
    assert twin.variance(lonely, 1000, codes)[0] < twin.variance(crowded, 1000, codes)[0]


def test_values_that_are_not_listed_count_as_spread():
    twin = response(2, 8)
    listed = twin.variance(np.zeros(3), 1400, np.array([0, 1, 8]))
    spread = np.zeros(14)
    spread[[2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13]] = 1400 / 11
    np.testing.assert_allclose(listed, twin.variance(spread, 1400, np.arange(14))[[0, 1, 8]])


@pytest.mark.parametrize(("blocks", "columns"), SHAPES)
def test_codes_may_be_asked_for_in_any_order(blocks, columns):
    twin, size = response(blocks, columns), blocks * (columns - 1)
    codes = np.arange(1000) % size
    tally = twin.tally(twin.encode(codes, Draws(SeededBits("order")), slots=codes))
    everything = np.arange(size)
    np.testing.assert_array_equal(
        twin.estimate(tally, 1000, everything[::-1]), twin.estimate(tally, 1000, everything)[::-1]
    )
    assert (twin.estimated_variance(tally, 1000, everything) >= 0).all()


def test_one_block_is_as_good_as_one_bit():
    """Per report, (e^ε + 1)² / (e^ε - 1)² for a value that nobody has."""
    variance = response(1, 16).variance(np.array([0.0]), 1, np.array([3]))[0]
    assert variance == pytest.approx((math.e + 1) ** 2 / (math.e - 1) ** 2, rel=1e-12)
