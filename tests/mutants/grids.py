"""Rounding that looks harmless and is not, and the check that catches it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np


def distances_are_kept(onto: Callable[[float], int], a: float, b: float) -> None:
    """Two reals at distance d go to integers at distance at most ceil(d): what the mechanism's sensitivity assumes."""
    assert abs(onto(a) - onto(b)) <= math.ceil(abs(Fraction(a) - Fraction(b)))


def half_to_even(value: float) -> int:
    """numpy's rint: 0.5 goes to 0 and 1.5 to 2, so a distance of 1 becomes 2."""
    return int(np.rint(value))


def float_laplace(value: float, count: int) -> np.ndarray:
    """The Chicago slides' mistake: noise from numpy, added in floating point."""
    return value + np.random.default_rng(7).laplace(0, 1, count)
