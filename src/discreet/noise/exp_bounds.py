"""exp in integers: bounds that are true by construction, to any number of bits.

Only integer additions, multiplications and divisions, each rounded in a stated direction, so no library's `exp` has to
be believed. The proof is in `docs/explanation/proofs/coins.md`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

Bounds: TypeAlias = tuple[int, int]
"""Integers (low, high) that enclose a real number times a stated power of two."""


def ceil_shift(value: int, places: int) -> int:
    """Value / 2**places, rounded up."""
    return -(-value >> places)


def exp_minus(x: Fraction, bits: int) -> Bounds:
    """Integers low <= exp(-x) * 2**bits <= high, for x >= 0."""
    if x == 0:
        return 1 << bits, 1 << bits
    if x > bits:  # exp(-x) < 2**-bits
        return 0, 1
    # exp(-x) = exp(-y)**(2**halvings) with y <= 2**-6; each squaring doubles the relative error, hence the guard bits.
    halvings = int(x).bit_length() + 6
    work = bits + 2 * halvings + 16
    scaled = (x.numerator << work) // (x.denominator << halvings)
    low = (1 << 2 * work) // _exp_above(scaled + 1, work)
    high = -(-(1 << 2 * work) // _exp_below(scaled, work))
    for _ in range(halvings):
        low, high = low * low >> work, ceil_shift(high * high, work)
    return low >> work - bits, ceil_shift(high, work - bits)


def exp_minus_doubled(x: Fraction, times: int, bits: int) -> list[Bounds]:
    """The same for x, 2x, 4x and so on, x doubled so many times: each is the square of the one before."""
    work = bits + 2 * times + 16
    low, high = exp_minus(x, work)
    bounds = [(low, high)]
    for _ in range(times):
        low, high = low * low >> work, ceil_shift(high * high, work)
        bounds.append((low, high))
    return [(low >> work - bits, ceil_shift(high, work - bits)) for low, high in bounds]


def _exp_below(y: int, work: int) -> int:
    """A lower bound on exp(y / 2**work) * 2**work: the series, every term rounded down, the tail left out."""
    total = term = 1 << work
    n = 0
    while term:
        n += 1
        term = (term * y >> work) // n
        total += term
    return total


def _exp_above(y: int, work: int) -> int:
    """An upper bound for y / 2**work <= 1/2: every term rounded up, until the tail is below one unit."""
    total = term = 1 << work
    n = 0
    while term > 1:
        n += 1
        term = -(-ceil_shift(term * y, work) // n)
        total += term
    return total + 1  # the terms left out halve at least, and the last one added was at most one unit
