"""Closed forms that turn one guarantee into another, each rounded up.

Floating-point formulas here err by a few parts in 2**52; `_padded` adds far more than that, so that a curve is never
below the truth.
"""

from __future__ import annotations

import math

from discreet.errors import BadInput

_PAD = 1e-11


def _padded(value: float, scale: float | None = None) -> float:
    """`value` plus one part in 1e11 of `scale`, the largest quantity that was added or subtracted on the way."""
    return value + _PAD * abs(value if scale is None else scale)


def check_order(order: float) -> None:
    """Rényi orders start above 1."""
    if not order > 1:
        raise BadInput("A Rényi order must be a number above 1.", next_step="Give an order such as 2 or 32.")


def pure_renyi(epsilon: float, order: float) -> float:
    """The Rényi divergence of randomized response at `epsilon`, the largest of any epsilon-DP mechanism.

    Citation: Mironov 2017 (arXiv:1702.07476), proposition 5; Bun, Steinke 2016, proposition 3.3 (order * epsilon**2 / 2).
    """
    check_order(order)
    if math.isinf(order):
        return epsilon
    log_moment = _log_add(order * epsilon, (1 - order) * epsilon) - _log_add(0.0, epsilon)
    divergence = _padded(log_moment, order * epsilon + 1) / (order - 1)
    return min(epsilon, _padded(order * epsilon * epsilon / 2), divergence)


def pure_profile(epsilon: float, at: float) -> float:
    """delta(at) of randomized response at `epsilon`, the largest of any epsilon-DP mechanism.

    Citation: Kairouz, Oh, Viswanath 2015 (arXiv:1311.0776).
    """
    if at >= epsilon:
        return 0.0
    return _padded(-math.expm1(at - epsilon) / (1 + math.exp(-epsilon)))


def zcdp_profile(rho: float, at: float) -> float:
    """delta(at) of any rho-zCDP mechanism.

    Citation: Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), corollary 13: the least over orders a > 1 of
    exp((a - 1)(a rho - at)) / (a - 1) * (1 - 1/a)**a. Every order gives a true bound, so the search need not be exact.
    """
    if at < 0:
        return 1.0
    low, high = 1 + 1e-9, max(2.0, (at + rho + 1) / rho)
    for _ in range(100):
        middle = (low + high) / 2
        slope = (2 * middle - 1) * rho - at + math.log1p(-1 / middle)
        low, high = (middle, high) if slope < 0 else (low, middle)
    order = high
    log_delta = (order - 1) * (order * rho - at) - math.log(order - 1) + order * math.log1p(-1 / order)
    return 1.0 if log_delta >= 0 else math.exp(_padded(log_delta, order * order * rho + order * at + 1))


def laplace_renyi(shift: int, scale: float, order: float) -> float:
    """The Rényi divergence of discrete Laplace noise from itself moved by `shift`, in closed form.

    Three parts: left of both centres, right of both, and the geometric series between them (`docs/proofs/laplace.md`).
    """
    check_order(order)
    if math.isinf(order):
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


def laplace_profile(shift: int, scale: float, at: float) -> float:
    """delta(at) of discrete Laplace noise against itself moved by `shift`: the best event is a half line."""
    if at * scale >= shift:
        return 0.0
    last = max(0, math.ceil((shift - at * scale) / 2) - 1)
    normal = 1 + math.exp(-1 / scale)
    inside = 1 - math.exp(-(last + 1) / scale) / normal
    return min(1.0, max(0.0, _padded(inside - math.exp(at - (shift - last) / scale) / normal, 1.0)))


def _log_add(a: float, b: float) -> float:
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


def _log_series(log_ratio: float, terms: int) -> float:
    """log(1 + r + ... + r**(terms-1)) for r = exp(log_ratio) < 1."""
    return math.log(-math.expm1(log_ratio * terms)) - math.log(-math.expm1(log_ratio))
