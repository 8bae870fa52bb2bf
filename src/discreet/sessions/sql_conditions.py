"""Queries of a session as SQL writes them behind WHERE: a condition on one row, evaluated on the public values of its columns and never on rows.

Every part that must be true is evaluated for all combinations of values of the columns it reads. A bin has many values: where a part only compares it with
constants it is constant between these, and a few values stand for all; else every whole number or day in it is tried. A condition that is true for some
values of a bin and not for others is about something that was not counted, and refused.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.expressions import Call, Expression, Field, Literal, call, fields_of
from discreet.catalog import Catalog
from discreet.engines import Engine
from discreet.engines.engine import Points
from discreet.errors import BadInput, TooLarge
from discreet.measurement.domain import Bin, Column, Columns, Domain, label_text
from discreet.measurement.measurer import Cells, Conjunction, CountQuery
from discreet.sessions.count_queries import Runs, ends_of, runs_of
from discreet.sql.coded_rows import PeoplesRows
from discreet.sql.expressions.row_conditions import read_condition, type_of

Mask = NDArray[np.bool_]
Planning: TypeAlias = Callable[[threading.Event], AbstractContextManager[None]]
MOST_POINTS = 10**6
"""Combinations of values that one part of a condition is tried on."""
MOST_CELLS = 10**6
"""Of the table over a condition's columns, where it is no conjunction."""
MOST_RUNS = 10_000
"""Of neighbouring cells that count, in a query that is stored."""
_COMPARING = {"eq", "ne", "lt", "le", "gt", "ge", "same", "differs", "between", "in", "is_null", "not_null"}


@dataclass(frozen=True, slots=True)
class _Part:
    """Where a part of a condition is true, in codes of its columns."""

    columns: Columns
    mask: Mask


@dataclass(frozen=True, slots=True)
class _Tried:
    """Where a condition is true: by values of its columns, whose codes begin at `starts`."""

    places: list[int]
    starts: list[list[int]]
    truths: Mask


class Conditions:
    """Conditions on the rows of one session.

    Args:
        rows: What their codes mean.
        domain: The same, and how many rows a person has.
        catalog: Of the data.
        engine: That evaluates on public values.
        today: What CURRENT_DATE means.
        planning: A place to plan at, until it is cancelled, within the seconds of one query.
    """

    def __init__(
        self,
        rows: PeoplesRows,
        domain: Domain,
        catalog: Catalog,
        engine: Engine,
        *,
        today: date,
        planning: Planning,
    ) -> None:
        self._rows, self._domain, self._catalog, self._engine, self._today = rows, domain, catalog, engine, today
        self._planning = planning
        self._types = [type_of(column, key) for column, key in zip(rows.columns, rows.query.keys, strict=True)]

    def queries(self, texts: Sequence[str], *, most_cells: int, cancelled: threading.Event) -> dict[str, CountQuery]:
        """What conditions count, worked out one after another at one place: however many there are, they have the seconds of one query.

        Args:
            texts: As they stand behind WHERE; each is worked out once.
            most_cells: Of the table over the columns of each.
            cancelled: Set when nobody waits for the result any more.
        """
        if not texts:
            return {}
        with self._planning(cancelled):
            return {text: self.query(text, most_cells=most_cells) for text in dict.fromkeys(texts)}

    def query(self, text: str, *, most_cells: int) -> CountQuery:
        """What a condition counts, or a refusal by name.

        Args:
            text: As it stands behind WHERE.
            most_cells: Of the table over its columns.
        """
        with self._engine.one_limit():
            conditions = read_condition(text, self._rows, self._catalog, self._engine, today=self._today)
            tried = [self._tried(condition) for condition in _apart(conditions)]
        if not all(each.truths.any() for each in tried):
            raise BadInput("No row can meet this condition: it counts 0.", next_step="Use declared values or bounds.")
        parts = [_without_idle(self._by_code(each)) for each in tried]
        columns = self._domain.ordered(name for part in parts for name in part.columns)
        self._domain.check(columns, most=most_cells)
        products = [_as_product(part) for part in parts]
        codes = {name: runs for product in products for name, runs in (product or {}).items()}
        if len(codes) == len(columns):
            return Conjunction(columns, tuple(codes[name] for name in columns))
        self._domain.check(columns, most=MOST_CELLS)
        return Cells(columns, _runs_in(self._together(columns, parts)))

    def _together(self, columns: Columns, parts: Sequence[_Part]) -> Mask:
        """Where all parts are true."""
        shape = self._domain.shape(columns)
        whole = np.ones(shape, np.bool_)
        for part in parts:
            axes = [size if name in part.columns else 1 for name, size in zip(columns, shape, strict=True)]
            whole &= part.mask.reshape(axes)
        return whole

    def _tried(self, condition: Expression) -> _Tried:
        """A condition on all combinations of values."""
        places = sorted({field.at for field in fields_of(condition)})
        points: dict[int, Points] = {}
        starts: list[list[int]] = []
        for at in places:
            listed = list(self._values(at, _constants(condition, at)))
            starts.append([place for place, (_, is_first) in enumerate(listed) if is_first])
            points[at] = (self._types[at], [value for value, _ in listed])
        if math.prod(len(values) for _, values in points.values()) > MOST_POINTS:
            raise TooLarge(
                "A part of the condition has too many combinations of values.",
                next_step="Compare columns with constants, or ask for fewer bins of fewer columns.",
            )
        return _Tried(places, starts, self._engine.truths(condition, points))

    def _by_code(self, tried: _Tried) -> _Part:
        """True where all values of a code are; refused where some are and others not."""
        truths = tried.truths
        for axis, at in enumerate(tried.places):
            every = np.logical_and.reduceat(truths, tried.starts[axis], axis=axis)
            cut = every != np.logical_or.reduceat(truths, tried.starts[axis], axis=axis)
            if cut.any():
                others = tuple(other for other in range(cut.ndim) if other != axis)
                raise _cuts(self._domain.columns[at], int(np.flatnonzero(cut.any(axis=others))[0]))
            truths = every
        return _Part(tuple(self._domain.names[at] for at in tried.places), truths)

    def _values(self, at: int, constants: frozenset[Any] | None) -> Iterator[tuple[Any, bool]]:
        """Values that stand for a column's codes in order, and whether each is the first of its code."""
        column = self._domain.columns[at]
        last = max((code for code, label in enumerate(column.labels) if isinstance(label, Bin)), default=-1)
        for code, label in enumerate(column.labels):
            values = [label]
            if isinstance(label, Bin):
                values = _values_in(column, label, constants, is_last=code == last)
            for place, value in enumerate(values):
                yield value, not place


def _apart(conditions: Sequence[Expression]) -> list[Expression]:
    """The same conditions, those together that have a column in common."""
    groups: list[tuple[set[int], list[Expression]]] = []
    for condition in conditions:
        places, together = {field.at for field in fields_of(condition)}, [condition]
        for group in [group for group in groups if group[0] & places]:
            groups.remove(group)
            places, together = places | group[0], [*group[1], *together]
        groups.append((places, together))
    return [call("and", *together) if len(together) > 1 else together[0] for _, together in groups]


def _constants(condition: Expression, at: int) -> frozenset[Any] | None:
    """What a column is compared with, as numbers; None where more is done with it than comparing."""
    if not isinstance(condition, Call):
        return frozenset()
    name, found = condition.function.name, set[Any]()
    is_here = [_is_column(arg, at) for arg in condition.args]
    for arg, is_column in zip(condition.args, is_here, strict=True):
        if is_column:
            continue
        if any(is_here):
            if name not in _COMPARING or not isinstance(arg, Literal):
                return None
            if arg.value is not None:
                found.add(_number(arg.value))
        else:
            inner = _constants(arg, at)
            if inner is None:
                return None
            found |= inner
    return None if any(is_here) and name not in _COMPARING else frozenset(found)


def _is_column(expression: Expression, at: int) -> bool:
    """A column, also one of whole numbers that is taken as reals."""
    if isinstance(expression, Call) and expression.function.name == "real":
        expression = expression.args[0]
    return isinstance(expression, Field) and expression.at == at


def _number(value: Any) -> Any:
    return (
        value.toordinal() if isinstance(value, date) else Fraction(value) if isinstance(value, int | float) else value
    )


def _values_in(column: Column, label: Bin, constants: frozenset[Any] | None, *, is_last: bool) -> list[Any]:
    """Values of a bin, one of each piece on which a condition that compares with these constants is the same; the first value first."""
    first, last, _ = ends_of(label)
    is_day = isinstance(first, date)
    if is_day or label.is_whole:
        low, high = (_number(first), _number(last)) if is_day else (first, last)
        if constants is None and high - low >= MOST_POINTS:
            raise TooLarge(f"A bin of {column.name} has too many values.", next_step="Compare it with constants.")
        near = {math.floor(c) + step for c in constants or () for step in (0, 1)} | {
            math.ceil(c) for c in constants or ()
        }
        inside = range(low, high + 1) if constants is None else sorted({low, *(c for c in near if low <= c <= high)})
        return [date.fromordinal(value) for value in inside] if is_day else list(inside)
    if constants is None:
        raise BadInput(
            f"{column.name} has bins of reals, and a condition can only compare it with constants.",
            next_step=f"Write {column.name} >= … AND {column.name} < …, where bins begin and end.",
        )
    low, high = float(first), float(last)
    inside = sorted({low, *(float(c) for c in constants if low <= c < high), *([high] if is_last else [])})
    between = [(one + other) / 2 for one, other in zip(inside, [*inside[1:], high], strict=True)]
    return sorted({*inside, *(value for value in between if low < value < high)})


def _cuts(column: Column, code: int) -> BadInput:
    first, last, _ = ends_of(column.labels[code])
    return BadInput(
        f"The condition cuts a bin of {column.name}.",
        next_step=f"Begin and end where bins do: this one goes from {label_text(first)} to {label_text(last)}.",
    )


def _without_idle(part: _Part) -> _Part:
    """Without the columns that make no difference."""
    columns, mask = part.columns, part.mask
    for axis in reversed(range(mask.ndim)):
        first = mask.take([0], axis=axis)
        if (mask == first).all():
            mask, columns = np.asarray(mask.take(0, axis=axis)), columns[:axis] + columns[axis + 1 :]
    return _Part(columns, mask)


def _as_product(part: _Part) -> dict[str, Runs] | None:
    """The codes of each column, where any of one go with any of another; None elsewhere."""
    axes = range(part.mask.ndim)
    sides = [part.mask.any(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    if sides and not (functools.reduce(np.multiply.outer, sides) == part.mask).all():
        return None
    return {name: runs_of(np.flatnonzero(side).tolist()) for name, side in zip(part.columns, sides, strict=True)}


def _runs_in(mask: Mask) -> Runs:
    runs = runs_of(np.flatnonzero(mask).tolist())
    if len(runs) > MOST_RUNS:
        raise TooLarge("The condition is about too many single cells.", next_step="Ask for its parts one by one.")
    return runs
