"""Noise from generators that were made for simulations: whoever knows the seed, or the state, knows the noise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint32]


def seeded_noise(seed: int, *, scale: float, size: int) -> Floats:
    """What a program draws that began with `numpy.random.seed(seed)`."""
    return np.random.RandomState(seed).laplace(0.0, scale, size)


class TimeSeeded:
    """Counts with Laplace noise; the program seeded its generator with the second in which it was started."""

    def __init__(self, *, started: int, scale: float) -> None:
        self._started, self._scale = started, scale

    def counts(self, exact: Floats) -> Floats:
        """All counts of one report."""
        return exact + seeded_noise(self._started, scale=self._scale, size=exact.size)


class OneTwister:
    """A service with one Mersenne Twister, well seeded, for everything: numbers of tickets, and noise."""

    def __init__(self, *, seed: int, scale: float) -> None:
        self._twister = np.random.RandomState(seed)
        self._scale = scale

    def tickets(self, many: int) -> Words:
        """32-bit numbers, each a word of the generator as it came."""
        return self._twister.randint(0, 2**32, size=many, dtype=np.uint32)

    def counts(self, exact: Floats) -> Floats:
        """Counts with Laplace noise."""
        return exact + self._twister.laplace(0.0, self._scale, exact.size)
