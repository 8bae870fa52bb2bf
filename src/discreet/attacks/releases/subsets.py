"""Counts of arbitrary subsets of people, with too little noise for their number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class SubsetCounts:
    """How many people on a list have the secret, with Gaussian noise; a share of the answers is arbitrary."""

    def __init__(self, secrets: Mask, *, sd: float, rng: np.random.Generator, lies: float = 0.0) -> None:
        self._secrets, self._sd, self._rng, self._lies = secrets, sd, rng, lies

    def count(self, lists: Mask) -> Floats:
        """Return one answer per list; lists are rows."""
        observed = lists @ self._secrets.astype(np.float64) + self._rng.normal(0, self._sd, len(lists))
        lying = self._rng.random(len(lists)) < self._lies
        return np.where(lying, self._rng.uniform(0, self._secrets.size, len(lists)), observed)


class HalfwayToADecoy:
    """Counts that are off by at most alpha, and consistent with other secrets in the same way.

    The decoy has up to 2·alpha more and up to 2·alpha fewer secrets than the truth. Answers are halfway between both,
    so truth and decoy cannot be distinguished. No release within alpha is harder for an attacker.
    """

    def __init__(self, secrets: Mask, *, alpha: int, rng: np.random.Generator) -> None:
        decoy = secrets.copy()
        for having in (True, False):
            some = rng.permutation(np.flatnonzero(secrets == having))[: 2 * alpha]
            decoy[some] = not having
        self._halfway = (secrets.astype(np.float64) + decoy) / 2

    def count(self, lists: Mask) -> Floats:
        """Return one answer per list; lists are rows."""
        return lists @ self._halfway
