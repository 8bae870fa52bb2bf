"""Randomness for tests: a seeded twin of RandomBits, one that plays a script, and one that must not be touched."""

from __future__ import annotations

import hashlib

import numpy as np

from discreet.noise import RandomBits


class SeededBits(RandomBits):
    """The same stream for the same seed. It lives here only; the package cannot reach it."""

    def __init__(self, seed: int | str) -> None:
        self._seed = seed
        super().__init__()

    def _fresh_key(self) -> bytes:
        return hashlib.sha512(str(self._seed).encode()).digest()[:48]


class ScriptedBits(RandomBits):
    """Plays the given words in order, whatever width is asked for."""

    def __init__(self, *words: int) -> None:
        super().__init__()
        self._script = list(words)

    def words(self, count, width):
        played, self._script = self._script[:count], self._script[count:]
        assert len(played) == count, "the script is too short"
        return np.array(played, {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[width])

    @property
    def left(self) -> int:
        return len(self._script)


class UntouchableBits(RandomBits):
    """Fails the test when anything is drawn."""

    def words(self, count, width):
        raise AssertionError("randomness was drawn")
