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

_SMALLEST_NORMAL, _LARGEST = Fraction(sys.float_info.min), Fraction(sys.float_info.max)
_LARGEST_EPSILON, _LARGEST_LEVEL = Fraction(2**1000), 1 - _SMALLEST_NORMAL
LARGEST_COUNT = 2**63 - 1
UNIT = 10**24
"""What is spent is counted in whole parts of so many, so that sums are exact and stay short."""


def finite(value: object) -> Fraction | None:
    """The rational that `value` stands for, or None if it stands for no finite number."""
    if type(value) is Fraction:
        return value
    if type(value) is int:  # numbers of Python's own first: abstract classes are slow to ask
        return Fraction(value)
    if type(value) is float:
        return _decimal(value) if math.isfinite(value) else None
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


def units_up(amount: Fraction) -> int:
    """In units of 10**-24, rounded up: what is spent."""
    return -(-amount.numerator * UNIT // amount.denominator)


def units_down(amount: Fraction) -> int:
    """Rounded down: what may be spent."""
    return amount.numerator * UNIT // amount.denominator


def power_of_two_below(value: Fraction) -> Fraction:
    """The largest power of two that is at most `value`."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= value else power / 2


def root_above(square: Fraction) -> Fraction:
    """The square root, rounded up by less than one part in 2**40; exact where it is a fraction."""
    over = square.numerator * square.denominator
    root = math.isqrt(over)
    if root * root == over:
        return Fraction(root, square.denominator)
    return Fraction(math.isqrt(over << 80) + 1, square.denominator << 40)


def read_epsilon(value: object, *, name: str = "epsilon") -> Fraction:
    """A privacy parameter: positive, not subnormal and at most 2**1000. There is no default anywhere."""
    number = finite(value)
    if number is None or not _SMALLEST_NORMAL <= number <= _LARGEST_EPSILON:
        raise BadEpsilon(
            f"{name} must be a positive, finite number.",
            next_step=f"Give {name} as a number such as 0.5; smaller is more private.",
        )
    return number


def read_epsilon_from_zero(value: object) -> float:
    """An epsilon at which a curve is looked up, rounded down: curves fall, so that nothing is understated."""
    number = finite(value)
    if number is None or number < 0:
        raise BadEpsilon(
            "epsilon must be a finite number of at least 0.", next_step="Give an epsilon of at least 0, such as 1."
        )
    return -rounded_up(-min(number, _LARGEST))


def read_amount(value: object, *, name: str) -> float:
    """A rho or a divergence, rounded up: at least 0; infinite where nothing is promised."""
    if isinstance(value, float) and value == math.inf:
        return math.inf
    number = finite(value)
    if number is None or number < 0:
        raise BadEpsilon(f"{name} must be a number of at least 0.", next_step=f"Give {name} as a number such as 0.1.")
    return rounded_up(number)


def read_order(value: object) -> float:
    """A Rényi order: above 1, and infinite for the largest divergence of all."""
    number = finite(value)
    order = value if isinstance(value, float) else float(min(max(number or Fraction(0), Fraction(0)), _LARGEST))
    if not order > 1:
        raise BadInput("A Rényi order must be a number above 1.", next_step="Give an order such as 2 or 32.")
    return order


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
    if number is None or not _SMALLEST_NORMAL <= number <= _LARGEST:
        raise BadSensitivity(
            "sensitivity must be a positive, finite number.",
            next_step="Give the most that one person can change the answer: 1 for a count, the bound for a sum.",
        )
    return number


def read_level(value: object, *, name: str = "confidence") -> Fraction:
    """A confidence level or probability strictly between 0 and 1."""
    number = finite(value)
    if number is None or not _SMALLEST_NORMAL <= number <= _LARGEST_LEVEL:
        raise BadProbability(
            f"{name} must be a number above 0 and below 1.",
            next_step=f"Give {name} as a fraction such as 0.95.",
        )
    return number


def read_bounds(lower: object, upper: object) -> tuple[Fraction, Fraction]:
    """Public bounds, in order."""
    low, high = finite(lower), finite(upper)
    if low is None or high is None or not -_LARGEST <= low < high <= _LARGEST:
        raise BadBounds(
            "lower must be a finite number below upper.",
            next_step="Declare bounds from public knowledge, such as lower=0, upper=110 for an age.",
        )
    return low, high


def read_count(value: object, *, name: str, least: int = 1, most: int = LARGEST_COUNT) -> int:
    """A public whole number."""
    number = finite(value)
    if number is None or number.denominator != 1 or not least <= number <= most:
        limits = f"of at least {least}" if most == LARGEST_COUNT else f"from {least} to {most:,}"
        raise BadInput(f"{name} must be a whole number {limits}.", next_step=f"Give a whole number {limits}.")
    return int(number)


def read_flag(value: object, *, name: str) -> bool:
    """True or False, nothing that merely counts as one: the text "no" would count as true."""
    if type(value) is not bool:
        raise BadInput(f"{name} must be True or False.", next_step=f"Give {name}=True, or leave it out.")
    return value
