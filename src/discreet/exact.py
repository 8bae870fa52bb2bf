"""What a number means: arguments read as exact rationals, or refused by name.

A float stands for the decimal that it prints: 0.1 is one tenth, not 0.1000000000000000055. So ten charges of 0.1 are
exactly 1, and a mechanism asked for epsilon 0.1 has scale exactly 10.
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Rational, Real
from typing import TypeAlias

from discreet.errors import BadBounds, BadDelta, BadEpsilon, BadInput, BadProbability, BadSensitivity

Number: TypeAlias = int | float | Fraction | Decimal

_SMALLEST_NORMAL = Fraction(sys.float_info.min)


def finite(value: object) -> Fraction | None:
    """The rational that `value` stands for, or None if it stands for no finite number."""
    if type(value) is Fraction:
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    if isinstance(value, Real):
        return _decimal(float(value)) if math.isfinite(value) else None
    return None


@lru_cache(maxsize=1 << 14)
def _decimal(value: float) -> Fraction:
    return Fraction(repr(value))


def exact(value: object) -> Fraction:
    """The rational that `value` stands for."""
    number = finite(value)
    if number is None:
        raise BadInput("A finite number is needed here.", next_step="Give an int, a float, a Fraction or a Decimal.")
    return number


def rounded_up(value: Fraction) -> float:
    """The least float that stands for at least `value`: what we tell people about a loss, an error or a scale."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if exact(nearest) >= value else math.nextafter(nearest, math.inf)


def power_of_two_below(value: Fraction) -> Fraction:
    """The largest power of two that is at most `value`."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= value else power / 2


def read_epsilon(value: object, *, name: str = "epsilon") -> Fraction:
    """A privacy parameter: positive, finite and not subnormal. There is no default anywhere."""
    number = finite(value)
    if number is None or number < _SMALLEST_NORMAL:
        raise BadEpsilon(
            f"{name} must be a positive, finite number.",
            next_step=f"Give {name} as a number such as 0.5; smaller is more private.",
        )
    return number


def read_delta(value: object) -> Fraction:
    """A delta strictly between 0 and 1."""
    number = finite(value)
    if number is None or not _SMALLEST_NORMAL <= number < 1:
        raise BadDelta(
            "delta must be a number above 0 and below 1.",
            next_step="Give a delta far below one over the number of people, such as 1e-6.",
        )
    return number


def read_sensitivity(value: object) -> Fraction:
    """A sensitivity: how far one person can move the answer. Positive and finite."""
    number = finite(value)
    if number is None or number <= 0:
        raise BadSensitivity(
            "sensitivity must be a positive, finite number.",
            next_step="Give the most that one person can change the answer: 1 for a count, the bound for a sum.",
        )
    return number


def read_level(value: object, *, name: str = "confidence") -> Fraction:
    """A confidence level or probability strictly between 0 and 1."""
    number = finite(value)
    if number is None or not _SMALLEST_NORMAL <= number <= 1 - _SMALLEST_NORMAL:
        raise BadProbability(
            f"{name} must be a number above 0 and below 1.",
            next_step=f"Give {name} as a fraction such as 0.95.",
        )
    return number


def read_bounds(lower: object, upper: object) -> tuple[Fraction, Fraction]:
    """Public bounds, in order."""
    low, high = finite(lower), finite(upper)
    if low is None or high is None or low >= high:
        raise BadBounds(
            "lower must be a finite number below upper.",
            next_step="Declare bounds from public knowledge, such as lower=0, upper=110 for an age.",
        )
    return low, high


def read_count(value: object, *, name: str, least: int = 1) -> int:
    """A public whole number."""
    number = finite(value)
    if number is None or number.denominator != 1 or number < least:
        raise BadInput(f"{name} must be a whole number of at least {least}.", next_step=f"Give {name} as an integer.")
    return int(number)


def read_flag(value: object, *, name: str) -> bool:
    """True or False, nothing that merely counts as one: the text "no" would count as true."""
    if type(value) is not bool:
        raise BadInput(f"{name} must be True or False.", next_step=f"Give {name}=True, or leave it out.")
    return value
