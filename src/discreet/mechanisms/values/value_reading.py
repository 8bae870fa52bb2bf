"""One value a person, read one by one: nobody's value decides how another's is read, what noise there is, or whether there is an answer.

What is refused is refused by its type and its shape. Of a list each item is a person, whatever it holds; numpy never guesses a common shape or type.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadData
from discreet.mechanisms.values.frame_columns import is_column, present

_INT64 = np.iinfo(np.int64)


class Numbers(NamedTuple):
    """The numbers of those who have one, within the bounds, and how many people have none."""

    given: NDArray[Any]
    """int64, float64, or Python's ints, floats and fractions: the same values whichever of them it is."""
    lacking: int


def read_numbers(values: object, low: Fraction, high: Fraction) -> Numbers:
    """Everybody's number, clamped, so that infinities are the bounds; NaN, missing values and what is no number are nobody's.

    Args:
        values: A list, a numpy array, or a column of pandas or polars.
        low: The least that a number can be.
        high: The most that it can be.
    """
    if is_column(values):
        array, missing = present(values)
        given, lacking = _of_array(array, low, high)
        return Numbers(given, lacking + missing)
    if type(values) in (np.ndarray, np.memmap):
        return _of_array(np.asarray(values), low, high)
    return _of_items(_sequence(values), low, high)


def read_items(values: object) -> Sequence[Hashable]:
    """Everybody's value as it is.

    Args:
        values: A list, a numpy array, or a column of pandas or polars.
    """
    if is_column(values):
        column: Any = values
        items: list[Hashable] = column.to_list()
        return items
    if type(values) in (np.ndarray, np.memmap):
        return _flat(np.asarray(values)).tolist()
    return _sequence(values)


def whole_number(item: object) -> int | None:
    """One person's value as a whole number, whatever type holds it; None for everything else, and nothing is ever raised.

    Args:
        item: Anything.
    """
    try:
        number = _number(item)
        return None if number is None or number != int(number) else int(number)
    except Exception:  # noqa: BLE001  any object may be there, and none of them may stop the others; infinity has no integer
        return None


def _of_array(array: NDArray[Any], low: Fraction, high: Fraction) -> Numbers:
    """By the type of the array, which changes the speed and not the numbers."""
    kind = _flat(array).dtype.kind
    if kind == "O":
        return _of_items(array.tolist(), low, high)
    if kind == "f":
        with np.errstate(over="ignore"):
            reals = array.astype(np.float64)
        numbers = reals[~np.isnan(reals)]
        return Numbers(np.clip(numbers, float(low), float(high)), array.size - numbers.size)
    if kind not in "biu":
        raise _not_values()
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(_INT64.max))
    least, most = (min(max(end, _INT64.min), _INT64.max) for end in (math.floor(low), math.ceil(high)))
    return Numbers(np.clip(array.astype(np.int64), least, most), 0)


def _of_items(items: Sequence[object], low: Fraction, high: Fraction) -> Numbers:
    ends = {int: (math.floor(low), math.ceil(high)), float: (float(low), float(high)), Fraction: (low, high)}
    numbers: list[Any] = []
    for item in items:
        number: Any = _number(item)
        if number is not None:
            least, most = ends[type(number)]
            numbers.append(min(max(number, least), most))
    given = np.empty(len(numbers), object)
    given[:] = numbers
    return Numbers(given, len(items) - len(numbers))


def _number(item: object) -> int | float | Fraction | None:
    """In Python's own types; what is no number is None."""
    if isinstance(item, np.timedelta64):  # numpy counts durations among the integers
        return None
    if isinstance(item, Integral | np.bool_):
        return int(item)
    if isinstance(item, Rational):
        return Fraction(item)
    if isinstance(item, Decimal) and item.is_snan():
        return None
    if isinstance(item, Decimal | Real):
        real = float(item)  # of 1e999999999 infinity: its digits would fill the memory
        return None if math.isnan(real) else real
    return None


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 1:
        raise _not_values()
    return array


def _sequence(values: object) -> Sequence[Any]:
    if not isinstance(values, Sequence) or isinstance(values, str | bytes | bytearray):
        raise _not_values()
    return values


def _not_values() -> BadData:
    return BadData(
        "The values must be one a person: a list, a numpy array of one dimension, or a column of pandas or polars; to be added up, of numbers.",
        next_step="Give a flat list, array.ravel() where each entry is a person, or one column of a frame.",
    )
