"""Closed forms that turn one guarantee into another, each rounded up.

Floating-point formulas here err by a few parts in 2**52; `_padded` adds far more than that, so that a curve is never
below the truth.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.noise.exp_bounds import exp_minus

Floats: TypeAlias = NDArray[np.float64]

_PAD = 1e-13
_LARGEST_LOSS = 2.0**100
"""Of an epsilon or a rho: beyond it the simplest bound is good enough."""
_LARGEST_ORDER = 2.0**40
"""Beyond it a divergence is as good as that of infinite order, which is never smaller."""


def _padded(value: float, scale: float | None = None) -> float:
    """`value` plus one part in 1e13 of `scale`, the largest quantity that was added or subtracted on the way."""
    return value + _PAD * abs(value if scale is None else scale)


def pure_renyi(epsilon: float, order: float) -> float:
    """The Rényi divergence of randomized response at `epsilon`, the largest of any epsilon-DP mechanism.

    Citation: Mironov 2017 (arXiv:1702.07476), proposition 5; never above order * epsilon * tanh(epsilon / 2), see below.
    """
    return response_renyi(epsilon, order, categories=2)


def response_renyi(epsilon: float, order: float, *, categories: int) -> float:
    """The Rényi divergence of randomized response over `categories`, in closed form.

    Its moment, (e^(order epsilon) + e^((1-order) epsilon) + categories - 2) / (e^epsilon + categories - 1), is 1 +
    (1 - e^((1-order) epsilon)) (e^(order epsilon) - 1) / (e^epsilon + categories - 1): nothing here cancels.
    """
    if order > _LARGEST_ORDER or epsilon > _LARGEST_LOSS or not (order - 1) * epsilon:
        return max(math.ulp(0.0), min(epsilon, _padded(order * (epsilon * math.tanh(epsilon / 2)))))
    terms = (
        math.log(-math.expm1((1 - order) * epsilon)),
        order * epsilon,
        math.log(-math.expm1(-order * epsilon)),
        -_log_add(epsilon, math.log(categories - 1)),
    )
    log_moment = _log_add(0.0, math.fsum(terms))
    padding = 1 + _PAD * (1 + sum(map(abs, terms)))
    return min(epsilon, _padded(order * epsilon * math.tanh(epsilon / 2)), log_moment * padding / (order - 1))


@lru_cache(maxsize=4096)
def pure_rho(epsilon: Fraction) -> Fraction:
    """The least rho for which every epsilon-DP mechanism is rho-zCDP: epsilon tanh(epsilon / 2), rounded up.

    Citation: Harrison, Manurangsi 2025 (arXiv:2510.25746); the proof is short and in `docs/explanation/proofs/accounting.md`. It is the
    Kullback-Leibler divergence of randomized response, and less than epsilon**2 / 2 (Bun, Steinke 2016, proposition 3.3).
    """
    bits = 96 + 2 * epsilon.denominator.bit_length()  # epsilon may be tiny, and 1 - e^-epsilon with it
    shrink, _ = exp_minus(epsilon, bits)
    one = 1 << bits
    return min(epsilon * Fraction(one - shrink, one + shrink), epsilon * epsilon / 2)


def pure_deltas(epsilon: float, at: Floats) -> Floats:
    """delta(at) of randomized response at `epsilon`, the largest of any epsilon-DP mechanism.

    Citation: Kairouz, Oh, Viswanath 2015 (arXiv:1311.0776).
    """
    return response_deltas(epsilon, at, categories=2)


def response_deltas(epsilon: float, at: Floats, *, categories: int) -> Floats:
    """delta(at) of randomized response over `categories`: only the one answer that is likelier counts."""
    others = (categories - 1) * math.exp(-epsilon)
    return np.maximum(0.0, -np.expm1(np.minimum(at - epsilon, 0.0)) / (1 + others) * (1 + _PAD))


def bounded_range_deltas(epsilon: float, at: Floats) -> Floats:
    """delta(at) of any mechanism whose privacy loss has range `epsilon`, as the exponential mechanism's has.

    Citation: Dong, Durfee, Rogers 2020 (arXiv:1909.13830): the worst pairs put the loss on t and t - epsilon, giving
    (1 - e^(t-epsilon))(1 - e^(at-t)) / (1 - e^-epsilon); the largest is at t = (epsilon + at) / 2.
    """
    root = -np.expm1(np.minimum(at - epsilon, 0.0) / 2)
    return np.maximum(0.0, root * root / -math.expm1(-epsilon) * (1 + _PAD))


def zcdp_deltas(rho: float, at: Floats) -> Floats:
    """delta(at) of any rho-zCDP mechanism.

    Citation: Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), corollary 13: the least over orders a > 1 of
    exp((a - 1)(a rho - at)) / (a - 1) * (1 - 1/a)**a. Every order gives a true bound, so the search need not be exact.
    """
    if not rho <= _LARGEST_LOSS:
        return np.ones(at.shape)
    at = np.minimum(at, 2 * _LARGEST_LOSS)
    with np.errstate(over="ignore"):
        low, high = np.full(at.shape, 1 + 1e-9), np.clip((at + rho + 1) / rho, 2.0, _LARGEST_ORDER)
    for _ in range(100):
        middle = (low + high) / 2
        falling = (2 * middle - 1) * rho - at + np.log1p(-1 / middle) < 0
        low, high = np.where(falling, middle, low), np.where(falling, high, middle)
    order = high
    log_delta = (order - 1) * (order * rho - at) - np.log(order - 1) + order * np.log1p(-1 / order)
    log_delta += _PAD * (order * order * rho + order * at + 1)
    return np.exp(np.clip(log_delta, -690.0, 0.0))  # never 0: zCDP has no pure epsilon


def laplace_renyi(shift: int, scale: float, order: float) -> float:
    """The Rényi divergence of discrete Laplace noise from itself moved by `shift`, in closed form.

    Three parts: left of both centres, right of both, and the geometric series between them (`docs/explanation/proofs/laplace.md`).
    """
    if order > _LARGEST_ORDER or shift / scale > _LARGEST_LOSS:
        return _padded(shift / scale)
    base = -math.log1p(math.exp(-1 / scale))
    left = shift * (order - 1) / scale + base
    right = -shift * order / scale + base
    log_moment = _log_add(left, right)
    if shift > 1:
        ratio = -(2 * order - 1) / scale
        between = left + math.log(-math.expm1(-1 / scale)) + ratio + _log_series(ratio, shift - 1)
        log_moment = _log_add(log_moment, between)
    return _padded(log_moment, shift * order / scale + 1) / (order - 1)


def laplace_deltas(shift: int, scale: float, at: Floats) -> Floats:
    """delta(at) of discrete Laplace noise against itself moved by `shift`: the best event is a half line."""
    at = np.minimum(at, shift / scale + 1)  # delta is 0 from shift / scale on
    last = np.maximum(0.0, np.ceil((shift - at * scale) / 2) - 1)
    normal = 1 + math.exp(-1 / scale)
    inside = 1 - np.exp(-(last + 1) / scale) / normal
    outside = np.exp(np.minimum(0.0, at - (shift - last) / scale)) / normal
    return np.clip(inside - outside + _PAD * (1 + shift / scale), 0.0, 1.0)


def _log_add(a: float, b: float) -> float:
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


def _log_series(log_ratio: float, terms: int) -> float:
    """log(1 + r + ... + r**(terms-1)) for r = exp(log_ratio) < 1."""
    return math.log(-math.expm1(log_ratio * terms)) - math.log(-math.expm1(log_ratio))
