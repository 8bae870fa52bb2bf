"""Private by total variation only: every person is named with a probability so small that nobody could object."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class RandomRow:
    """Publishes one row, whose it is left to chance: for each of n people, the output changes with probability 1/n."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def publish(self, rows: Ints) -> Ints:
        """One of them."""
        return self._rng.choice(rows, 1)


class NameAndShame:
    """Publishes each row with probability delta, for itself: delta-private in total variation, for everybody."""

    def __init__(self, *, delta: float, rng: np.random.Generator) -> None:
        self._delta, self._rng = delta, rng

    def publish(self, rows: Ints) -> Ints:
        """Some, or none."""
        return rows[self._rng.random(rows.size) < self._delta]
