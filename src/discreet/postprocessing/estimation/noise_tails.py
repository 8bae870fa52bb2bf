"""Tail bounds for sums of independent noise.

For independent Z_1 … Z_n and any λ > 0, P(|Σ c_i Z_i| >= w) <= 2 exp(-λ w + Σ ln E exp(λ c_i Z_i)) (Chernoff; all of them are symmetric). So
w = (ln(2 / β) + Σ ln E exp(λ c_i Z_i)) / λ is enough for every λ, and the least over a grid of λ is taken. For the discrete Laplace of scale t,
E exp(s Z) = (1 - q)² / ((1 - q e^s)(1 - q e^-s)) with q = e^(-1/t) and s < 1/t; the discrete Gaussian is at most exp(s² σ² / 2) (Canonne,
Kamath, Steinke 2020, corollary 17). Few noises are compared with what holds for each of them by itself: n c times the error at β / n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian, Laplace, Mechanism

Floats = NDArray[np.float64]
_FEW = 8
_GRID = 160
_ROUNDING = 1 + 1e-9
"""The rounding errors of sums of doubles are smaller."""


@lru_cache(maxsize=4096)
def error_at(mechanism: Mechanism, level: Fraction) -> int:
    """Return the error of one mechanism. It is exact and slow, so it is cached: many answers share a few mechanisms."""
    return int(mechanism.error(level))


def reach(kinds: Sequence[tuple[Mechanism, float]], counts: NDArray[np.int64], level: Fraction) -> Floats:
    """For each row of `counts`, how many noises of each kind are added: what their sum stays within, in `level` of all cases."""
    some_more = _rounded_up(counts)
    if len(kinds) == 1:
        alone, inverse = np.unique(some_more[:, 0], return_inverse=True)
        different = alone.reshape(-1, 1)
    else:
        different, inverse = np.unique(some_more, axis=0, return_inverse=True)
    return _reach(kinds, different, level)[inverse.reshape(-1)]


def _rounded_up(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Round counts up to twelve bits, so that a million running sums have a few thousand widths. More noise has no smaller bound."""
    _, exponents = np.frexp(counts.astype(np.float64))
    shifts = np.maximum(exponents.astype(np.int64) - 12, 0)
    return -(-counts >> shifts) << shifts


def _reach(kinds: Sequence[tuple[Mechanism, float]], counts: NDArray[np.int64], level: Fraction) -> Floats:
    beta = 1 - level
    log_beta = math.log(2) + math.log(beta.denominator) - math.log(beta.numerator)
    least = np.full(len(counts), np.inf)
    for rate in _rates(kinds):
        growth = counts @ np.array([_log_moment(mechanism, rate * factor) for mechanism, factor in kinds])
        least = np.minimum(least, (log_beta + growth) / rate * _ROUNDING)
    for total in range(1, _FEW + 1):
        rows = counts.sum(axis=1) == total
        if rows.any():
            each = np.array([error_at(mechanism, 1 - beta / total) * factor for mechanism, factor in kinds])
            least[rows] = np.minimum(least[rows], counts[rows] @ each)
    least[counts.sum(axis=1) == 0] = 0.0
    return least


def _rates(kinds: Sequence[tuple[Mechanism, float]]) -> Floats:
    """λ from far below to the largest that all moments allow."""
    ends = [1 / (float(m.scale) * factor) for m, factor in kinds if isinstance(m, Laplace)]
    if ends:
        return np.geomspace(min(ends) * 2.0**-16, min(ends) * 0.999, _GRID)
    sigmas = [m.sigma * factor for m, factor in kinds if isinstance(m, Gaussian)]
    return np.geomspace(2.0**-16 / max(sigmas), 2.0**5 / min(sigmas), _GRID) if sigmas else np.zeros(0)


def _log_moment(mechanism: Mechanism, rate: float) -> float:
    """Ln E exp(rate · Z), or a bound above it."""
    if isinstance(mechanism, Gaussian):
        return rate**2 * mechanism.sigma**2 / 2
    assert isinstance(mechanism, Laplace)  # noqa: S101  nothing else adds noise
    inverse = 1 / float(mechanism.scale)
    edge = 2 * math.log(-math.expm1(-inverse))
    return edge - math.log(-math.expm1(rate - inverse)) - math.log(-math.expm1(-rate - inverse))
