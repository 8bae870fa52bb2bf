"""Randomness for many people: the coins of a device, one byte at a time."""

import numpy as np
import pytest

from discreet.local.device.client import WORD
from discreet.local.protocols.draws import Draws
from tests.support.sources import SeededBits


class Bytes(SeededBits):
    """Every byte equally often; then whatever was asked for as further words."""

    def __init__(self, *further):
        super().__init__("bytes")
        self._further = list(further)

    def words(self, count, width):
        if width == 8:
            return np.arange(count, dtype=np.uint8)
        return np.full(count, self._further.pop(0), {16: np.uint16, 64: np.uint64}[width])


@pytest.mark.parametrize("threshold", [0, 1, WORD // 3, WORD // 2, 3 * WORD // 4, WORD - 1, WORD])
def test_a_long_vector_has_the_share_of_heads_that_its_threshold_says(threshold):
    heads = Draws(SeededBits(threshold % 1000)).chance(threshold, 400_000).sum()
    expected, spread = 400_000 * threshold / WORD, 400_000 * (threshold / WORD) * (1 - threshold / WORD)
    assert abs(heads - expected) <= 6.5 * spread**0.5 + 1e-9


@pytest.mark.parametrize(
    ("further", "ties_are_heads"), [(0, True), (2**15 - 1, True), (2**15 + 1, False), (2**16 - 1, False)]
)
def test_a_byte_that_ties_is_settled_by_the_rest_of_the_threshold(further, ties_are_heads):
    """Threshold 100.5 / 256: bytes below 100 are heads, above tails; at 100 the next word decides at one half."""
    threshold = 100 * (1 << 56) + (1 << 55)
    bits = Bytes(further << 48 if 8192 // 256 < 1024 else further)
    heads = Draws(bits).chance(threshold, 8192).reshape(-1, 256)
    assert heads[:, :100].all()
    assert (heads[:, 100] == ties_are_heads).all()
    assert not heads[:, 101:].any()


def test_short_and_long_vectors_of_certain_coins_are_certain():
    for count in (10, 10_000):
        assert Draws(SeededBits(1)).chance(WORD, count).all()
        assert not Draws(SeededBits(1)).chance(0, count).any()


def test_a_coin_for_each_lane():
    thresholds = np.array([0, 2**63, 2**64 - 1], np.uint64).repeat(100_000)
    heads = Draws(SeededBits(2)).chance_each(thresholds).reshape(3, -1).mean(axis=1)
    assert heads[0] == 0
    assert heads[2] == 1
    assert abs(heads[1] - 0.5) < 6.5 * 0.5 / 100_000**0.5
