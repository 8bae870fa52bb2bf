"""What an attack may achieve: the most that a guarantee leaves to any attacker, on the scale of its success.

Epsilon and delta are the attacker's total charge. Neighbours are add-remove, so changing a person's value is two steps.
Everything here is rounded up, so that a bound never promises more than was proved, and is at most 1.
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
    """Whether somebody is in the data, at even odds: (e^ε + δ) / (1 + e^ε).

    Citation: Wasserman, Zhou 2010 (arXiv:0811.2501); Kairouz, Oh, Viswanath 2015 (arXiv:1311.0776).
    """
    shrink = math.exp(-epsilon)
    return _up((1 + delta * shrink) / (1 + shrink))


def bit(epsilon: float, delta: float = 0.0) -> float:
    """A fair random bit of somebody who is in the data: membership after two steps, (2ε, δ(1 + e^ε))."""
    return membership(2 * epsilon, min(1.0, delta * (1 + _exp(epsilon))))


def tpr_at(fpr: float, epsilon: float, delta: float = 0.0) -> float:
    """True positives at a rate of false positives: min(e^ε f + δ, 1 − e^−ε (1 − δ − f))."""
    many = _exp(epsilon) * fpr + delta
    few = 1 - math.exp(-epsilon) * (1 - delta - fpr)
    return _up(min(many, few))


def linkage(candidates: int, epsilon: float, delta: float = 0.0) -> float:
    """Which of N equally likely people it is: min(e^ε / N + δ, e^2ε / (e^2ε + N − 1)), the second for δ = 0."""
    fresh = _exp(epsilon) / candidates + delta
    if delta:
        return _up(fresh)
    return _up(min(fresh, 1 / (1 + (candidates - 1) * math.exp(-2 * epsilon))))


def inversion(removed: float, epsilon: float, delta: float = 0.0) -> float:
    """A value under any prior: e^ε s + δ, where s is the same attack's success with the target removed."""
    return _up(_exp(epsilon) * removed + delta)


def nothing(_epsilon: float, _delta: float = 0.0) -> float:
    """What no loss allows even once, such as spending more than the cap."""
    return 0.0


def zcdp(rho: float, bound: Row) -> float:
    """A bound under rho-zCDP: the least over ε of the bound at (ε, δ(ε)); each of them holds."""
    ample = rho + 12 * math.sqrt(rho)
    return min(
        bound(float(epsilon), delta_of_rho(rho, epsilon=float(epsilon))) for epsilon in np.linspace(0, ample, 400)
    )


def _exp(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))


def _up(value: float) -> float:
    return min(1.0, value * _PAD)
