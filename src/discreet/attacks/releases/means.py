"""Means of many attributes of the people in a study, as they are printed beside its findings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def noisy_means(members: Floats, *, sd: float, rng: np.random.Generator) -> Floats:
    """The mean of each column, with Gaussian noise; exact where sd is 0."""
    means = members.mean(axis=0)
    return means + np.float32(sd) * rng.standard_normal(means.size, np.float32)


def rounded_means(members: Floats) -> Floats:
    """Whether most people have each attribute, and nothing else: off by up to one half, and right where all agree."""
    return np.round(members.mean(axis=0))
