"""Interval arithmetic: where a result lies, from where its arguments lie. NaN means that nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.postprocessing.noisy_columns import Sides
from discreet.postprocessing.number_rules import ends_rounded

Floats = NDArray[np.float64]
Ends = Callable[..., Any]


def anywhere(sides: Sides, *, known: NDArray[np.bool_]) -> Sides:
    """Ends that could not be computed, though the arguments were known, are infinite."""
    lost = known & (np.isnan(sides[0]) | np.isnan(sides[1]))
    return np.where(lost, -np.inf, sides[0]), np.where(lost, np.inf, sides[1])


def known_in_all(sides: Sequence[Sides]) -> NDArray[np.bool_]:
    """Where every argument has an interval."""
    known: NDArray[np.bool_] = ~np.isnan(sides[0][0])
    for low, high in sides[1:]:
        known = known & ~np.isnan(low) & ~np.isnan(high)
    return known


def hull(sides: Sequence[Sides]) -> Sides:
    """From the lowest to the highest end that is known."""
    lows, highs = np.stack([low for low, _ in sides]), np.stack([high for _, high in sides])
    return np.fmin.reduce(lows, axis=0), np.fmax.reduce(highs, axis=0)


def corners(rule: Ends, a: Sides, b: Sides) -> Sides:
    """The extremes of a rule that has them at ends of its arguments."""
    found = np.stack([rule(x, y) for x in a for y in b])
    return found.min(axis=0), found.max(axis=0)


def plus(a: Sides, b: Sides) -> Sides:
    """Ends are added."""
    return a[0] + b[0], a[1] + b[1]


def minus(a: Sides, b: Sides) -> Sides:
    """The low end less the other high one."""
    return a[0] - b[1], a[1] - b[0]


def negated(a: Sides) -> Sides:
    """The ends change places."""
    return -a[1], -a[0]


def times(a: Sides, b: Sides) -> Sides:
    """The extremes are products of ends."""
    return corners(_product, a, b)


def _product(x: Floats, y: Floats) -> Floats:
    """0 times what is unbounded is 0: the unbounded end is never reached."""
    return np.where((x == 0) | (y == 0), np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0), x * y)


def over(a: Sides, b: Sides) -> Sides:
    """Anywhere, where the divisor may be 0."""
    low, high = corners(lambda x, y: x / y, a, b)
    crosses = (b[0] <= 0) & (b[1] >= 0)
    return np.where(crosses, np.nan, low), np.where(crosses, np.nan, high)


def quotient(a: Sides, b: Sides) -> Sides:
    """Division towards zero never falls where division does not."""
    low, high = over(a, b)
    return np.trunc(low), np.trunc(high)


def remainder(a: Sides, b: Sides) -> Sides:
    """Nearer to 0 than the divisor, no further than the dividend, and on the dividend's side."""
    most = np.maximum(np.abs(b[0]), np.abs(b[1]))
    still = (a[0] == a[1]) & (b[0] == b[1])
    value = np.where(still & (b[0] != 0), np.fmod(a[0], b[0]), np.nan)
    low, high = np.where(a[0] >= 0, 0.0, np.maximum(-most, a[0])), np.where(a[1] <= 0, 0.0, np.minimum(most, a[1]))
    return np.where(still, value, low), np.where(still, value, high)


def magnitude(a: Sides) -> Sides:
    """From 0 where it lies within."""
    lows, highs = np.abs(a[0]), np.abs(a[1])
    return np.where((a[0] <= 0) & (a[1] >= 0), 0.0, np.minimum(lows, highs)), np.maximum(lows, highs)


def rising(rule: Ends) -> Callable[[Sides], Sides]:
    """For a rule that never falls."""

    def ends(a: Sides) -> Sides:
        return rule(a[0]), rule(a[1])

    return ends


def logarithm(a: Sides) -> Sides:
    """Without a lower end where the argument may be 0 or below; nowhere, where it must be."""
    high = np.where(a[1] > 0, np.log(np.maximum(a[1], 5e-324)), np.nan)
    return np.where(a[0] > 0, np.log(np.maximum(a[0], 5e-324)), -np.inf), high


def power(a: Sides, b: Sides) -> Sides:
    """By logarithms for positive bases; by the parity of a whole exponent otherwise."""
    positive = a[0] > 0
    base = (np.where(positive, a[0], 1.0), np.where(positive, a[1], 1.0))
    low, high = corners(np.power, base, b)
    fixed = (b[0] == b[1]) & (b[0] == np.trunc(b[0])) & (b[0] >= 0) & np.isfinite(b[0])
    exponent = np.where(fixed, b[0], 1.0)
    even = np.fmod(exponent, 2) == 0
    ends = np.power(a[0], exponent), np.power(a[1], exponent)
    crosses = (a[0] <= 0) & (a[1] >= 0)
    lows = np.where(even & crosses & (exponent > 0), 0.0, np.minimum(*ends))
    low = np.where(positive, low, np.where(fixed, lows, np.nan))
    return low, np.where(positive, high, np.where(fixed, np.maximum(*ends), np.nan))


def rounded(a: Sides, digits: Sides | None = None) -> Sides:
    """ROUND never falls in its number; where the digits are noisy, nothing is known."""
    low, high = (np.zeros_like(a[0]), np.zeros_like(a[0])) if digits is None else digits
    ends = ends_rounded(a[0], np.trunc(low)), ends_rounded(a[1], np.trunc(low))
    return np.where(low == high, ends[0], np.nan), np.where(low == high, ends[1], np.nan)
