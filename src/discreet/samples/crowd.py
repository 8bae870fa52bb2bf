"""A crowd: people with one value each; a few values are common and most are rare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def zipf_numbers(size: int, people: int, *, exponent: float = 1.1, seed: int = 0) -> NDArray[np.int64]:
    """Draw the number of each person's value; value k has probability proportional to 1 / (k + 1) ** exponent."""
    rng = np.random.default_rng(seed)
    ends = np.cumsum(1.0 / np.arange(1, size + 1) ** exponent)
    return np.searchsorted(ends, rng.random(people) * ends[-1]).astype(np.int64)


def bell_numbers(lower: float, upper: float, people: int, *, seed: int = 0) -> NDArray[np.float64]:
    """Draw a number for each person from a clipped normal distribution, centred at 40 % of the range."""
    rng = np.random.default_rng(seed)
    wide = upper - lower
    return np.clip(rng.normal(lower + 0.4 * wide, 0.15 * wide, people), lower, upper)
