"""A sampler whose time depends on what it draws: the textbook loop that tosses a coin until it fails."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Timed(NamedTuple):
    """An answer, and how many times the sampler tossed a coin before it came."""

    answer: int
    tosses: int


class LoopGeometric:
    """A count plus two-sided geometric noise, P(z) proportional to exp(-epsilon |z|): exact, slow for large noise."""

    def __init__(self, *, epsilon: float, rng: np.random.Generator) -> None:
        self._going_on, self._rng = math.exp(-epsilon), rng

    def count(self, value: int) -> Timed:
        """The noise is 0, or it is 1 and one more for each toss that goes on, up or down."""
        if self._rng.random() < (1 - self._going_on) / (1 + self._going_on):
            return Timed(value, 1)
        size, up = 1, self._rng.random() < 0.5
        while self._rng.random() < self._going_on:
            size += 1
        return Timed(value + size if up else value - size, size + 2)
