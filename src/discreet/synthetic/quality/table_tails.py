"""Tail bound for the L1 norm of a table's noise."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.exact import exact
from discreet.mechanisms import Gaussian, Laplace

_WIDE = 32
"""From this standard deviation on, the continuous distribution is used, with a term for its difference from the
discrete one.
"""


def noise_quantile(mechanism: Gaussian | Laplace, cells: int, beta: float) -> float:
    """Return a bound that the L1 norm of a table's noise exceeds with probability at most `beta`, by Chernoff's bound.

    Args:
        mechanism: Noise of each cell.
        cells: Number of cells.
        beta: Failure probability.
    """
    spread = math.sqrt(2 * float(mechanism.scale) ** 2 if isinstance(mechanism, Laplace) else exact(mechanism.variance))
    most = 0.999 / float(mechanism.scale) if isinstance(mechanism, Laplace) else 8 / spread
    rates = np.geomspace(most / 1000, most, 80)
    logs = np.array([_log_moment(mechanism, float(rate)) for rate in rates])
    return float(((cells * logs + math.log(1 / beta)) / rates).min())


def _log_moment(mechanism: Gaussian | Laplace, rate: float) -> float:
    """Ln E[exp(rate · |Z|)]."""
    if isinstance(mechanism, Laplace):
        ratio = math.exp(-1 / float(mechanism.scale))
        grown = ratio * math.exp(rate)
        return math.log((1 - ratio) / (1 + ratio) * (1 + grown) / (1 - grown))
    variance = float(exact(mechanism.variance))
    sigma = math.sqrt(variance)
    if sigma >= _WIDE:
        half = 0.5 * math.erfc(-rate * sigma / math.sqrt(2))
        return rate**2 * variance / 2 + math.log(2 * half) + 1 / variance
    values = np.arange(math.ceil((rate * sigma + 40) * sigma) + 40, dtype=np.float64)
    twice = np.where(values > 0, 2.0, 1.0)
    weights = -(values**2) / (2 * variance)
    return float(np.log((twice * np.exp(weights + rate * values)).sum() / (twice * np.exp(weights)).sum()))
