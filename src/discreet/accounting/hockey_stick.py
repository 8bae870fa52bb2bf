"""The hockey-stick curve of a discrete privacy loss: delta(epsilon) = sum of chance (1 - e^(epsilon - loss)) above epsilon."""

from __future__ import annotations

import math

import numpy as np

from discreet.mechanisms.curves import Floats

_PAD = 1e-12
_FAR = 700.0
"""Beyond it e^-loss counts as 0, which only adds to delta."""


def deltas_of(losses: Floats, chances: Floats, epsilons: Floats) -> Floats:
    """Delta at each epsilon, for losses in falling order; an upper bound by the padding."""
    above, weighted = _sums(losses, chances)
    count = np.searchsorted(-losses, -epsilons, side="left")  # how many losses lie above
    raw = above[count] * (1 + _PAD) - np.exp(np.minimum(epsilons, _FAR)) * weighted[count] * (1 - _PAD)
    return np.clip(raw, 0.0, 1.0)


def least_epsilon(losses: Floats, chances: Floats, delta: float) -> float:
    """The least epsilon >= 0 whose delta is at most `delta`, rounded up."""
    above, weighted = _sums(losses, chances)
    room = above[1:] * (1 + _PAD) - delta
    # With the first i losses above epsilon, delta(epsilon) = above - e^epsilon weighted; equality gives a candidate,
    # which is the answer for the first i where it does not fall below the next loss.
    with np.errstate(divide="ignore", invalid="ignore"):
        candidates = np.log(np.maximum(room, 0.0)) - np.log(weighted[1:])
    following = np.concatenate([losses[1:], [-math.inf]])
    found = np.flatnonzero((room > 0) & (candidates >= following))
    if not found.size:
        return 0.0
    return min(max(0.0, float(losses[0])), max(0.0, float(candidates[found[0]]) * (1 + _PAD) + _PAD))


def _sums(losses: Floats, chances: Floats) -> tuple[Floats, Floats]:
    """Sums over the largest 0, 1, 2, ... losses of chance and of chance e^-loss."""
    return (
        np.concatenate([[0.0], np.cumsum(chances)]),
        np.concatenate(
            [[0.0], np.cumsum(chances * np.where(losses > _FAR, 0.0, np.exp(-np.clip(losses, -_FAR, _FAR))))]
        ),
    )
