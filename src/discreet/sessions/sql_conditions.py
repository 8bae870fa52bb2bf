"""Conditions in SQL, as in WHERE, on the rows of a session. They are evaluated on public values, and never on rows.

Each part of a condition that must be true is evaluated for all combinations of values of the columns it reads. A bin
has many values. If a part only compares it with constants, the part is constant between them, and a few values stand
for all; otherwise every whole number or day in the bin is tried. A condition that is true for some values of a bin and
false for others is refused, because it does not count whole cells.
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
from discreet.sql.coded_rows import CodedSource
from discreet.sql.expressions.row_conditions import read_condition, type_of

Mask = NDArray[np.bool_]
Planning: TypeAlias = Callable[[threading.Event], AbstractContextManager[None]]
MOST_POINTS = 10**6
"""Largest number of combinations of values on which one part of a condition is evaluated."""
MOST_CELLS = 10**6
"""Of the table over the columns of a condition that is not a conjunction."""
MOST_RUNS = 10_000
"""Runs of consecutive cells in a query that is stored."""
_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge", "same", "differs", "between", "in", "is_null", "not_null"}


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a condition: for which codes of its columns it is true."""

    columns: Columns
    mask: Mask


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """A part of a condition: for which values of its columns it is true."""

    columns: list[int]
    """Positions of the columns in the domain."""
    starts: list[list[int]]
    """For each column, the position of the first value of each code."""
    truths: Mask


class Conditions:
    """Turns conditions in SQL into queries over the domain of one session.

    Args:
        rows: The session's rows: their columns and codes.
        domain: Public description of the rows.
        catalog: Catalog of the data.
        engine: Engine that evaluates conditions on public values.
        today: Value of CURRENT_DATE.
        planning: Acquires a slot to plan in, with the time limit of one query; its argument cancels the wait.
    """

    def __init__(
        self,
        rows: CodedSource,
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
        """Return the query of each condition. All conditions together have one slot and the time limit of one query.

        Args:
            texts: Conditions as in WHERE. Each different one is evaluated once.
            most_cells: Largest table over the columns of one condition.
            cancelled: Set when the caller no longer waits.
        """
        if not texts:
            return {}
        with self._planning(cancelled):
            return {text: self.query(text, most_cells=most_cells) for text in dict.fromkeys(texts)}

    def query(self, text: str, *, most_cells: int) -> CountQuery:
        """Return the query of a condition, or refuse it.

        Args:
            text: Condition as in WHERE.
            most_cells: Largest table over its columns.
        """
        with self._engine.one_limit():
            conditions = read_condition(text, self._rows, self._catalog, self._engine, today=self._today)
            evaluated = [self._evaluate(condition) for condition in _independent_parts(conditions)]
        if not all(each.truths.any() for each in evaluated):
            raise BadInput("No row can meet this condition: it counts 0.", next_step="Use declared values or bounds.")
        parts = [_without_idle_columns(self._by_code(each)) for each in evaluated]
        columns = self._domain.ordered(name for part in parts for name in part.columns)
        self._domain.check(columns, most=most_cells)
        products = [_as_product(part) for part in parts]
        codes = {name: runs for product in products for name, runs in (product or {}).items()}
        if len(codes) == len(columns):
            return Conjunction(columns, tuple(codes[name] for name in columns))
        self._domain.check(columns, most=MOST_CELLS)
        return Cells(columns, _runs_in(self._intersection(columns, parts)))

    def _intersection(self, columns: Columns, parts: Sequence[_Part]) -> Mask:
        """The cells in which all parts are true."""
        shape = self._domain.shape(columns)
        whole = np.ones(shape, np.bool_)
        for part in parts:
            axes = [size if name in part.columns else 1 for name, size in zip(columns, shape, strict=True)]
            whole &= part.mask.reshape(axes)
        return whole

    def _evaluate(self, condition: Expression) -> _Evaluated:
        """Evaluate a condition on all combinations of values."""
        columns = sorted({field.at for field in fields_of(condition)})
        points: dict[int, Points] = {}
        starts: list[list[int]] = []
        for at in columns:
            listed = list(self._values(at, _constants(condition, at)))
            starts.append([position for position, (_, is_first) in enumerate(listed) if is_first])
            points[at] = (self._types[at], [value for value, _ in listed])
        if math.prod(len(values) for _, values in points.values()) > MOST_POINTS:
            raise TooLarge(
                "A part of the condition has too many combinations of values.",
                next_step="Compare columns with constants, or use fewer bins of fewer columns.",
            )
        return _Evaluated(columns, starts, self._engine.truths(condition, points))

    def _by_code(self, evaluated: _Evaluated) -> _Part:
        """The codes whose values all meet a condition. Refused if some values of a code meet it and others do not."""
        truths = evaluated.truths
        for axis, at in enumerate(evaluated.columns):
            every = np.logical_and.reduceat(truths, evaluated.starts[axis], axis=axis)
            needs_bounding = every != np.logical_or.reduceat(truths, evaluated.starts[axis], axis=axis)
            if needs_bounding.any():
                others = tuple(other for other in range(needs_bounding.ndim) if other != axis)
                raise _cut_bin(self._domain.columns[at], int(np.flatnonzero(needs_bounding.any(axis=others))[0]))
            truths = every
        return _Part(tuple(self._domain.names[at] for at in evaluated.columns), truths)

    def _values(self, at: int, constants: frozenset[Any] | None) -> Iterator[tuple[Any, bool]]:
        """The values on which a condition is evaluated, by code; and whether each is the first of its code."""
        column = self._domain.columns[at]
        last = max((code for code, label in enumerate(column.labels) if isinstance(label, Bin)), default=-1)
        for code, label in enumerate(column.labels):
            values = [label]
            if isinstance(label, Bin):
                values = _values_in(column, label, constants, is_last=code == last)
            for position, value in enumerate(values):
                yield value, position == 0


def _independent_parts(conditions: Sequence[Expression]) -> list[Expression]:
    """The same conditions in parts that have no column in common."""
    groups: list[tuple[set[int], list[Expression]]] = []
    for condition in conditions:
        columns, members = {field.at for field in fields_of(condition)}, [condition]
        for group in [group for group in groups if group[0] & columns]:
            groups.remove(group)
            columns, members = columns | group[0], [*group[1], *members]
        groups.append((columns, members))
    return [call("and", *members) if len(members) > 1 else members[0] for _, members in groups]


def _constants(condition: Expression, at: int) -> frozenset[Any] | None:
    """The constants with which a column is compared, as numbers; None if it is used in other ways, too."""
    if not isinstance(condition, Call):
        return frozenset()
    name, found = condition.function.name, set[Any]()
    is_here = [_is_column(arg, at) for arg in condition.args]
    for arg, is_column in zip(condition.args, is_here, strict=True):
        if is_column:
            continue
        if any(is_here):
            if name not in _COMPARISONS or not isinstance(arg, Literal):
                return None
            if arg.value is not None:
                found.add(_number(arg.value))
        else:
            inner = _constants(arg, at)
            if inner is None:
                return None
            found |= inner
    return None if any(is_here) and name not in _COMPARISONS else frozenset(found)


def _is_column(expression: Expression, at: int) -> bool:
    """Whether an expression is a column, perhaps converted to a real number."""
    if isinstance(expression, Call) and expression.function.name == "real":
        expression = expression.args[0]
    return isinstance(expression, Field) and expression.at == at


def _number(value: Any) -> Any:
    if isinstance(value, date):
        return value.toordinal()
    return Fraction(value) if isinstance(value, int | float) else value


def _values_in(column: Column, label: Bin, constants: frozenset[Any] | None, *, is_last: bool) -> list[Any]:
    """Values of a bin on which a condition is evaluated, in order.

    Constants divide a bin into pieces on which the condition is constant; the values have one of each piece.
    """
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
            f"{column.name} has bins of real numbers, so a condition can only compare it with constants.",
            next_step=f"Write {column.name} >= … AND {column.name} < …, at the ends of bins.",
        )
    low, high = float(first), float(last)
    inside = sorted({low, *(float(c) for c in constants if low <= c < high), *([high] if is_last else [])})
    between = [(one + other) / 2 for one, other in zip(inside, [*inside[1:], high], strict=True)]
    return sorted({*inside, *(value for value in between if low < value < high)})


def _cut_bin(column: Column, code: int) -> BadInput:
    first, last, _ = ends_of(column.labels[code])
    return BadInput(
        f"The condition cuts a bin of {column.name}.",
        next_step=f"Start and end at the ends of bins: this one goes from {label_text(first)} to {label_text(last)}.",
    )


def _without_idle_columns(part: _Part) -> _Part:
    """The same part without the columns on which it does not depend."""
    columns, mask = part.columns, part.mask
    for axis in reversed(range(mask.ndim)):
        first = mask.take([0], axis=axis)
        if (mask == first).all():
            mask, columns = np.asarray(mask.take(0, axis=axis)), columns[:axis] + columns[axis + 1 :]
    return _Part(columns, mask)


def _as_product(part: _Part) -> dict[str, Runs] | None:
    """The codes of each column, if the part is true for exactly all their combinations; otherwise None."""
    axes = range(part.mask.ndim)
    sides = [part.mask.any(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    if sides and not (functools.reduce(np.multiply.outer, sides) == part.mask).all():
        return None
    return {name: runs_of(np.flatnonzero(side).tolist()) for name, side in zip(part.columns, sides, strict=True)}


def _runs_in(mask: Mask) -> Runs:
    runs = runs_of(np.flatnonzero(mask).tolist())
    if len(runs) > MOST_RUNS:
        raise TooLarge("The condition has too many separate cells.", next_step="Ask its parts one by one.")
    return runs
