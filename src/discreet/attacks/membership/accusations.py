"""Accusing at most one innocent in a hundred, whatever the scores mean and however they are distributed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.floating]

RATE = 0.01
"""Of false accusations."""


def accused(suspects: Floats, innocents: Floats, *, rng: np.random.Generator, rate: float = RATE) -> Bits:
    """Who scores higher than all but a few of the people who are known to be innocent.

    One more innocent is as likely to have any rank among N innocents as any other, so they are above the k-th of them
    with probability at most k / (N + 1): k is the largest for which this is at most `rate`. Draws are decided by coins.

    Citation: Vovk, Gammerman, Shafer 2005, conformal prediction.
    """
    above = int(Fraction(str(rate)) * (innocents.size + 1))
    if above == 0:
        return np.zeros(suspects.size, np.bool_)
    coins = rng.random(innocents.size + suspects.size)
    scores = np.concatenate([innocents, suspects])
    place = np.empty(scores.size, np.int64)
    place[np.lexsort((coins, scores))] = np.arange(scores.size)
    threshold = np.sort(place[: innocents.size])[-above]
    return place[innocents.size :] > threshold
