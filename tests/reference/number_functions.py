"""Meanings of arithmetic: 64-bit integers without -2**63, doubles without NaN, infinities and -0.0; undefined is None."""

from __future__ import annotations

import math
import struct
from functools import wraps

MOST = 2**63 - 1
LARGE, FINE = 2.0**100, 2.0**-100


def strict(meaning):
    """NULL where any argument is."""

    @wraps(meaning)
    def wrapped(*args):
        return None if any(arg is None for arg in args) else meaning(*args)

    return wrapped


def integer(value):
    """An integer that fits, or NULL."""
    return value if abs(value) <= MOST else None


def real(value):
    """A canonical double, or NULL."""
    return None if math.isnan(value) or math.isinf(value) else value + 0.0


def as_read(value):
    """A real as the snapshot holds it."""
    if math.isnan(value) or abs(value) > LARGE:
        return None
    return 0.0 if abs(value) < FINE else value


def single(value):
    """The nearest float32."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


# Integers


@strict
def add_int(a, b):
    return integer(a + b)


@strict
def sub_int(a, b):
    return integer(a - b)


@strict
def mul_int(a, b):
    return integer(a * b)


@strict
def neg_int(a):
    return -a


@strict
def abs_int(a):
    return abs(a)


def _truncated(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


@strict
def int_div(a, b):
    return None if b == 0 else _truncated(a, b)


@strict
def mod_int(a, b):
    return None if b == 0 else a - b * _truncated(a, b)


@strict
def sign_int(a):
    return (a > 0) - (a < 0)


@strict
def round_int(a):
    return a


@strict
def round_int_to(a, places):
    if places >= 0:
        return a
    unit = 10**-places
    whole, rest = divmod(abs(a), unit)
    rounded = (whole + (2 * rest >= unit)) * unit
    return integer(-rounded if a < 0 else rounded)


# Reals


@strict
def add(a, b):
    return real(a + b)


@strict
def sub(a, b):
    return real(a - b)


@strict
def mul(a, b):
    return real(a * b)


@strict
def neg(a):
    return real(-a)


@strict
def abs_(a):
    return abs(a)


@strict
def div(a, b):
    return None if b == 0 else real(a / b)


@strict
def mod(a, b):
    """x - y * trunc(x / y), in doubles and in that order."""
    if b == 0:
        return None
    quotient = a / b
    if math.isinf(quotient) or abs(quotient) >= 2.0**63:
        return None
    return real(a - b * float(math.trunc(quotient)))


@strict
def real_of_int(a):
    return float(a)


@strict
def int_of_real(a):
    return integer(round(a))


@strict
def sign(a):
    return (a > 0) - (a < 0)


@strict
def floor(a):
    return integer(math.floor(a))


@strict
def ceil(a):
    return integer(math.ceil(a))


@strict
def trunc(a):
    return integer(math.trunc(a))


def _half_away(value):
    """The nearest whole number, halves away from zero; the distance to the truncated one is exact."""
    whole = math.trunc(value)
    return whole + ((value > 0) - (value < 0)) * (abs(value - whole) >= 0.5)


@strict
def round_(a):
    return integer(_half_away(a))


@strict
def round_to(a, places):
    unit = 10.0 ** abs(places)
    scaled = a * unit if places > 0 else a / unit
    if math.isinf(scaled):
        return None
    rounded = float(_half_away(scaled))
    return real(rounded / unit if places > 0 else rounded * unit)


@strict
def sqrt(a):
    return None if a < 0 else math.sqrt(a)


@strict
def within(a):
    return as_read(a)


def _logarithm(of):
    return strict(lambda a: None if a <= 0 else real(single(of(a))))


_EXP_END = 69.3147180559945
"""The logarithm of 2**100, from below."""


@strict
def exp(a):
    """Saturated at 2**100 and at 0."""
    if abs(a) > _EXP_END:
        return LARGE if a > 0 else 0.0
    return single(math.exp(a))


@strict
def pow_(a, b):
    """As C has it, NULL where there is no number or one beyond 2**100."""
    try:
        value = single(math.pow(a, b))
    except (OverflowError, ValueError):
        return None
    return as_read(value)


@strict
def width_bucket(value, low, high, count):
    if value < low:
        return 0
    if value >= high:
        return count + 1
    place = math.floor((value - low) / ((high - low) / float(count))) + 1
    return min(max(place, 1), count)


TRANSCENDENTAL = frozenset({"ln", "log10", "log2", "exp", "pow"})
MEANINGS = {
    "add_int": add_int, "sub_int": sub_int, "mul_int": mul_int, "neg_int": neg_int, "abs_int": abs_int,
    "int_div": int_div, "mod_int": mod_int, "sign_int": sign_int, "round_int": round_int, "round_int_to": round_int_to,
    "add": add, "sub": sub, "mul": mul, "neg": neg, "abs": abs_, "div": div, "mod": mod,
    "real": real_of_int, "int": int_of_real, "sign": sign, "floor": floor, "ceil": ceil, "trunc": trunc,
    "round": round_, "round_to": round_to, "sqrt": sqrt, "within": within,
    "ln": _logarithm(math.log), "log10": _logarithm(math.log10), "log2": _logarithm(math.log2), "exp": exp, "pow": pow_,
    "width_bucket": width_bucket,
}  # fmt: skip
