"""What models are told about columns, from public knowledge: bounds, bins and values; and rows at hand as the codes that follow from it.

A row's code depends on that row alone. A number on a line is rounded to one of 257 places between its bounds. What is outside the bounds counts as the nearer bound; a number that is missing is in the middle of them, or in a
bin of its own; a value that nobody declared, or none, is in a cell of its own.
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
    """A column of numbers within bounds that are public: one weight for all of them, or with `bins` one for each bin.

    Args:
        name: Of the column.
        lower: The least that it can be; numbers below count as this. A curator has it from the catalog.
        upper: The most that it can be, likewise.
        bins: How many bins of equal width; none for a straight line.
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
    """A column of values that are public, one by one.

    Args:
        name: Of the column.
        values: All that it can hold; others share a cell of their own. A curator has them from the catalog.
    """

    name: str
    values: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            values = tuple(self.values)
            if isinstance(self.values, str) or not values or len(set(values)) < len(values):
                raise BadInput(f"The values of {self.name} are a list, each of them once.", next_step="List them.")
            object.__setattr__(self, "values", values)


Feature: TypeAlias = Number | Category | str


def name_of(feature: Feature) -> str:
    """What its column is called."""
    if isinstance(feature, str):
        return feature
    if not isinstance(feature, Number | Category):
        raise BadInput("A feature is a Number, a Category, or a name.", next_step='Give Number("age", 0, 110).')
    return feature.name


def feature_to_json(feature: Feature) -> list[Any]:
    """As JSON has it: what the domain does not say."""
    match feature:
        case Number():
            ends = [None if end is None else str(exact(end)) for end in (feature.lower, feature.upper)]
            return ["number", feature.name, *ends, feature.bins]
        case Category():
            return ["category", feature.name]
    return ["column", name_of(feature)]


def feature_from_json(described: Sequence[Any]) -> Feature:
    """The feature that was described; the values of a category are in the domain."""
    match described:
        case ["number", name, lower, upper, bins]:
            low, high = (None if end is None else Fraction(end) for end in (lower, upper))
            return Number(name, low, high, bins)
        case ["category", name]:
            return Category(name)
    return str(described[1])


def check_undeclared(feature: Feature) -> None:
    """Refuse bounds and values where a catalog has them."""
    if (isinstance(feature, Number) and feature.lower is not None) or (
        isinstance(feature, Category) and feature.values
    ):
        raise BadInput(
            f"The catalog says what {feature.name} can hold.",
            next_step="Leave bounds and values out, or select them in the source.",
        )


def column_of(feature: Feature, *, bins: int | None) -> Column:
    """The codes of rows at hand; `bins` are for numbers that have none of their own."""
    match feature:
        case Number(name, lower, upper) if lower is not None and upper is not None:
            return _numbers(name, *read_bounds(lower, upper), feature.bins or bins)
        case Category(name, values) if values is not None:
            return Column(name, (*values, None))
    raise NeedsValues(
        f"What {name_of(feature)} can hold is not public.",
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
    """Whether its codes stand for numbers or days in order."""
    return column.is_ordered and isinstance(next(iter(column.labels)), Bin | int | float | Fraction | date)


def attribute_of(feature: Feature, column: Column) -> Attribute:
    """What a model sees: one number for a number without bins, else a cell a code."""
    is_line = not isinstance(feature, Category) and is_numeric(column)
    if is_line and not (isinstance(feature, Number) and feature.bins is not None):
        return Attribute(column.name, column.size, positions(column))
    return Attribute(column.name, column.size)


@lru_cache(maxsize=256)
def positions(column: Column) -> tuple[int, ...]:
    """Codes on the grid from -SCALE to SCALE: (2(v - low)SCALE + w/2) div w - SCALE, whose dividends are never negative; 0 for NULL."""
    low, high = ends_of(column)
    return tuple(
        0 if label is None else math.floor(2 * (middle(label) - low) * SCALE / (high - low) + Fraction(1, 2)) - SCALE
        for label in column.labels
    )


def ends_of(column: Column) -> tuple[Fraction, Fraction]:
    """The least and the most that its codes stand for; never the same."""
    first, *_, last = [label for label in column.labels if label is not None] * 2
    low, high = (first.lower, last.upper) if isinstance(first, Bin) else (first, last)
    least, most = middle(low), middle(high) - (1 if isinstance(last, Bin) and _is_whole(last) else 0)
    return least, max(most, least + Fraction(1, 2**40))


def middle(label: Any) -> Fraction:
    """The number that a code stands for: of a bin its middle, of a day its number."""
    if isinstance(label, Bin):
        low, high = middle(label.lower), middle(label.upper)
        return (low + high - (1 if _is_whole(label) else 0)) / 2
    return Fraction(label.toordinal()) if isinstance(label, date) else exact(label)


def _is_whole(label: Bin) -> bool:
    """Whether the last whole number, or day, of a bin is one below its upper end."""
    return label.is_whole or isinstance(label.lower, date)


# Rows at hand


def columns_in(rows: Any, features: Sequence[Feature]) -> list[Any]:
    """The column of each feature: by its name in a frame or a mapping, by its place in an array of two dimensions."""
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2 or rows.shape[1] != len(features):
            raise BadData("An array has a row each, and a column for each feature.", next_step="Give columns in order.")
        return [rows[:, at] for at in range(len(features))]
    known = set(rows.columns) if hasattr(rows, "columns") else set(rows) if isinstance(rows, Mapping) else set()
    if not {name_of(feature) for feature in features} <= known:
        raise BadData("A column of the model is not in the frame.", next_step="Name columns of the frame as features.")
    return [rows[name_of(feature)] for feature in features]


def codes_in(column: Column, values: Any) -> Integers:
    """The code of each value; -1 for those that have none."""
    missing = column.labels.index(None) if None in column.labels else None
    if is_numeric(column):
        return _nearest(column, numbers_in(values), missing)
    places = {label: code for code, label in enumerate(column.labels) if label is not None}
    other = -1 if missing is None else missing
    if isinstance(values, np.ndarray) and values.dtype.kind == "i" and all(type(label) is int for label in places):
        return _whole_places(values, places, other)
    return np.array([_place(places, item, other) for item in read_items(values)], np.int64)


def _whole_places(values: Integers, places: Mapping[int, int], other: int) -> Integers:
    """The same for whole numbers in an array, faster."""
    known = np.array(sorted(places), np.int64)
    at = np.minimum(np.searchsorted(known, values), known.size - 1)
    codes = np.array([places[label] for label in known.tolist()], np.int64)
    return np.where(known[at] == values, codes[at], other)


def _place(places: Mapping[Any, int], item: Any, other: int) -> int:
    try:
        return places.get(item, other)
    except Exception:  # noqa: BLE001  what cannot be hashed is no value, whatever it raises
        return other


def _nearest(column: Column, numbers: NDArray[np.float64], missing: int | None) -> Integers:
    """Of bins the one that a number is in; of single numbers the nearest, the upper one of two. One number at a time, whatever the others are."""
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
    """Each as a real; what is no number is NaN."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.ndim == 1:
        return values.astype(np.float64)
    return np.array([_float(item) for item in read_items(values)], np.float64)


def _float(item: Any) -> float:
    """A missing date (`NaT`) is a date, too, and says nothing: whatever one value does, nobody's row is refused."""
    if isinstance(item, str | bytes):
        return math.nan
    try:
        return float(item.toordinal() if isinstance(item, date) else item)
    except Exception:  # noqa: BLE001  not only what numbers are known to raise
        return math.nan
