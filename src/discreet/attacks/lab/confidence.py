"""Confidence intervals of measured success: exact for single guesses, Student's for means over runs of guesses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def rate_interval(right: int, trials: int, level: float) -> tuple[float, float]:
    """Return the Clopper–Pearson interval, which has at least the stated coverage for any rate."""
    tail = (1 - level) / 2
    return _lower(right, trials, tail), 1 - _lower(trials - right, trials, tail)


def mean_interval(scores: Sequence[float], level: float, *, step: float) -> tuple[float, float]:
    """Return Student's interval for the mean of independent scores from 0 to 1, which are multiples of `step`."""
    runs = len(scores)
    mean = math.fsum(scores) / runs
    if runs == 1:
        return 0.0, 1.0
    width = _student(level, runs - 1) * standard_error(scores, step=step)
    return max(0.0, mean - width), min(1.0, mean + width)


def standard_error(scores: Sequence[float], *, step: float) -> float:
    """Return the standard error of the mean of independent scores: at least `step` per score, infinite for one."""
    runs = len(scores)
    if runs == 1:
        return math.inf
    mean = math.fsum(scores) / runs
    variance = math.fsum((score - mean) ** 2 for score in scores) / (runs - 1)
    return math.sqrt(max(variance, step**2) / runs)  # equal scores do not mean zero variance


def _lower(right: int, trials: int, tail: float) -> float:
    """Return the rate at which `right` or more right guesses have the probability `tail`."""
    return 0.0 if right == 0 else _solve(lambda p: _beta(p, right, trials - right + 1), tail)


def _student(level: float, freedom: int) -> float:
    """Return the t with P(|T| <= t) = level."""
    share = _solve(lambda x: _beta(x, freedom / 2, 0.5), 1 - level)  # x = freedom / (freedom + t²)
    return math.sqrt(freedom * (1 / max(share, 1e-300) - 1))


def _solve(rising: Callable[[float], float], target: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < target else (low, middle)
    return low


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 2000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d or tiny)
            c = 1 + term / c or tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * fraction / a
