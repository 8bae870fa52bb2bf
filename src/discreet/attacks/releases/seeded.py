"""Noise from generators for simulations: the seed or the state determines all noise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint32]


def seeded_noise(seed: int, *, scale: float, size: int) -> Floats:
    """Return the first noise of a program that starts with `numpy.random.seed(seed)`."""
    return np.random.RandomState(seed).laplace(0.0, scale, size)


class TimeSeeded:
    """Counts with Laplace noise from a generator seeded with the start time in seconds."""

    def __init__(self, *, started: int, scale: float) -> None:
        self._started, self._scale = started, scale

    def counts(self, exact: Floats) -> Floats:
        """Return all counts of one report."""
        return exact + seeded_noise(self._started, scale=self._scale, size=exact.size)


class OneTwister:
    """A service that uses one well-seeded Mersenne Twister both for ticket numbers and for noise."""

    def __init__(self, *, seed: int, scale: float) -> None:
        self._twister = np.random.RandomState(seed)
        self._scale = scale

    def tickets(self, many: int) -> Words:
        """Return 32-bit ticket numbers, each an output word of the generator."""
        return self._twister.randint(0, 2**32, size=many, dtype=np.uint32)

    def counts(self, exact: Floats) -> Floats:
        """Return counts with Laplace noise."""
        return exact + self._twister.laplace(0.0, self._scale, exact.size)
