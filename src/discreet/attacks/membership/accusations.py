"""Accuse with a false positive rate of at most 1 %, for any scores with any distribution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.floating]

RATE = 0.01
"""The rate of false accusations."""


def accuse(suspects: Floats, innocents: Floats, *, rng: np.random.Generator, rate: float = RATE) -> Bits:
    """Return which suspects score higher than all but a few of the people known to be innocent.

    A further innocent person has every rank among N innocents with the same probability, so they are above the k-th
    highest with probability at most k / (N + 1): k is the largest number for which this is at most `rate`. Ties are
    broken at random.

    Citation: Vovk, Gammerman, Shafer 2005, conformal prediction.
    """
    above = int(Fraction(str(rate)) * (innocents.size + 1))
    if above == 0:
        return np.zeros(suspects.size, np.bool_)
    coins = rng.random(innocents.size + suspects.size)
    scores = np.concatenate([innocents, suspects])
    position = np.empty(scores.size, np.int64)
    position[np.lexsort((coins, scores))] = np.arange(scores.size)
    threshold = np.sort(position[: innocents.size])[-above]
    return position[innocents.size :] > threshold
