"""Reals on a public power-of-two grid: onto it before the noise, exactly back after it."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, finite, power_of_two_below
from discreet.errors import BadData, BadGranularity

_SCALAR_FINENESS, _VECTOR_FINENESS = 2**12, 2**8
"""Default: rounding adds at most one part in 4096 to the noise of one number, one in 256 to that of a vector."""
_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of `step`, a power of two. It never depends on data.

    Args:
        step: A power of two.
    """

    step: Fraction

    @classmethod
    def given(cls, granularity: Number | None) -> Grid:
        """The grid that was asked for.

        Args:
            granularity: A power of two.
        """
        step = finite(granularity)
        if step is None or step <= 0 or step != power_of_two_below(step) or not 2**-1000 <= step <= 2**1000:
            raise BadGranularity(
                "granularity must be a power of two.", next_step="Give a granularity such as 1, 0.5 or 2**-10."
            )
        return cls(step)

    @classmethod
    def fine_enough(cls, sensitivity: Fraction, *, roundings: int) -> Grid:
        """A grid from the sensitivity alone, finer where more roundings add up.

        Args:
            sensitivity: Of the values.
            roundings: How many of them add up.
        """
        fineness = _SCALAR_FINENESS if roundings <= 1 else _VECTOR_FINENESS * roundings
        return cls.given(power_of_two_below(sensitivity / fineness))

    def l1_sensitivity(self, sensitivity: Fraction, *, size: int) -> Fraction:
        """In steps: one rounding moves by at most ceil(distance / step); each of several may add a step.

        Args:
            sensitivity: Of the values before they are rounded (L1).
            size: How many values there are.
        """
        if size == 1:
            return Fraction(math.ceil(sensitivity / self.step))
        return sensitivity / self.step + size

    def l2_sensitivity(self, sensitivity: Fraction, *, size: int) -> Fraction:
        """In steps: likewise, where several roundings together add a vector no longer than sqrt(size) steps.

        Args:
            sensitivity: Of the values before they are rounded (L2).
            size: How many values there are.
        """
        if size == 1:
            return Fraction(math.ceil(sensitivity / self.step))
        return sensitivity / self.step + math.isqrt(size) + 1

    def onto(self, value: float | Fraction) -> int:
        """floor(value / step + 1/2), exactly. Halves always go up: half-to-even would stretch distances.

        Args:
            value: A finite number.
        """
        numerator, denominator = value.as_integer_ratio()
        numerator, denominator = numerator * self.step.denominator, denominator * self.step.numerator
        return (2 * numerator + denominator) // (2 * denominator)

    def back(self, steps: int) -> float:
        """Steps * step as a float: exact up to 2**53 steps, then the nearest float, which is on the grid too.

        Args:
            steps: How many steps from zero.
        """
        try:
            return steps * self.step.numerator / self.step.denominator
        except OverflowError:
            return math.copysign(sys.float_info.max, 1 if steps > 0 else -1)

    def array_onto(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The same for arrays of integers or floats, after clamping to 2**62 steps either way (a public bound).

        Args:
            values: Finite numbers.
        """
        if values.dtype.kind == "i":
            return self._integers_onto(values.astype(np.int64, copy=False))
        with np.errstate(over="ignore"):
            scaled = values.astype(np.float64) * float(1 / self.step)
        scaled = np.clip(scaled, -float(_LARGEST), float(_LARGEST))
        floor = np.floor(scaled)
        return floor.astype(np.int64) + (scaled - floor >= 0.5)

    def _integers_onto(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """In integers alone: above 2**53 they are no floats, and rounding to one would stretch distances."""
        power = self.step.numerator.bit_length() - self.step.denominator.bit_length()
        if power > 63:
            return np.zeros_like(values)
        if power > 0:
            return (values >> power) + ((values >> (power - 1)) & 1)
        finer = min(-power, 62)
        most = _LARGEST >> finer
        return np.clip(values, -most, most) << finer

    def array_back(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same for arrays.

        Args:
            steps: How many steps from zero.
        """
        return steps.astype(np.float64) * float(self.step)


def check_finite(values: NDArray[np.floating[Any]]) -> None:
    """NaN and infinities have no place on a grid; the caller replaces them before anything is drawn."""
    if not np.isfinite(values).all():
        raise BadData("The data contain NaN or infinity.", next_step="Drop or replace such values first.")
