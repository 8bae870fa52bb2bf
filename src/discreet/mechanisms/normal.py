"""Tails of the discrete Gaussian, enclosed: exact sums where they are short, integrals around them where they are long.

`docs/proofs/gaussian.md` proves both enclosures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

_SHORT_SIGMA = 2.0**13
_PAD = 1e-11


class Enclosed(NamedTuple):
    """A probability between two floats."""

    low: float
    high: float


def tail_above(start: int, variance: float) -> Enclosed:
    """P(Z >= start) for the discrete Gaussian."""
    if start <= 0:
        rest = tail_above(1 - start, variance)
        return Enclosed(1 - rest.high, 1 - rest.low)
    sigma = math.sqrt(variance)
    return _summed(start, variance) if sigma <= _SHORT_SIGMA else _integrated(start, sigma)


def _summed(start: int, variance: float) -> Enclosed:
    """Term by term. Beyond 40 sigma the terms are below exp(-800) of the first and do not count in 1e-11."""
    reach = math.ceil(40 * math.sqrt(variance)) + 2
    total = 1 + 2 * _mass(1, reach, variance)
    share = _mass(start, start + reach, variance) / total
    return Enclosed(share * (1 - _PAD), share * (1 + _PAD))


def _mass(start: int, stop: int, variance: float) -> float:
    points = np.arange(start, stop + 1, dtype=np.float64)
    return float(np.exp(-points * points / (2 * variance)).sum())


def _integrated(start: int, sigma: float) -> Enclosed:
    """Beyond sigma + 1 the bell is convex: a term is at most the integral around it, and a trapezoid is too large."""
    density = math.exp(-0.5 * (start / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
    if start > sigma + 1:
        low, high = _normal_tail(start / sigma) + density / 2, _normal_tail((start - 0.5) / sigma)
    else:
        low, high = _normal_tail(start / sigma), _normal_tail(start / sigma) + density
    return Enclosed(low * (1 - _PAD), min(1.0, high * (1 + _PAD)))


def _normal_tail(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


def gaussian_profile(shift: int, variance: float, at: float) -> float:
    """delta(at) of discrete Gaussian noise against itself moved by `shift`: the best event is a half line.

    Citation: Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), theorem 7.
    """
    first = math.floor(at * variance / shift - shift / 2) + 1
    inside, outside = tail_above(first, variance), tail_above(first + shift, variance)
    try:
        weighted = math.exp(at) * outside.low
    except OverflowError:
        weighted = 0.0
    return min(1.0, max(0.0, inside.high - weighted))
