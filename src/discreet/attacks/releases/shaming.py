"""Mechanisms that are private in total variation only: they publish each person's row with a small probability."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class RandomRow:
    """Publish one row at random: replacing one of n people changes the output with probability 1/n."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def publish(self, rows: Ints) -> Ints:
        """Return one row."""
        return self._rng.choice(rows, 1)


class NameAndShame:
    """Publish each row independently with probability delta: delta-private in total variation for each person."""

    def __init__(self, *, delta: float, rng: np.random.Generator) -> None:
        self._delta, self._rng = delta, rng

    def publish(self, rows: Ints) -> Ints:
        """Return the published rows, possibly none."""
        return rows[self._rng.random(rows.size) < self._delta]
