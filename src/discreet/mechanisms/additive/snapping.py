"""Mironov's snapping mechanism: the one way to add Laplace noise to a double and stay private. For comparison.

Discreet itself releases integers on a grid; nothing in the product uses this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from discreet.core.exact import (
    Number,
    exact,
    finite,
    power_of_two_below,
    read_epsilon,
    read_level,
    read_sensitivity,
    rounded_up,
)
from discreet.errors import BadBounds, BadData
from discreet.mechanisms.mechanism import SolvedForEpsilon
from discreet.mechanisms.values.grid import Grid
from discreet.noise import SYSTEM_BITS, RandomBits


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapping(SolvedForEpsilon):
    """Clamp to +-bound, add Laplace noise from an exact logarithm, round to a power of two above its scale, clamp.

    Guarantee: epsilon-DP for a real query of sensitivity `sensitivity`, with
    scale = (1 + 2**-49 bound) / epsilon, needing scale < bound < 2**46 scale, all in units of the sensitivity brought
    up to a power of two (so that dividing by it is exact).
    Citation: Mironov 2012, "On significance of the least significant bits for differential privacy", theorem 1.

    Args:
        sensitivity: How far one person can move the value.
        epsilon: How much may be learned about a person; smaller is more private.
        bound: Values and answers are clamped to ± this.
    """

    sensitivity: Number
    epsilon: Number
    bound: Number

    def __post_init__(self) -> None:
        read_sensitivity(self.sensitivity)
        read_epsilon(self.epsilon)
        bound = finite(self.bound)
        if bound is None or not self.scale < bound / self.unit < 2**46 * self.scale:
            raise BadBounds(
                "The snapping bound must lie between the noise's scale and 2**46 times it.",
                next_step="Give as bound the largest magnitude that the answer can have.",
            )

    @property
    def unit(self) -> Fraction:
        return _power_of_two_above(exact(self.sensitivity))

    @property
    def scale(self) -> Fraction:
        """Of the noise, in units."""
        return (1 + exact(self.bound) / self.unit / 2**49) / exact(self.epsilon)

    @property
    def grid(self) -> Grid:
        """What answers are rounded to, in units."""
        return Grid.given(_power_of_two_above(self.scale))

    def release(self, exact: float, bits: RandomBits = SYSTEM_BITS) -> float:
        if type(exact) is not float or not math.isfinite(exact):
            raise BadData("The value is no finite float.", next_step="Drop or replace such values first.")
        unit = float(self.unit)
        bound = float(self.bound) / unit
        sign = 1.0 if bits.words(1, 8)[0] & 1 else -1.0
        noisy = _clamp(exact / unit, bound) + sign * rounded_up(self.scale) * _log_rounded(_uniform_float(bits))
        return _clamp(self.grid.back(self.grid.onto(noisy)), bound) * unit

    def error(self, confidence: Number) -> float:
        """The noise's own quantile and half a snapping step."""
        tail = -math.log(float(1 - read_level(confidence)))
        return float(self.unit) * (float(self.scale) * tail + float(self.grid.step) / 2) * (1 + 1e-9)


def _power_of_two_above(value: Fraction) -> Fraction:
    below = power_of_two_below(value)
    return below if below == value else 2 * below


def _clamp(value: float, bound: float) -> float:
    return max(-bound, min(bound, value))


def _uniform_float(bits: RandomBits) -> float:
    """A double in (0, 1), each with probability proportional to its unit in the last place."""
    exponent = 1
    while not (word := int(bits.words(1, 64)[0])):
        exponent += 64
    exponent += 64 - word.bit_length()
    mantissa = int(bits.words(1, 64)[0]) >> 12
    return math.ldexp(1 + mantissa / 2**52, -exponent)


def _log_rounded(u: float) -> float:
    """ln(u), correctly rounded: decimal's ln is correctly rounded at any precision; we raise it until it is clear."""
    precision = 40
    while True:
        context = Context(prec=precision)
        log = context.ln(Decimal(u))
        if float(context.next_minus(log)) == float(context.next_plus(log)):
            return float(log)
        precision *= 2
