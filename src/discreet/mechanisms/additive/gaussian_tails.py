"""Tails of the discrete Gaussian, enclosed: exact sums where they are short, integrals around them where they are long.

`docs/explanation/proofs/gaussian.md` proves both enclosures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from discreet.mechanisms.curves import Floats

_SHORT_SIGMA = 2.0**10
_PAD = 1e-11
_NOTHING = 1e-300
"""An upper bound on what lies beyond 38 sigma."""


class Enclosed(NamedTuple):
    """Probabilities between two arrays of floats."""

    low: Floats
    high: Floats


def tails_above(starts: Floats, variance: float) -> Enclosed:
    """P(Z >= start) for the discrete Gaussian, for whole starts."""
    sigma = math.sqrt(variance)
    mirrored = np.where(starts > 0, starts, 1 - starts)
    inside = np.minimum(mirrored, math.ceil(38 * sigma) + 1)
    low, high = _summed(inside, variance) if sigma <= _SHORT_SIGMA else _integrated(inside, sigma)
    low, high = np.where(inside < mirrored, 0.0, low), high + _NOTHING
    return Enclosed(
        np.where(starts > 0, low, (1 - high) * (1 - _PAD)), np.where(starts > 0, high, (1 - low) * (1 + _PAD))
    )


def _summed(starts: Floats, variance: float) -> Enclosed:
    """Term by term. Terms beyond 38 sigma are below exp(-700) and do not count in 1e-11."""
    last = math.ceil(38 * math.sqrt(variance)) + 1
    points = np.arange(1, last + 1, dtype=np.float64)
    from_here_on = np.cumsum(np.exp(-points * points / (2 * variance))[::-1])[::-1]
    shares = from_here_on[starts.astype(np.int64) - 1] / (1 + 2 * from_here_on[0])
    return Enclosed(shares * (1 - _PAD), shares * (1 + _PAD))


def _integrated(starts: Floats, sigma: float) -> Enclosed:
    """The integral from start and half a term is too little, the integral from start - 1/2 too much."""
    densities = np.exp(-0.5 * (starts / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
    low = _normal_tails(starts / sigma) + densities / 2
    high = _normal_tails((starts - 0.5) / sigma)
    return Enclosed(low * (1 - _PAD), high * (1 + _PAD))


def _normal_tails(x: Floats) -> Floats:
    return np.fromiter(map(math.erfc, (x / math.sqrt(2)).tolist()), np.float64, x.size) / 2


def gaussian_deltas(shift: int, variance: float, at: Floats) -> Floats:
    """delta(at) of discrete Gaussian noise against itself moved by `shift`: the best event is a half line.

    Citation: Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), theorem 7.
    """
    at = np.minimum(at, 2.0**800)  # no smaller delta can be told from 0
    first = np.floor(at * variance / shift - shift / 2) + 1
    tails = tails_above(np.concatenate([first, first + shift]), variance)
    inside, outside = tails.high[: at.size], tails.low[at.size :]
    weighted = np.exp(np.minimum(at, 700.0)) * outside  # too small beyond 700, which only adds to delta
    return np.clip(inside - weighted, 0.0, 1.0)
