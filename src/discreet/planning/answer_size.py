"""How large an answer is, as far as that is known before anything is paid: from the plan, never from the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from discreet.algebra.query import Key
from discreet.algebra.released_expressions import (
    After,
    Apply,
    ColumnOf,
    Constant,
    Folded,
    KeyOf,
    Over,
    Pairs,
    Release,
    Select,
    Sorted,
    Stacked,
    View,
)
from discreet.algebra.value_properties import LONGEST_TEXT
from discreet.errors import TooLarge
from discreet.postprocessing.expression_checks import most_rows
from discreet.postprocessing.plan import Plan

_NUMBER = 24
"""Bytes of a number and the two ends of its interval."""
_LONGEST_ROW = 2**22
_PASSED_ON = frozenset({"case", "coalesce", "nullif", "least", "greatest", "cast_text", "min", "max"})
"""What shows one of its arguments as it is."""


@dataclass(frozen=True, slots=True)
class AnswerLimit:
    """How large an answer may be as it is written: its bytes, its cells (rows times columns), and how often every row repeats the names of columns."""

    size: int
    cells: int | None = None
    names: int = 0

    def check(self, plan: Plan) -> None:
        """Refuse a query whose answer is certain to have more cells, or whose groups and texts, all as long as they may be, are more bytes."""
        if self.cells is not None and _rows(plan, plan.view) * len(plan.columns) > self.cells:
            raise too_many_cells(self.cells, paid=False)
        row = sum(_longest(plan, plan.view, {})) + self.names * sum(map(_bytes, plan.columns))
        if row > _LONGEST_ROW:
            raise _too_long("A row of this answer", _LONGEST_ROW)
        if row * most_rows(plan.view, plan.queries) > self.size:
            raise _too_long("This answer", self.size)


def too_many_cells(most: int, *, paid: bool) -> TooLarge:
    """What to do instead: what was paid for is kept, and costs nothing more."""
    kept = " It is paid for and kept: asking again costs nothing more." if paid else ""
    return TooLarge(
        f"As JSON this answer would have more than {most:,} cells.{kept}",
        next_step="Ask for it as application/vnd.apache.parquet (Accept), or for fewer groups: LIMIT, HAVING, fewer keys.",
    )


def _too_long(what: str, most: int) -> TooLarge:
    return TooLarge(
        f"{what} could have more than {most >> 20} MiB: every text counts as long as it may be, in every row.",
        next_step="Leave long texts out of the columns, give shorter parameters or names, or set a LIMIT. Nothing was paid.",
    )


# Rows


def _rows(plan: Plan, view: View) -> int:
    """The rows that a table has at least, whatever is measured."""
    match view:
        case Release(query=number, having=None):
            keys = plan.queries[number].keys
            sets = [[keys[at].values for at in priced.keys] for priced in plan.priced[number]]
            if plan.queries[number].choose is not None:
                return 0
            return sum(math.prod(len(values or ()) for values in product) for product in sets)
        case Select(table=table, where=None):
            return _rows(plan, table)
        case Sorted(table=table, limit=limit):
            rows = _rows(plan, table)
            return rows if limit is None else min(rows, limit)
        case Stacked(tables=tables):
            return sum(_rows(plan, table) for table in tables)
        case Pairs(left=left, right=right):
            return _rows(plan, left) * _rows(plan, right)
        case Release() | Select() | Folded():
            return 0


# Bytes


def _longest(plan: Plan, view: View, known: dict[int, list[int]]) -> list[int]:
    """The most bytes that a cell of each column has; a table that stands many times is looked at once."""
    if id(view) not in known:
        known[id(view)] = _longest_cells(plan, view, known)
    return known[id(view)]


def _longest_cells(plan: Plan, view: View, known: dict[int, list[int]]) -> list[int]:
    match view:
        case Release(query=number, columns=columns):
            keys = [_longest_key(key) for key in plan.queries[number].keys]
            return [
                _cell(after, lambda leaf: keys[leaf.key] if isinstance(leaf, KeyOf) else _NUMBER)
                for _, after in columns
            ]
        case Pairs(left=left, right=right):
            return [*_longest(plan, left, known), *_longest(plan, right, known)]
        case Stacked(tables=tables):
            return [max(cells) for cells in zip(*(_longest(plan, table, known) for table in tables), strict=True)]
        case Sorted(table=table):
            return _longest(plan, table, known)
        case Select(table=table, columns=columns):
            expressions = [after for _, after in columns]
        case Folded(table=table, keys=groups, folds=folds):
            expressions = [after for _, after in groups]
            expressions += [Apply(op, () if after is None else (after,)) for _, op, after in folds]
    below = _longest(plan, table, known)
    return [
        _cell(after, lambda leaf: below[leaf.at] if isinstance(leaf, ColumnOf) else _NUMBER) for after in expressions
    ]


def _longest_key(key: Key) -> int:
    if key.values is not None:
        return max((_bytes(value) for value in key.values), default=0)
    return key.expression.properties.longest or _NUMBER


def _cell(after: After, leaf: Callable[[After], int]) -> int:
    match after:
        case Constant(value=value):
            return _bytes(value)
        case Apply(op=op, args=args) | Over(op=op, args=args) if op in _PASSED_ON:
            return max((_cell(arg, leaf) for arg in args), default=0)
        case Apply(op="concat", args=args):
            return min(sum(_cell(arg, leaf) for arg in args), LONGEST_TEXT)
        case Apply() | Over():
            return _NUMBER
    return leaf(after)


def _bytes(value: object) -> int:
    return len(value.encode()) if isinstance(value, str) else _NUMBER
