"""Published means of many attributes of the people in a study."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def noisy_means(members: Floats, *, sd: float, rng: np.random.Generator) -> Floats:
    """Return the mean of each column with Gaussian noise; exact if sd is 0."""
    means = members.mean(axis=0)
    return means + np.float32(sd) * rng.standard_normal(means.size, np.float32)


def rounded_means(members: Floats) -> Floats:
    """Return the rounded means: off by up to one half, and right for columns in which all people agree."""
    return np.round(members.mean(axis=0))
