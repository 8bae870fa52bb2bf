"""Bounds on the success of any attacker under a privacy guarantee.

Epsilon and delta are the attacker's total charge. Neighbours are add-remove, so changing a person's value is two steps.
All bounds are rounded up, so that they never claim more than is proved, and are at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from discreet.accounting import delta_of_rho

Row: TypeAlias = Callable[[float, float], float]
"""A bound as a function of epsilon and delta."""

_PAD = 1 + 1e-12


def membership(epsilon: float, delta: float = 0.0) -> float:
    """Whether a person is in the data, with prior 1/2: (e^ε + δ) / (1 + e^ε).

    Citation: Wasserman, Zhou 2010 (arXiv:0811.2501); Kairouz, Oh, Viswanath 2015 (arXiv:1311.0776).
    """
    shrink = math.exp(-epsilon)
    return _up((1 + delta * shrink) / (1 + shrink))


def bit(epsilon: float, delta: float = 0.0) -> float:
    """A fair random bit of a person in the data: membership at two steps, (2ε, δ(1 + e^ε))."""
    return membership(2 * epsilon, min(1.0, delta * (1 + _exp(epsilon))))


def tpr_at(fpr: float, epsilon: float, delta: float = 0.0) -> float:
    """The rate of true positives at a rate f of false positives: min(e^ε f + δ, 1 − e^−ε (1 − δ − f))."""
    many = _exp(epsilon) * fpr + delta
    few = 1 - math.exp(-epsilon) * (1 - delta - fpr)
    return _up(min(many, few))


def linkage(candidates: int, epsilon: float, delta: float = 0.0) -> float:
    """Which of N equally likely people it is: e^ε / N + δ; for δ = 0 also e^2ε / (e^2ε + N − 1)."""
    fresh = _exp(epsilon) / candidates + delta
    if delta:
        return _up(fresh)
    return _up(min(fresh, 1 / (1 + (candidates - 1) * math.exp(-2 * epsilon))))


def inversion(removed: float, epsilon: float, delta: float = 0.0) -> float:
    """A value under any prior: e^ε s + δ, where s is the success of the same attack with the target removed."""
    return _up(_exp(epsilon) * removed + delta)


def nothing(_epsilon: float, _delta: float = 0.0) -> float:
    """Zero, for events that are never allowed, such as spending more than the cap."""
    return 0.0


def zcdp(rho: float, bound: Row) -> float:
    """A bound under rho-zCDP: the least bound at (ε, δ(ε)) over all ε; each of them is valid."""
    ample = rho + 12 * math.sqrt(rho)
    return min(
        bound(float(epsilon), delta_of_rho(rho, epsilon=float(epsilon))) for epsilon in np.linspace(0, ample, 400)
    )


def _exp(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))


def _up(value: float) -> float:
    return min(1.0, value * _PAD)
