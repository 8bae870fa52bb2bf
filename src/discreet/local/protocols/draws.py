"""Randomness for many people at once: the three kinds of draw that a device makes, for arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import WORD
from discreet.noise import Probability, RandomBits, flip, uniform_below

Codes: TypeAlias = NDArray[Any]
Flags: TypeAlias = NDArray[np.bool_]

_LONG_VECTOR = 1 << 12


class Draws:
    """Fresh, secure randomness, vectorised. Every protocol uses only this, so that a test can enumerate all draws."""

    def __init__(self, bits: RandomBits | None = None) -> None:
        self._bits = bits or RandomBits()

    def chance(self, threshold: int, count: int) -> Flags:
        """Draw `count` coins that are True with probability threshold / 2**64, exactly.

        For long vectors, one byte per coin is compared with the threshold's first byte; a tie is decided by a second
        coin whose probability is the rest of the threshold.
        """
        if count < _LONG_VECTOR:
            return flip(Probability.rational(Fraction(threshold, WORD)), count, self._bits)
        first, rest = divmod(threshold, 1 << 56)
        words = self._bits.words(count, 8)
        heads = words < first
        ties = np.flatnonzero(words == first)
        heads[ties] = flip(Probability.rational(Fraction(rest, 1 << 56)), ties.size, self._bits)
        return heads

    def chance_each(self, thresholds: NDArray[np.uint64]) -> Flags:
        """Draw one coin for each threshold."""
        return np.asarray(self._bits.words(thresholds.size, 64) < thresholds.reshape(-1)).reshape(thresholds.shape)

    def below(self, bound: int, count: int) -> NDArray[np.int64]:
        """Draw `count` integers, each uniform on 0, 1, ..., bound - 1."""
        return uniform_below(bound, count, self._bits)
