"""Unary encodings."""

import math

import numpy as np
import pytest

from discreet.local.protocols import protocol_for
from discreet.local.protocols.draws import Draws
from tests.local.cases import randomizer_for
from tests.local.laws import numbers_of, reports_of


class EveryThird(Draws):
    """Coins that show heads at every third place."""

    def chance(self, threshold, count):
        return np.arange(count) % 3 == 0


@pytest.mark.parametrize("size", [5, 8, 62, 63, 64, 65, 72, 100])
def test_the_first_bit_is_that_of_the_first_value(size):
    twin = protocol_for(randomizer_for("oue", "1", {"size": size}))
    codes = np.array([0, size - 1, 2])
    reports = twin.encode(codes, EveryThird(), slots=codes)
    expected = []
    for person, code in enumerate(codes.tolist()):
        bits = [(person * size + value) % 3 == 0 for value in range(size)]
        bits[code] = person % 3 == 0
        expected.append(int("".join(str(int(bit)) for bit in bits), 2))
    assert numbers_of(twin, reports) == tuple(expected)
    np.testing.assert_array_equal(reports, reports_of(twin, expected))
    ones = [sum(number >> size - 1 - value & 1 for number in expected) for value in range(size)]
    assert twin.tally(reports).tolist() == ones


def test_oue_keeps_half_of_the_ones_and_most_of_the_zeros():
    p, q = protocol_for(randomizer_for("oue", "2", {"size": 9})).chances
    assert p == 0.5
    assert float(q) == pytest.approx(1 / (math.exp(2) + 1), rel=1e-12)


def test_sue_flips_ones_and_zeros_alike():
    p, q = protocol_for(randomizer_for("sue", "2", {"size": 9})).chances
    assert p + q == 1
    assert float(p) == pytest.approx(math.e / (math.e + 1), rel=1e-12)


def test_a_made_up_report_counts_as_much_as_the_literature_says():
    """With epsilon 1, 3.16; with epsilon 4, 2.04 (of a value that few have)."""
    for epsilon, influence in (("1", 3.16), ("4", 2.04)):
        assert protocol_for(randomizer_for("oue", epsilon, {"size": 9})).influence == pytest.approx(
            influence, abs=0.005
        )
