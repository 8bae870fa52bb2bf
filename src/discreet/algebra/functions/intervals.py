"""Interval arithmetic.

Bounds are exact rationals, or None if unbounded. A result contains every value that can occur.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from discreet.algebra.value_properties import LARGEST_INTEGER, UNBOUNDED, Bounds

End: TypeAlias = Fraction | float
"""A finite bound as a rational, or an infinity."""
_ROUNDING = Fraction(1, 2**50)
"""Larger than the relative error of rounding to a double."""
COARSE = Fraction(1, 2**20)
"""Larger than the relative error of a logarithm rounded to float32."""
_ROOT_BITS = 64


def negated(bounds: Bounds) -> Bounds:
    """Return the bounds of -x."""
    low, high = bounds
    return (None if high is None else -high), (None if low is None else -low)


def summed(a: Bounds, b: Bounds) -> Bounds:
    """Return the bounds of x + y."""
    return _plus(a[0], b[0]), _plus(a[1], b[1])


def _plus(x: Fraction | None, y: Fraction | None) -> Fraction | None:
    return None if x is None or y is None else x + y


def multiplied(a: Bounds, b: Bounds) -> Bounds:
    """Return the bounds of x * y from the corners. 0 times an infinite bound is 0."""
    return _bounds([_times(x, y) for x in _ends(a) for y in _ends(b)])


def _ends(bounds: Bounds) -> tuple[End, End]:
    low, high = bounds
    return -math.inf if low is None else low, math.inf if high is None else high


def _bounds(ends: Sequence[End]) -> Bounds:
    low, high = min(ends), max(ends)
    return (low if isinstance(low, Fraction) else None), (high if isinstance(high, Fraction) else None)


def _times(x: End, y: End) -> End:
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x * y
    if x == 0 or y == 0:
        return Fraction(0)
    return math.inf if (x > 0) == (y > 0) else -math.inf


def inverted(bounds: Bounds) -> Bounds:
    """Return the bounds of 1 / y for y other than 0. If y can be near 0, only the sign bounds the result."""
    low, high = bounds
    if low is not None and low >= 0 and high != 0:
        return (Fraction(0) if high is None else 1 / high), (1 / low if low > 0 else None)
    if high is not None and high <= 0 and low != 0:
        return (1 / high if high < 0 else None), (Fraction(0) if low is None else 1 / low)
    return UNBOUNDED


def divided(a: Bounds, b: Bounds) -> Bounds:
    """Return the bounds of x / y for y other than 0."""
    return multiplied(a, inverted(b))


def wholly_divided(a: Bounds, b: Bounds) -> Bounds:
    """Return the bounds of x / y truncated, for an integer y: computed separately for y >= 1 and y <= -1."""
    low, high = b
    parts = []
    if high is None or high >= 1:
        parts.append(divided(a, (Fraction(1) if low is None else max(low, Fraction(1)), high)))
    if low is None or low <= -1:
        parts.append(divided(a, (low, Fraction(-1) if high is None else min(high, Fraction(-1)))))
    return stepped(hull(parts), math.trunc) if parts else UNBOUNDED


def magnitude(bounds: Bounds) -> Bounds:
    """Return the bounds of |x|."""
    low, high = bounds
    if low is not None and low >= 0:
        return bounds
    if high is not None and high <= 0:
        return negated(bounds)
    return Fraction(0), None if low is None or high is None else max(-low, high)


def remainder(a: Bounds, most: Fraction | None) -> Bounds:
    """Return the bounds of x % y if |x % y| is at most `most`. It has the sign of x and is not larger in magnitude."""
    low, high = a
    least = Fraction(0) if low is not None and low >= 0 else largest([_opposite(low), _opposite(most)])
    return least, Fraction(0) if high is not None and high <= 0 else smallest([high, most])


def _opposite(end: Fraction | None) -> Fraction | None:
    return None if end is None else -abs(end)


def smallest(ends: Sequence[Fraction | None]) -> Fraction | None:
    """Return the smallest finite bound, or None."""
    return min((end for end in ends if end is not None), default=None)


def largest(ends: Sequence[Fraction | None]) -> Fraction | None:
    """Return the largest finite bound, or None."""
    return max((end for end in ends if end is not None), default=None)


def hull(intervals: Sequence[Bounds]) -> Bounds:
    """Return the smallest interval that contains all intervals."""
    lows, highs = [low for low, _ in intervals], [high for _, high in intervals]
    return (None if None in lows else smallest(lows)), (None if None in highs else largest(highs))


def overlap(a: Bounds, b: Bounds) -> Bounds:
    """Return the intersection of two intervals."""
    return largest([a[0], b[0]]), smallest([a[1], b[1]])


def stepped(bounds: Bounds, step: Callable[[Fraction], int]) -> Bounds:
    """Return the bounds under a nondecreasing function to integers."""
    low, high = bounds
    return (None if low is None else Fraction(step(low))), (None if high is None else Fraction(step(high)))


def loosened(bounds: Bounds, by: Fraction = _ROUNDING) -> Bounds:
    """Widen bounds by more than the rounding error of the result. Rounding never changes the sign."""
    low, high = bounds
    return (None if low is None else low - abs(low) * by), (None if high is None else high + abs(high) * by)


def reaching_zero(bounds: Bounds, least: Fraction) -> Bounds:
    """Extend bounds to 0, for values that become 0 if their magnitude is below `least`."""
    low, high = bounds
    if low is not None and 0 < low < least:
        low = Fraction(0)
    if high is not None and -least < high < 0:
        high = Fraction(0)
    return low, high


def whole(bounds: Bounds) -> Bounds:
    """Return the part of an interval that fits into 64 bits. Other values become NULL."""
    low, high = bounds
    return (None if low is None else _held(low)), (None if high is None else _held(high))


def _held(end: Fraction) -> Fraction:
    return min(max(end, Fraction(-LARGEST_INTEGER)), Fraction(LARGEST_INTEGER))


def is_held(bounds: Bounds) -> bool:
    """Whether the whole interval fits into 64 bits."""
    low, high = bounds
    return low is not None and high is not None and low >= -LARGEST_INTEGER and high <= LARGEST_INTEGER


def holds_zero(bounds: Bounds) -> bool:
    """Whether the interval contains 0."""
    low, high = bounds
    return (low is None or low <= 0) and (high is None or high >= 0)


def away(value: Fraction) -> int:
    """Round to the nearest integer, halves away from zero."""
    nearest = math.floor(abs(value) + Fraction(1, 2))
    return nearest if value >= 0 else -nearest


def root(bounds: Bounds) -> Bounds:
    """Return the bounds of the square root of the nonnegative part, rounded outward."""
    low, high = bounds
    least = Fraction(0) if low is None or low <= 0 else _root(low)
    most = None if high is None else _root(max(high, Fraction(0))) + Fraction(1, high.denominator << _ROOT_BITS)
    return least, most


def _root(value: Fraction) -> Fraction:
    """Return the root, rounded down by less than 2**-64 / denominator."""
    below = value.denominator << _ROOT_BITS
    return Fraction(math.isqrt(value.numerator * value.denominator << 2 * _ROOT_BITS), below)
