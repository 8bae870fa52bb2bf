"""(epsilon, delta) to rho to Rényi and back, by the best known formulas, always rounded against us."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from discreet.core.exact import read_amount, read_delta, read_epsilon, read_epsilon_from_zero, read_order
from discreet.mechanisms import curves
from discreet.mechanisms.mechanism import least

_PAD = 1e-12


def delta_of_rho(rho: float, *, epsilon: float) -> float:
    """The delta at `epsilon` of rho-zCDP (Canonne, Kamath, Steinke 2020, corollary 13).

    Args:
        rho: The zCDP.
        epsilon: At which delta is wanted.
    """
    amount, at = read_amount(rho, name="rho"), read_epsilon_from_zero(epsilon)
    return float(curves.zcdp_deltas(amount, np.array([at]))[0]) if amount else 0.0


def epsilon_of_rho(rho: float, *, delta: float) -> float:
    """The least epsilon at `delta` of rho-zCDP, rounded up.

    Args:
        rho: The zCDP.
        delta: At which epsilon is wanted.
    """
    return _epsilon_of_rho(read_amount(rho, name="rho"), float(read_delta(delta)))


@lru_cache(maxsize=1024)  # whoever looks at a balance asks for the same again
def _epsilon_of_rho(amount: float, most: float) -> float:
    ample = amount + 2 * math.sqrt(amount * math.log(1 / most))  # the looser textbook bound always holds
    if not 2.0**-50 < ample < 2.0**50:
        return ample * (1 + _PAD)
    return least(lambda epsilon: delta_of_rho(amount, epsilon=epsilon) <= most)


def rho_of_epsilon(epsilon: float, *, delta: float) -> float:
    """The largest rho whose delta at `epsilon` is at most `delta`, rounded down.

    Args:
        epsilon: Of the guarantee that is wanted.
        delta: Of the same.
    """
    at, most = float(read_epsilon(epsilon)), float(read_delta(delta))
    return 1 / least(lambda inverse: delta_of_rho(1 / inverse, epsilon=at) <= most)


def epsilon_of_renyi(divergence: float, *, order: float, delta: float) -> float:
    """The epsilon at `delta` of a Rényi divergence, rounded up.

    Citation: Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), proposition 12.

    Args:
        divergence: Of Rényi.
        order: Of the divergence, above 1.
        delta: At which epsilon is wanted.
    """
    at, chance, amount = read_order(order), float(read_delta(delta)), read_amount(divergence, name="divergence")
    if math.isinf(at):
        return amount
    epsilon = amount + math.log1p(-1 / at) - (math.log(chance) + math.log(at)) / (at - 1)
    return max(0.0, epsilon + _PAD * (amount + abs(math.log(chance)) / (at - 1) + 1))


def renyi_of_epsilon(epsilon: float, *, order: float, delta: float) -> float:
    """The largest divergence of that order which still gives (epsilon, delta), rounded down; may be negative: none.

    Args:
        epsilon: Of the guarantee that is wanted.
        order: Of the divergence, above 1.
        delta: Of the guarantee.
    """
    return float(read_epsilon(epsilon)) - epsilon_of_renyi(0.0, order=order, delta=delta)
