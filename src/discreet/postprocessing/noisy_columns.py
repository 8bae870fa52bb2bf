"""Columns of an answer: values of any type with NULLs, and around each noisy one where the truth lies.

How sure an interval is follows from how many noisy draws stand behind it. Each draw that a cell depends on is an *event*: that it is no further
off than its mechanism says. Where all n events of a cell hold, so does its interval; so each is asked for at level 1 - (1 - level) / n.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.algebra.value_properties import Value
from discreet.catalog.timestamps import timestamp_at, timestamp_text
from discreet.mechanisms import Mechanism

Values: TypeAlias = NDArray[Any]
"""int64, float64, bool, datetime64[D] (dates) or datetime64[us] (timestamps); else objects: texts, integers beyond 64 bits, or several types."""
Mask: TypeAlias = NDArray[np.bool_]
Sides: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The low and the high end around each cell, NaN where there is none; dates as days since 1970."""
Around: TypeAlias = Callable[[Fraction], Sides]
"""Where the truth of each cell lies, if every event holds at the given level."""
_NUMBER = 40
"""Digits of the longest number."""
WIDEST = 2**127
"""Integers are exact below this, and doubles beyond."""


@dataclass(frozen=True, slots=True, eq=False)
class Noises:
    """Each cell is an exact number plus `factor` times one fresh draw: the draw's kind, or -1 where there is none.

    Kept while no draw can stand in two rows, so that a sum is known to have independent noises. `sources` are the measures drawn.
    """

    kinds: tuple[tuple[Mechanism, float], ...]
    which: NDArray[np.int64]
    sources: frozenset[Hashable]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Values, which of them are not NULL, the events behind a cell (and how many draws each stands for), and intervals.

    `around` is None for what is no number or date. `steady` says that which cells are NULL does not depend on noise.
    """

    values: Values
    valid: Mask
    events: Mapping[Hashable, int] = field(default_factory=dict)
    around: Around | None = None
    steady: bool = True
    noises: Noises | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_noisy(self) -> bool:
        return bool(self.events)

    @property
    def python(self) -> list[Any]:
        """The values as Python has them, None for NULL."""
        values = self.values.astype(object) if self.values.dtype.kind == "M" else self.values
        plain: list[Any] = values.tolist()
        if not self.valid.all():
            for at in np.flatnonzero(~self.valid).tolist():
                plain[at] = None
        return plain

    @property
    def longest(self) -> int:
        """Characters of its longest value, or more."""
        if self.values.dtype.kind != "O":
            return _NUMBER
        return max((len(value) if type(value) is str else _NUMBER for value in self.values), default=0)

    def part(self, rows: slice) -> Column:
        """The values of some rows alone."""
        return Column(self.values[rows], self.valid[rows], self.events)

    def take(self, rows: NDArray[Any], *, chosen_by_noise: bool = False) -> Column:
        """Some rows, in this order; what noise chose is no longer independent."""
        around, noises = self.around, self.noises
        if noises is not None and (chosen_by_noise or _repeats(rows, len(self))):
            noises = None
        return replace(
            self,
            values=self.values[rows],
            valid=self.valid[rows],
            around=None if around is None else remembered(lambda level: _taken(around(level), rows)),
            noises=None if noises is None else replace(noises, which=noises.which[rows]),
        )


def _repeats(rows: NDArray[Any], size: int) -> bool:
    if rows.dtype == bool or len(rows) < 2:
        return False
    return len(rows) > size or bool(np.bincount(rows).max() > 1)


def _taken(sides: Sides, rows: NDArray[Any]) -> Sides:
    return sides[0][rows], sides[1][rows]


def remembered(around: Around) -> Around:
    """The same, computed once a level: columns are named many times."""
    return lru_cache(maxsize=2)(around)


def exact_column(values: Values, valid: Mask | None = None) -> Column:
    """A column without noise; a number lies at itself."""
    there = np.ones(len(values), np.bool_) if valid is None else valid
    if values.dtype.kind in "ifb" or (len(values) and all(type(value) is int for value in values)):
        return Column(values, there, around=remembered(lambda _: degenerate(values, there)))
    if is_date(values):
        return Column(values, there, around=remembered(lambda _: degenerate(days(values), there)))
    return Column(values, there)


def degenerate(values: Values, valid: Mask) -> Sides:
    """Intervals of no width."""
    ends = np.where(valid, values.astype(np.float64), np.nan)
    return ends, ends


def is_date(values: Values) -> bool:
    """Whether values are dates: they have intervals, in days, and timestamps have none."""
    return bool(values.dtype == _DAYS)


def days(values: Values) -> NDArray[np.int64]:
    """Dates as days since 1970."""
    return values.view(np.int64)


def constant(value: Value | None, size: int) -> Column:
    """The same in every row."""
    known = canonical(value)
    if known is None:
        return Column(np.zeros(size, np.float64), np.zeros(size, np.bool_))
    one, _ = from_python([known])
    return exact_column(np.repeat(one, size))


def canonical(value: Any) -> Any:
    """Integers beyond 127 bits are doubles, and what is no number is NULL."""
    if type(value) is int and abs(value) >= WIDEST:
        return float(value) if abs(value) < 2**1000 else None
    if isinstance(value, float):
        return value + 0.0 if np.isfinite(value) else None
    return value


def from_python(given: Sequence[Any]) -> tuple[Values, Mask]:
    """The narrowest column that holds these values, each as it is."""
    values = [canonical(value) for value in given]
    valid = np.fromiter((value is not None for value in values), np.bool_, len(values))
    types = {type(value) for value in values} - {type(None)}
    if not types:
        return np.zeros(len(values), np.float64), valid
    filled = [_FILLS[next(iter(types))] if value is None else value for value in values] if len(types) == 1 else values
    if types == {int}:
        return narrowed(objects_of(filled, len(values))), valid
    if types in ({float}, {bool}, {date}, {datetime}):
        return np.array(filled, _DTYPES[next(iter(types))]), valid
    return objects_of(filled, len(values)), valid


_FILLS: dict[type, Any] = {
    int: 0,
    float: 0.0,
    bool: False,
    str: "",
    date: date(1970, 1, 1),
    datetime: timestamp_at(0),
}
_DTYPES: dict[type, str] = {float: "float64", bool: "bool", date: "datetime64[D]", datetime: "datetime64[us]"}
_DAYS = np.dtype("datetime64[D]")


def narrowed(integers: Values) -> Values:
    """Python integers as 64-bit ones, where they all fit."""
    if integers.dtype == object and all(-(2**63) < value < 2**63 for value in integers.tolist()):
        return integers.astype(np.int64)
    return integers


# Arrow


def from_arrow(array: pa.Array) -> Column:
    """A column of keys: exact, whatever its type."""
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        values = array.to_numpy(zero_copy_only=False)
        return Column(values, valid)
    if pa.types.is_null(array.type):
        return constant(None, len(array))
    fills = {pa.date32(): _FILLS[date], pa.timestamp("us"): _FILLS[datetime], pa.bool_(): False}
    fill: Any = fills.get(array.type, 0)
    return exact_column(array.fill_null(fill).to_numpy(zero_copy_only=False), valid)


def arrow_type(column: Column) -> pa.DataType:
    """Dates are dates, timestamps timestamps, integers beyond 64 bits decimals, several types text."""
    if column.values.dtype.kind == "M" and not is_date(column.values):
        return pa.timestamp("us")
    if column.values.dtype.kind == "O" and types_of(column) == {int}:
        return _DECIMAL
    return _ARROW.get(column.values.dtype.kind, pa.string())


def to_arrow(column: Column, kind: pa.DataType) -> pa.Array:
    """The values as an Arrow array of the type that they, or those of a longer column which they are part of, have."""
    if not column.valid.any():
        return pa.nulls(len(column), kind)
    if column.values.dtype.kind != "O":
        return pa.array(column.values, kind, mask=~column.valid)
    if types_of(column) == {str}:
        return pa.array(column.values, pa.string(), mask=~column.valid)
    return pa.array([None if value is None else text_of(value) for value in column.python], pa.string()).cast(kind)


_ARROW = {"i": pa.int64(), "f": pa.float64(), "b": pa.bool_(), "M": pa.date32()}
_DECIMAL = pa.decimal256(60, 0)
TEXTUAL = {str, date, datetime}
"""What meets a text as text."""


# Types


def types_of(column: Column) -> set[type]:
    """The Python types of the values that are not NULL."""
    if not column.valid.any():
        return set()
    if column.values.dtype.kind != "O":
        days_or_moments = date if is_date(column.values) else datetime
        return {{"i": int, "f": float, "b": bool, "M": days_or_moments}[column.values.dtype.kind]}
    values = column.values if column.valid.all() else column.values[column.valid]
    return set(map(type, values))


def text_of(value: Any) -> str:
    """How a value is written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return timestamp_text(value)
    if isinstance(value, date):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else str(value)


def objects_of(values: Iterable[Any], size: int) -> Values:
    """An array of objects, also where they look like sequences."""
    objects = np.empty(size, object)
    objects[:] = list(values)
    return objects


def as_text(column: Column) -> Values:
    """Every value as text, empty where it is NULL."""
    if types_of(column) == {str}:
        return column.values if column.valid.all() else np.where(column.valid, column.values, "")
    return objects_of(("" if value is None else text_of(value) for value in column.python), len(column))


def numbers(column: Column) -> tuple[Values, Mask]:
    """The values as int64, float64 or Python integers, with 0 for what is no number; and which are numbers."""
    kind = column.values.dtype.kind
    if kind in "if":
        return column.values, column.valid
    if kind == "b":
        return column.values.astype(np.int64), column.valid
    if kind == "M":
        return np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    if types_of(column) <= {int}:
        return (column.values if column.valid.all() else np.where(column.valid, column.values, 0)), column.valid
    plain = column.python
    valid = np.fromiter((type(value) in (int, float, bool) for value in plain), np.bool_, len(plain))
    floats = (float(value) if there else 0.0 for value, there in zip(plain, valid.tolist(), strict=True))
    return np.fromiter(floats, np.float64, len(plain)), valid


def merged(columns: Sequence[Column], chosen: NDArray[np.int64]) -> tuple[Values, Mask]:
    """In each row the value of the column that was chosen there, -1 for none; of one type where the columns are."""
    return _filled([(column, (chosen == at) & column.valid) for at, column in enumerate(columns)], len(chosen))


def concatenated(columns: Sequence[Column]) -> tuple[Values, Mask]:
    """Columns end to end, of one type where they are of one."""
    size, start, parts = sum(len(column) for column in columns), 0, []
    for column in columns:
        parts.append((column, start + np.flatnonzero(column.valid)))
        start += len(column)
    return _filled(parts, size)


def _filled(parts: Sequence[tuple[Column, NDArray[Any]]], size: int) -> tuple[Values, Mask]:
    """Each column's values in its rows: those under a mask, or all that are not NULL at given places."""
    types = set[type]().union(*(types_of(column) for column, _ in parts))
    values, valid = _room(types, size, [column for column, _ in parts]), np.zeros(size, np.bool_)
    for column, rows in parts:
        if column.valid.any():
            source = as_text(column) if str in types and types <= TEXTUAL else column.values
            if values.dtype == object and source.dtype.kind == "M":
                source = source.astype(object)
            given = source[rows if rows.dtype == bool else column.valid]
            values[rows] = objects_of(given.tolist(), len(given)) if values.dtype == object else given
            valid[rows] = True
    return values, valid


def _room(types: set[type], size: int, columns: Sequence[Column]) -> Values:
    """An array that holds all of these types, filled with what no row shows."""
    wide = any(column.values.dtype == object for column in columns)
    if types <= {int, float} and float in types:
        return np.zeros(size, np.float64)
    if types == {int} and not wide:
        return np.zeros(size, np.int64)
    if types == {bool}:
        return np.zeros(size, np.bool_)
    if types in ({date}, {datetime}) and not wide:
        return np.zeros(size, _DTYPES[next(iter(types))])
    if not types:
        return np.zeros(size, np.float64)
    filled = np.empty(size, object)
    filled[:] = 0 if types == {int} else "" if str in types and types <= TEXTUAL else None
    return filled
