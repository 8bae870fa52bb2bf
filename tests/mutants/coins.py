"""A coin whose threshold is one off: too small a bias for any statistical test, so the check counts words instead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.noise import Probability, RandomBits


class EveryWord(RandomBits):
    """First every 16-bit word once, then one given 64-bit word for every tie."""

    def __init__(self, settling_word: int) -> None:
        super().__init__()
        self._settling_word = settling_word

    def words(self, count, width):
        if width == 16:
            assert count == 2**16
            return np.arange(2**16).astype(np.uint16)
        return np.full(count, self._settling_word, np.uint64)


def flips_are_exact(flip: Callable[..., np.ndarray], p: Probability) -> None:
    """Over all 16-bit words: heads below the prefix, tails above it; at the prefix, as the next bits say."""
    prefix, next_bits = p.prefix(16), p.prefix(80) - (p.prefix(16) << 64)
    for settling_word in (0, 2**64 - 1):
        if settling_word == next_bits:
            continue  # a tie again, for ever: the script has no further word
        heads = flip(p, 2**16, EveryWord(settling_word))
        assert int(heads.sum()) == prefix + (prefix < 2**16 and settling_word < next_bits)
        assert heads[:prefix].all(), "a word below the prefix must be heads"


def threshold_off_by_one(p: Probability, count: int, bits: RandomBits) -> np.ndarray:
    """`<=` where `<` is right: heads 2**-16 too often."""
    return bits.words(count, 16) <= p.prefix(16)


def ties_ignored(p: Probability, count: int, bits: RandomBits) -> np.ndarray:
    """A tie counts as tails: the prototype's gap."""
    return bits.words(count, 16) < p.prefix(16)
