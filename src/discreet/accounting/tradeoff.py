"""The hypothesis-testing view: how often an attacker is right at which price of false alarms."""

from __future__ import annotations

import math

import numpy as np

from discreet.errors import BadProbability
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import Guarantee, read_guarantee


def true_positive_rates(guarantee: Guarantee, false_positive_rates: Floats) -> Floats:
    """The most true positives that any test for a person's presence can have at each rate of false positives.

    For every epsilon, TPR <= e^epsilon FPR + delta(epsilon), and the same with both rates counted from the other end;
    the least over many epsilons. Slide: Toronto, "A Hypothesis Testing Viewpoint"; Wasserman, Zhou 2010.

    Args:
        guarantee: Of a mechanism.
        false_positive_rates: From 0 to 1, an array.
    """
    rates = _read_rates(false_positive_rates)
    epsilons, deltas = _dots(read_guarantee(guarantee))
    best = np.ones(rates.shape)
    for epsilon, delta in zip(epsilons.tolist(), deltas.tolist(), strict=True):
        best = np.minimum(
            best, np.minimum(math.exp(epsilon) * rates + delta, 1 - math.exp(-epsilon) * (1 - delta - rates))
        )
    return np.maximum(best, rates)


def _read_rates(values: object) -> Floats:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf" or np.isnan(values).any():
        raise BadProbability(
            "Rates must be an array of numbers from 0 to 1.", next_step="Give numpy.linspace(0, 1, 101)."
        )
    return np.clip(values.astype(np.float64, copy=False), 0.0, 1.0)


def _dots(guarantee: Guarantee) -> tuple[Floats, Floats]:
    """Epsilons where the profile is worth looking at; any choice gives true bounds."""
    rho = guarantee.rho
    reach = min(guarantee.pure_epsilon, rho + 2 * math.sqrt(rho * math.log(1e12)), 700.0)
    epsilons = np.append(np.linspace(0, reach, 400, endpoint=False), reach)
    return epsilons, guarantee.deltas(epsilons)
