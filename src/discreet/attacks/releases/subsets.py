"""Counts of arbitrary subsets of people, with less noise than their number would need."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class SubsetCounts:
    """How many of a list of people have the secret, with Gaussian noise; now and then the answer is anything."""

    def __init__(self, secrets: Mask, *, sd: float, rng: np.random.Generator, lies: float = 0.0) -> None:
        self._secrets, self._sd, self._rng, self._lies = secrets, sd, rng, lies

    def count(self, lists: Mask) -> Floats:
        """One answer a list; lists are rows."""
        told = lists @ self._secrets.astype(np.float64) + self._rng.normal(0, self._sd, len(lists))
        lying = self._rng.random(len(lists)) < self._lies
        return np.where(lying, self._rng.uniform(0, self._secrets.size, len(lists)), told)


class HalfwayToADecoy:
    """Every answer is off by at most alpha, and all of them suit other secrets just as well.

    The decoy has up to 2·alpha secrets more and up to 2·alpha less than there are; answers are halfway between the two,
    so nobody can tell which is which. It is the worst that a release within alpha can do to an attacker.
    """

    def __init__(self, secrets: Mask, *, alpha: int, rng: np.random.Generator) -> None:
        decoy = secrets.copy()
        for having in (True, False):
            some = rng.permutation(np.flatnonzero(secrets == having))[: 2 * alpha]
            decoy[some] = not having
        self._halfway = (secrets.astype(np.float64) + decoy) / 2

    def count(self, lists: Mask) -> Floats:
        """One answer a list; lists are rows."""
        return lists @ self._halfway
