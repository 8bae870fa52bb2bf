"""Exact uniform integers and binomial counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput
from discreet.noise.bits import RandomBits
from discreet.noise.coins import bernoulli


def uniform_below(bound: int, count: int, bits: RandomBits) -> NDArray[np.int64]:
    """`count` integers, each equally likely to be 0, 1, ..., bound - 1."""
    if not 1 <= bound <= 2**63:
        raise BadInput("The bound must be between 1 and 2**63.", next_step="Give a smaller bound.")
    whole_rounds = 2**64 - 2**64 % bound  # words from here on would favour the small remainders
    words = bits.words(count, 64)
    while (again := np.flatnonzero(words >= whole_rounds)).size:
        words[again] = bits.words(again.size, 64)
    return (words % np.uint64(bound)).astype(np.int64)


def binomial(trials: int, p: Fraction, count: int, bits: RandomBits) -> NDArray[np.int64]:
    """`count` numbers of heads in `trials` flips of an exact coin; the work is trials * count."""
    heads = np.zeros(count, np.int64)
    for _ in range(trials):
        heads += bernoulli(p, count, bits)
    return heads
