"""A float exp(-a) whose error is proved from IEEE 754 additions and multiplications alone.

exp(-a) = exp(-m/256) * exp(-r), m = floor(256 a), 0 <= r < 1/256: the first factor from a table made of integer
enclosures, the second by its series to the fourth power. `docs/explanation/proofs/coins.md` bounds the relative error by 2**-43,
including exponents that are themselves off by 2**-44; we leave room and call it 2**-42.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.noise.exp_bounds import exp_minus

RELATIVE_ERROR = 2.0**-42
LARGEST_EXPONENT = 64.0
"""Beyond it the float says nothing but 'at most exp(-64)'."""

_STEPS_PER_UNIT = 256
_WORK = 320


@cache
def _table() -> NDArray[np.float64]:
    """exp(-m/256) for m/256 up to 64, each within one part in 2**53."""
    step, _ = exp_minus(Fraction(1, _STEPS_PER_UNIT), _WORK)
    value = 1 << _WORK
    entries = []
    for _ in range(int(LARGEST_EXPONENT) * _STEPS_PER_UNIT + 1):
        entries.append(float(Fraction(value, 1 << _WORK)))
        value = value * step >> _WORK
    return np.array(entries)


def exp_minus_float(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(-a) within RELATIVE_ERROR for 0 <= a <= 64; exp(-64) beyond, an upper bound."""
    a = np.minimum(exponents, LARGEST_EXPONENT)
    steps = (a * _STEPS_PER_UNIT).astype(np.int64)
    r = a - steps * (1 / _STEPS_PER_UNIT)
    series = r * (1 / 24)
    series -= 1 / 6
    series *= r
    series += 0.5
    series *= r
    series -= 1
    series *= r
    series += 1
    series *= np.take(_table(), steps, mode="clip")  # all within; this way it is twice as fast
    return series
