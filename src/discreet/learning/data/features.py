"""Features: what is public about the columns of a model (bounds, bins, values), and the codes of rows in memory.

The code of a row depends on that row alone. A number without bins is rounded to one of 257 points between its bounds. A
number outside the bounds is clamped; a missing number is at the middle of the bounds, or in a bin of its own; a missing
or undeclared value is in a cell of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number as Real
from discreet.core.exact import exact, read_bounds, read_count
from discreet.errors import BadData, BadInput, NeedsValues
from discreet.measurement.domain import Bin, Column
from discreet.measurement.feature_vectors import SCALE, Attribute
from discreet.mechanisms.values.value_reading import read_items

MOST_BINS = 256
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Number:
    """A column of numbers within public bounds: one weight for all of them, or with `bins` one for each bin.

    Args:
        name: Column name.
        lower: Lower bound; smaller numbers are clamped to it. A curator takes it from the catalog.
        upper: Upper bound, likewise.
        bins: Number of bins of equal width. None for one weight.
    """

    name: str
    lower: Real | None = None
    upper: Real | None = None
    bins: int | None = None

    def __post_init__(self) -> None:
        if self.lower is not None or self.upper is not None:
            read_bounds(self.lower, self.upper)
        if self.bins is not None:
            read_count(self.bins, name="bins", least=2, most=MOST_BINS)


@dataclass(frozen=True, slots=True)
class Category:
    """A column of public values.

    Args:
        name: Column name.
        values: All declared values; all others share one cell. A curator takes them from the catalog.
    """

    name: str
    values: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            values = tuple(self.values)
            if isinstance(self.values, str) or not values or len(set(values)) < len(values):
                raise BadInput(
                    f"The values of {self.name} are not a list of different values.",
                    next_step="Give a list with each value once.",
                )
            object.__setattr__(self, "values", values)


Feature: TypeAlias = Number | Category | str


def name_of(feature: Feature) -> str:
    """Return the name of its column."""
    if isinstance(feature, str):
        return feature
    if not isinstance(feature, Number | Category):
        raise BadInput("A feature is a Number, a Category, or a name.", next_step='Give Number("age", 0, 110).')
    return feature.name


def feature_to_json(feature: Feature) -> list[Any]:
    """Return what the domain does not contain, as JSON."""
    match feature:
        case Number():
            ends = [None if end is None else str(exact(end)) for end in (feature.lower, feature.upper)]
            return ["number", feature.name, *ends, feature.bins]
        case Category():
            return ["category", feature.name]
    return ["column", name_of(feature)]


def feature_from_json(described: Sequence[Any]) -> Feature:
    """Read a feature. The values of a category are in the domain."""
    match described:
        case ["number", name, lower, upper, bins]:
            low, high = (None if end is None else Fraction(end) for end in (lower, upper))
            return Number(name, low, high, bins)
        case ["category", name]:
            return Category(name)
    return str(described[1])


def check_undeclared(feature: Feature) -> None:
    """Refuse bounds and values that the catalog declares."""
    if (isinstance(feature, Number) and feature.lower is not None) or (
        isinstance(feature, Category) and feature.values
    ):
        raise BadInput(
            f"The catalog declares the bounds and values of {feature.name}.",
            next_step="Leave bounds and values out, or select them in the source.",
        )


def column_of(feature: Feature, *, bins: int | None) -> Column:
    """Return the column of a feature for rows in memory; `bins` is the default for numbers."""
    match feature:
        case Number(name, lower, upper) if lower is not None and upper is not None:
            return _numbers(name, *read_bounds(lower, upper), feature.bins or bins)
        case Category(name, values) if values is not None:
            return Column(name, (*values, None))
    raise NeedsValues(
        f"The bounds or values of {name_of(feature)} are not public.",
        next_step='Declare it: Number("age", 0, 110) or Category("sex", ["F", "M"]), from public knowledge.',
    )


def _numbers(name: str, low: Fraction, high: Fraction, bins: int | None) -> Column:
    if bins is None:
        return Column(
            name, tuple(low + (high - low) * step / MOST_BINS for step in range(MOST_BINS + 1)), is_ordered=True
        )
    ends = [low + (high - low) * step / bins for step in range(bins + 1)]
    return Column(name, (*(Bin(a, b) for a, b in pairwise(ends)), None), is_ordered=True)


def is_numeric(column: Column) -> bool:
    """Return whether its codes are ordered numbers or days."""
    return column.is_ordered and isinstance(next(iter(column.labels)), Bin | int | float | Fraction | date)


def attribute_of(feature: Feature, column: Column) -> Attribute:
    """Return how a model reads a column: a number without bins as one number, others as one cell per code."""
    is_line = not isinstance(feature, Category) and is_numeric(column)
    if is_line and not (isinstance(feature, Number) and feature.bins is not None):
        return Attribute(column.name, column.size, positions(column))
    return Attribute(column.name, column.size)


@lru_cache(maxsize=256)
def positions(column: Column) -> tuple[int, ...]:
    """Map codes to integers from -SCALE to SCALE: (2(v - low)SCALE + w/2) div w - SCALE.

    No dividend is negative, so that rounding has one direction; NULL is 0.
    """
    low, high = ends_of(column)
    return tuple(
        0 if label is None else math.floor(2 * (middle(label) - low) * SCALE / (high - low) + Fraction(1, 2)) - SCALE
        for label in column.labels
    )


def ends_of(column: Column) -> tuple[Fraction, Fraction]:
    """Return the least and the largest number of its codes; they always differ."""
    first, *_, last = [label for label in column.labels if label is not None] * 2
    low, high = (first.lower, last.upper) if isinstance(first, Bin) else (first, last)
    least, most = middle(low), middle(high) - (1 if isinstance(last, Bin) and _is_whole(last) else 0)
    return least, max(most, least + Fraction(1, 2**40))


def middle(label: Any) -> Fraction:
    """Return the number of a code: the middle of a bin, the ordinal of a day."""
    if isinstance(label, Bin):
        low, high = middle(label.lower), middle(label.upper)
        return (low + high - (1 if _is_whole(label) else 0)) / 2
    return Fraction(label.toordinal()) if isinstance(label, date) else exact(label)


def _is_whole(label: Bin) -> bool:
    """Return whether the last integer or day of a bin is one below its upper end."""
    return label.is_whole or isinstance(label.lower, date)


# Rows in memory


def columns_in(rows: Any, features: Sequence[Feature]) -> list[Any]:
    """Return the values of each feature: by name from a frame or mapping, by position from a two-dimensional array."""
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2 or rows.shape[1] != len(features):
            raise BadData(
                "The array does not have one column per feature.",
                next_step="Give a two-dimensional array with the columns in order.",
            )
        return [rows[:, at] for at in range(len(features))]
    known = set(rows.columns) if hasattr(rows, "columns") else set(rows) if isinstance(rows, Mapping) else set()
    if not {name_of(feature) for feature in features} <= known:
        raise BadData("A column of the model is not in the frame.", next_step="Name columns of the frame as features.")
    return [rows[name_of(feature)] for feature in features]


def codes_in(column: Column, values: Any) -> Integers:
    """Return the code of each value; -1 if it has none."""
    missing = column.labels.index(None) if None in column.labels else None
    if is_numeric(column):
        return _nearest(column, numbers_in(values), missing)
    code_of = {label: code for code, label in enumerate(column.labels) if label is not None}
    other = -1 if missing is None else missing
    if isinstance(values, np.ndarray) and values.dtype.kind == "i" and all(type(label) is int for label in code_of):
        return _integer_codes(values, code_of, other)
    return np.array([_code(code_of, item, other) for item in read_items(values)], np.int64)


def _integer_codes(values: Integers, code_of: Mapping[int, int], other: int) -> Integers:
    """Look up integers in an array; faster than one by one."""
    known = np.array(sorted(code_of), np.int64)
    at = np.minimum(np.searchsorted(known, values), known.size - 1)
    codes = np.array([code_of[label] for label in known.tolist()], np.int64)
    return np.where(known[at] == values, codes[at], other)


def _code(code_of: Mapping[Any, int], item: Any, other: int) -> int:
    try:
        return code_of.get(item, other)
    except Exception:  # noqa: BLE001  `__hash__` of a foreign object can raise anything; such a value is undeclared
        return other


def _nearest(column: Column, numbers: NDArray[np.float64], missing: int | None) -> Integers:
    """Return the bin of each number, or the nearest single number (the upper of two).

    No number affects another's code.
    """
    labels = [label for label in column.labels if label is not None]
    if isinstance(labels[0], Bin):
        cuts = [middle(label.lower) for label in labels[1:]]
    else:
        points = [middle(label) for label in labels]
        cuts = [(a + b) / 2 for a, b in pairwise(points)]
    codes = np.searchsorted(np.array([float(cut) for cut in cuts]), numbers, side="right").astype(np.int64)
    codes[np.isnan(numbers)] = len(labels) // 2 if missing is None else missing
    return codes


def numbers_in(values: Any) -> NDArray[np.float64]:
    """Return each value as a float; NaN if it is not a number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.ndim == 1:
        return values.astype(np.float64)
    return np.array([_float(item) for item in read_items(values)], np.float64)


def _float(item: Any) -> float:
    """Read a number or day; NaN if that fails.

    A missing date (`NaT`) is also a `date`. No value may cause a refusal.
    """
    if isinstance(item, str | bytes):
        return math.nan
    try:
        return float(item.toordinal() if isinstance(item, date) else item)
    except Exception:  # noqa: BLE001  conversion of a foreign object can raise anything
        return math.nan
