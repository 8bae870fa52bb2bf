"""(epsilon, delta) to rho to Rényi and back, by the best known formulas, always rounded against us."""

from __future__ import annotations

import math

import numpy as np

from discreet.errors import BadEpsilon, BadInput
from discreet.exact import finite, read_delta, read_epsilon
from discreet.mechanisms import curves
from discreet.mechanisms.base import least

_PAD = 1e-12


def delta_of_rho(rho: float, *, epsilon: float) -> float:
    """The delta at `epsilon` of rho-zCDP (Canonne, Kamath, Steinke 2020, corollary 13)."""
    if finite(epsilon) is None or epsilon < 0:
        raise BadEpsilon("epsilon must be a number of at least 0.", next_step="Give an epsilon such as 1.")
    return float(curves.zcdp_deltas(float(read_epsilon(rho, name="rho")), np.array([epsilon], np.float64))[0])


def epsilon_of_rho(rho: float, *, delta: float) -> float:
    """The least epsilon at `delta` of rho-zCDP, rounded up."""
    if rho == 0:
        return 0.0
    most = float(read_delta(delta))
    ample = rho + 2 * math.sqrt(rho * math.log(1 / most))  # the looser textbook bound always holds
    if not 2.0**-50 < ample < 2.0**50:
        return ample * (1 + _PAD)
    return least(lambda epsilon: delta_of_rho(rho, epsilon=epsilon) <= most)


def rho_of_epsilon(epsilon: float, *, delta: float) -> float:
    """The largest rho whose delta at `epsilon` is at most `delta`, rounded down."""
    at, most = float(read_epsilon(epsilon)), float(read_delta(delta))
    return 1 / least(lambda inverse: delta_of_rho(1 / inverse, epsilon=at) <= most)


def epsilon_of_renyi(divergence: float, *, order: float, delta: float) -> float:
    """The epsilon at `delta` of a Rényi divergence, rounded up.

    Citation: Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), proposition 12.
    """
    curves.check_order(order)
    chance = float(read_delta(delta))
    if not divergence >= 0:
        raise BadInput("A divergence must be a number of at least 0.", next_step="Give what renyi(order) returned.")
    if math.isinf(order):
        return divergence
    epsilon = divergence + math.log1p(-1 / order) - (math.log(chance) + math.log(order)) / (order - 1)
    return max(0.0, epsilon + _PAD * (abs(divergence) + abs(math.log(chance)) / (order - 1) + 1))


def renyi_of_epsilon(epsilon: float, *, order: float, delta: float) -> float:
    """The largest divergence of that order which still gives (epsilon, delta), rounded down; may be negative: none."""
    at = float(read_epsilon(epsilon))
    return at - epsilon_of_renyi(0.0, order=order, delta=delta) if order > 1 else -math.inf
