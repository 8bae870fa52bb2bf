"""The shape of a table computed from released numbers: its columns and how many rows it can have, from public values only.

One pass over the view finds everything that must be known before the charge, and refuses what could not be computed after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from discreet.algebra.query import Key, Query
from discreet.algebra.released_expressions import (
    After,
    Apply,
    ColumnOf,
    Constant,
    Estimate,
    Folded,
    Grouping,
    KeyOf,
    Known,
    Over,
    Pairs,
    Release,
    Select,
    Sorted,
    Stacked,
    View,
    parts_of,
)
from discreet.errors import NotAllowed, TooLarge
from discreet.postprocessing.estimation.estimates import ESTIMATES
from discreet.postprocessing.operators import NUMBER_BYTES, OPERATORS, Operator
from discreet.postprocessing.result_windows import FOLDS, WINDOW_FUNCTIONS
from discreet.postprocessing.row_matching import check_size, equalities

_MAX_DEPTH = 200
_MAX_COLUMNS = 2_000
_USUAL_GROUPS = 10_000
"""The number of groups that is assumed if it is private. The size is checked again when the table is computed."""


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """A column: its name, the most bytes of a cell, and the measures whose noise it shows."""

    name: str
    cell_bytes: int
    measures: frozenset[tuple[int, int]] | None
    """Query and measure, by number; empty for an exact column. None: the width of its interval depends on the data."""

    @property
    def is_exact(self) -> bool:
        """Whether no noise is in it."""
        return self.measures is not None and not self.measures


@dataclass(frozen=True, slots=True)
class TableShape:
    """Columns, and the fewest and the most rows that the table can have."""

    columns: tuple[ColumnShape, ...]
    fewest_rows: int
    most_rows: int


def shape_of(view: View, queries: Sequence[Query]) -> TableShape:
    """Return the shape of a table. Refuse unknown operators, columns and measures, and tables that are too large."""
    return _Shapes(queries).shape(view, 0)


class _Shapes:
    """Visits each table once, even if it is used several times."""

    def __init__(self, queries: Sequence[Query]) -> None:
        self._queries = queries
        self._known: dict[int, TableShape] = {}

    def shape(self, view: View, depth: int, *, is_matched: bool = False) -> TableShape:
        """The shape of a view. `is_matched`: only pairs of rows that an equality keeps are computed."""
        if id(view) not in self._known:
            if depth > _MAX_DEPTH:
                raise TooLarge("The query is nested too deeply.", next_step="Use fewer levels of subqueries.")
            shape = self._shape(view, depth + 1, is_matched=is_matched)
            if len(shape.columns) > _MAX_COLUMNS:
                raise TooLarge("There are too many columns.", next_step="Select fewer columns.")
            check_size(shape.most_rows, len(shape.columns))
            self._known[id(view)] = shape
        return self._known[id(view)]

    def _shape(self, view: View, depth: int, *, is_matched: bool) -> TableShape:
        match view:
            case Release():
                return _released(view, self._queries[view.query])
            case Select():
                below = self.shape(view.table, depth, is_matched=any(equalities(view.where)))
                _check([view.where], below.columns)
                columns = tuple(_computed(name, after, below.columns) for name, after in view.columns)
                return TableShape(columns, 0 if view.where is not None else below.fewest_rows, below.most_rows)
            case Folded():
                below = self.shape(view.table, depth)
                keys = [_computed(name, after, below.columns) for name, after in view.keys]
                folds = [_folded(name, op, after, below.columns) for name, op, after in view.folds]
                return TableShape((*keys, *folds), 0, below.most_rows)
            case Pairs():
                left, right = self.shape(view.left, depth), self.shape(view.right, depth)
                most = left.most_rows, right.most_rows
                rows = max(most) if is_matched else math.prod(most)
                return TableShape((*left.columns, *right.columns), left.fewest_rows * right.fewest_rows, rows)
            case Stacked():
                return _stacked([self.shape(table, depth) for table in view.tables])
            case Sorted():
                below = self.shape(view.table, depth)
                _check([after for after, _ in view.order], below.columns)
                if view.limit is None:
                    return below
                return TableShape(
                    below.columns, *(min(rows, view.limit) for rows in (below.fewest_rows, below.most_rows))
                )


def _released(view: Release, query: Query) -> TableShape:
    """One row for each group of each grouping set."""
    for after in (*(after for _, after in view.columns), *_present(view.having)):
        for part in parts_of(after):
            _check_arguments(part)
            _check_released(part, query)
    counts = [query.groups_in(keys) for keys in query.sets]
    fewest = 0 if view.having is not None or query.choose is not None else sum(count or 0 for count in counts)
    most = sum(_USUAL_GROUPS if count is None else count for count in counts)
    key_bytes = [_key_bytes(key) for key in query.keys]

    def leaf_bytes(leaf: After) -> int:
        return key_bytes[leaf.key] if isinstance(leaf, KeyOf) else NUMBER_BYTES

    columns = [
        ColumnShape(name, _cell_bytes(after, leaf_bytes), _measures(view.query, after)) for name, after in view.columns
    ]
    return TableShape(tuple(columns), fewest, most)


def _stacked(tables: Sequence[TableShape]) -> TableShape:
    if len({len(table.columns) for table in tables}) != 1:
        raise NotAllowed(
            "The parts of a UNION need the same number of columns.", next_step="Select the same columns in each part."
        )
    columns = []
    for parts in zip(*(table.columns for table in tables), strict=True):
        measures: frozenset[tuple[int, int]] | None = frozenset()
        for part in parts:
            measures = None if measures is None or part.measures is None else measures | part.measures
        columns.append(ColumnShape(parts[0].name, max(part.cell_bytes for part in parts), measures))
    return TableShape(tuple(columns), sum(t.fewest_rows for t in tables), sum(t.most_rows for t in tables))


def _computed(name: str, after: After, below: Sequence[ColumnShape]) -> ColumnShape:
    """A column computed from those of the table below. Arithmetic on noisy columns has an interval that depends on the data."""
    _check([after], below)
    if isinstance(after, ColumnOf):
        return replace(below[after.at], name=name)
    is_exact = all(below[part.at].is_exact for part in parts_of(after) if isinstance(part, ColumnOf))
    return ColumnShape(name, _bytes_over(after, below), frozenset() if is_exact else None)


def _folded(name: str, op: str, after: After | None, below: Sequence[ColumnShape]) -> ColumnShape:
    args = _present(after)
    if op not in FOLDS or not FOLDS[op].takes(len(args)):
        raise _unknown()
    _check(args, below)
    return ColumnShape(name, FOLDS[op].size([_bytes_over(arg, below) for arg in args]), None)


def _measures(query: int, after: After) -> frozenset[tuple[int, int]] | None:
    """The measures that an expression over a release shows as they are."""
    if isinstance(after, Estimate) and after.kind == "measure":
        return frozenset((query, measure) for measure in after.measures)
    return None if any(isinstance(part, Estimate) for part in parts_of(after)) else frozenset()


# Bytes


def _key_bytes(key: Key) -> int:
    if key.values is not None:
        return max(map(value_bytes, key.values), default=0)
    return key.expression.properties.longest or NUMBER_BYTES


def _bytes_over(after: After, below: Sequence[ColumnShape]) -> int:
    return _cell_bytes(after, lambda leaf: below[leaf.at].cell_bytes if isinstance(leaf, ColumnOf) else NUMBER_BYTES)


def _cell_bytes(after: After, leaf_bytes: Callable[[After], int]) -> int:
    match after:
        case Constant():
            return value_bytes(after.value)
        case Apply() | Over():
            return _operator(after).size([_cell_bytes(arg, leaf_bytes) for arg in after.args])
    return leaf_bytes(after)


def value_bytes(value: object) -> int:
    """Return the most bytes of a value as it is written."""
    return len(value.encode()) if isinstance(value, str) else NUMBER_BYTES


# Checks


def _present(after: After | None) -> tuple[After, ...]:
    return () if after is None else (after,)


def _check(expressions: Iterable[After | None], below: Sequence[ColumnShape]) -> None:
    for after in expressions:
        for part in () if after is None else parts_of(after):
            _check_arguments(part)
            if isinstance(part, KeyOf | Grouping | Estimate | Known) or (
                isinstance(part, ColumnOf) and not 0 <= part.at < len(below)
            ):
                message = "an expression names a column that its table does not have"
                raise ValueError(message)


def _check_arguments(part: After) -> None:
    if isinstance(part, Apply | Over) and not _operator(part).takes(len(part.args)):
        raise _unknown()


def _check_released(part: After, query: Query) -> None:
    match part:
        case KeyOf() | Grouping():
            known = 0 <= part.key < len(query.keys)
        case Estimate():
            kind = ESTIMATES.get(part.kind)
            known = kind is not None and kind.least_measures <= len(part.measures) <= kind.most_measures
            known = known and all(0 <= measure < len(query.measures) for measure in part.measures)
        case ColumnOf():
            known = False
        case Known() | Constant() | Apply() | Over():
            known = True
    if not known:
        message = "an expression names a key or a measure that its query does not have"
        raise ValueError(message)


def _operator(part: Apply | Over) -> Operator:
    found = (OPERATORS if isinstance(part, Apply) else WINDOW_FUNCTIONS).get(part.op)
    if found is None:
        raise _unknown()
    return found


def _unknown() -> NotAllowed:
    return NotAllowed(
        "This expression cannot be computed from noisy results.",
        next_step="Use arithmetic, comparisons, CASE, CAST, ROUND, ABS, LEAST, GREATEST or COALESCE over aggregates.",
    )
