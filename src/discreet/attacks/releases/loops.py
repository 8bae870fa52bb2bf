"""A sampler whose time depends on what it draws: the textbook loop that flips a coin until it fails."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Timed(NamedTuple):
    """An answer, and the number of coin flips that it took."""

    answer: int
    tosses: int


class LoopGeometric:
    """A count plus two-sided geometric noise, P(z) proportional to exp(-epsilon |z|): exact, slow for large noise."""

    def __init__(self, *, epsilon: float, rng: np.random.Generator) -> None:
        self._going_on, self._rng = math.exp(-epsilon), rng

    def count(self, value: int) -> Timed:
        """Return a noisy count: the noise is 0, or its size is 1 plus the successful flips, with random sign."""
        if self._rng.random() < (1 - self._going_on) / (1 + self._going_on):
            return Timed(value, 1)
        size, up = 1, self._rng.random() < 0.5
        while self._rng.random() < self._going_on:
            size += 1
        return Timed(value + size if up else value - size, size + 2)
