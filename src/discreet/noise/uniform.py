"""Exact uniform integers and binomial counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput
from discreet.noise.coins import bernoulli
from discreet.noise.random_bits import RandomBits

_LONG_VECTOR = 1024


def uniform_below(bound: int, count: int, bits: RandomBits) -> NDArray[np.int64]:
    """`count` integers, each equally likely to be 0, 1, ..., bound - 1."""
    if not 1 <= bound <= 2**63:
        raise BadInput("The bound must be between 1 and 2**63.", next_step="Give a smaller bound.")
    if count >= _LONG_VECTOR and bound <= 2**32:
        return _from_short_words(bound, count, bits)
    whole_rounds = 2**64 - 2**64 % bound  # words from here on would favour the small remainders
    words = bits.words(count, 64)
    while (again := np.flatnonzero(words >= whole_rounds)).size:
        words[again] = bits.words(again.size, 64)
    return (words % np.uint64(bound)).astype(np.int64)


def uniform_below_each(bounds: NDArray[np.int64], bits: RandomBits) -> NDArray[np.int64]:
    """For each of the given bounds, all at least 1, an integer equally likely to be 0, 1, ..., bound - 1."""
    limits = bounds.astype(np.uint64)
    whole_rounds = np.uint64(2**64 - 1) // limits * limits  # at most one round fewer than there are, all of them whole
    words = bits.words(bounds.size, 64)
    while (again := np.flatnonzero(words >= whole_rounds)).size:
        words[again] = bits.words(again.size, 64)
    return (words % limits).astype(np.int64)


def _from_short_words(bound: int, count: int, bits: RandomBits) -> NDArray[np.int64]:
    """The upper half of word * bound, for 32-bit words; those whose lower half would favour some are drawn again.

    Each result r is hit by the words with r 2**32 <= word * bound < (r + 1) 2**32; those whose lower half is at least
    2**32 mod bound are floor(2**32 / bound) for every r (Lemire 2019, arXiv:1805.10941).
    """
    scaled = bits.words(count, 32).astype(np.uint64) * np.uint64(bound)
    too_many = np.uint32(2**32 % bound)
    while (again := np.flatnonzero(scaled.astype(np.uint32) < too_many)).size:
        scaled[again] = bits.words(again.size, 32).astype(np.uint64) * np.uint64(bound)
    return (scaled >> np.uint64(32)).astype(np.int64)


def binomial(trials: int, p: Fraction, count: int, bits: RandomBits) -> NDArray[np.int64]:
    """`count` numbers of heads in `trials` flips of an exact coin; the work is trials * count."""
    heads = np.zeros(count, np.int64)
    for _ in range(trials):
        heads += bernoulli(p, count, bits)
    return heads
