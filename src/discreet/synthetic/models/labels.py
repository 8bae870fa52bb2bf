"""Codes of synthetic rows as values: a declared value stands for itself, a bin for any number or day in it, each as
likely as the others.
"""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.measurement.domain import Bin, Column
from discreet.noise import RandomBits
from discreet.noise.uniform import uniform_below, uniform_below_each

Codes: TypeAlias = NDArray[np.integer[Any]]
_EPOCH = date(1970, 1, 1).toordinal()
_MOST = 2**63 - 1
_FINE = 2**32
"""Places within a bin of reals."""


def values_of(column: Column, codes: Codes, bits: RandomBits) -> pa.Array:
    """A column of synthetic rows.

    Args:
        column: What its codes mean.
        codes: One a row.
        bits: For the place within a bin.
    """
    bins = [label for label in column.labels if isinstance(label, Bin)]
    if not bins:
        return pa.array(column.labels).take(pa.array(codes.astype(np.int64)))
    is_null = codes >= len(bins)  # NULL is the code behind all bins
    inside = np.where(is_null, 0, codes)
    if isinstance(bins[0].lower, date) or bins[0].is_whole:
        firsts = np.array([_first(each.lower) for each in bins], np.int64)
        # The end behind the largest integer is none itself, so widths are worked out before they become ones.
        widths = np.array([min(_first(each.upper) - _first(each.lower), _MOST) for each in bins], np.int64)
        whole = firsts[inside] + uniform_below_each(widths[inside], bits)
        if bins[0].is_whole:
            return pa.array(whole, mask=is_null)
        return pa.array((whole - _EPOCH).astype(np.int32), mask=is_null).cast(pa.date32())
    lower = np.array([float(_number(each.lower)) for each in bins])
    width = np.array([float(_number(each.upper)) for each in bins]) - lower
    places = uniform_below(_FINE, len(codes), bits) / _FINE
    return pa.array(lower[inside] + places * width[inside], mask=is_null)


def _first(end: Fraction | date) -> int:
    """The first whole number or day from an end on."""
    return end.toordinal() if isinstance(end, date) else math.ceil(end)


def _number(end: Fraction | date) -> Fraction:
    assert isinstance(end, Fraction)  # noqa: S101  of reals
    return end
