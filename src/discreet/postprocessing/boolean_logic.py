"""Comparisons and three-valued logic over columns. What cannot be compared is NULL."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date, datetime
from functools import reduce
from typing import Any

import numpy as np

from discreet.postprocessing.noisy_columns import TEXTUAL, Column, Mask, Values, as_text, numbers, types_of
from discreet.postprocessing.ordering import sortable

_NUMBERS = {int, float, bool}
_RULES: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def joint_events(args: Sequence[Column]) -> Mapping[Hashable, int]:
    """Return the events of all arguments, each event once."""
    events: dict[Hashable, int] = {}
    for arg in args:
        for event, draws in arg.events.items():
            events[event] = max(draws, events.get(event, 0))
    return events


def comparison(op: str) -> Callable[[Column, Column], Column]:
    """Return the operator of a comparison."""
    rule = _RULES[op]

    def compared(a: Column, b: Column) -> Column:
        values, valid = compare(rule, a, b)
        return Column(values, valid, joint_events((a, b)), None, a.steady and b.steady)

    return compared


def compare(rule: Callable[[Any, Any], Any], a: Column, b: Column) -> tuple[Mask, Mask]:
    """Compare numbers with numbers, dates with dates, text with text; a date with a text by its ISO form."""
    valid = a.valid & b.valid
    left, right = types_of(a), types_of(b)
    x: Values
    y: Values
    if left <= _NUMBERS and right <= _NUMBERS:
        (x, _), (y, _) = numbers(a), numbers(b)
    elif left == right and left in ({date}, {datetime}) and a.values.dtype.kind == b.values.dtype.kind == "M":
        x, y = a.values, b.values
    elif left <= TEXTUAL and right <= TEXTUAL:
        x, y = as_text(a), as_text(b)
    else:
        return _compare_each(rule, a, b)
    return rule(x, y).astype(np.bool_), valid


def _compare_each(rule: Callable[[Any, Any], Any], a: Column, b: Column) -> tuple[Mask, Mask]:
    values, valid = np.zeros(len(a), np.bool_), np.zeros(len(a), np.bool_)
    for at, (x, y) in enumerate(zip(a.python, b.python, strict=True)):
        if x is not None and y is not None:
            (kind, left), (other, right) = sortable(x), sortable(y)
            valid[at] = kind == other
            values[at] = kind == other and rule(left, right)
    return values, valid


def truth(column: Column) -> tuple[Mask, Mask]:
    """Return where a column is true, and where it is false."""
    if column.values.dtype == np.bool_:
        return column.values & column.valid, ~column.values & column.valid
    values, valid = numbers(column)
    nonzero = (values != 0).astype(np.bool_)
    return nonzero & valid, ~nonzero & valid


def conjunction(*args: Column) -> Column:
    """AND: false if an argument is false, else NULL if one is NULL."""
    sides = [truth(arg) for arg in args]
    true, false = reduce(operator.and_, (t for t, _ in sides)), reduce(operator.or_, (f for _, f in sides))
    return Column(true, true | false, joint_events(args), None, _settled(args))


def disjunction(*args: Column) -> Column:
    """OR: true if an argument is true, else NULL if one is NULL."""
    sides = [truth(arg) for arg in args]
    true, false = reduce(operator.or_, (t for t, _ in sides)), reduce(operator.and_, (f for _, f in sides))
    return Column(true, true | false, joint_events(args), None, _settled(args))


def negation(column: Column) -> Column:
    """NOT: true if the argument is false."""
    true, false = truth(column)
    return Column(false, true | false, column.events, None, column.steady)


def _settled(args: Sequence[Column]) -> bool:
    """Whether noise cannot decide which results are NULL: NULL AND x is NULL or not depending on x."""
    return all(arg.steady for arg in args) and (not joint_events(args) or all(arg.valid.all() for arg in args))


def is_null(column: Column) -> Column:
    """IS NULL: it is noisy only if noise decides which cells are NULL."""
    return Column(~column.valid, np.ones(len(column), np.bool_), {} if column.steady else column.events)


def not_null(column: Column) -> Column:
    """IS NOT NULL, the opposite of `is_null`."""
    return Column(column.valid, np.ones(len(column), np.bool_), {} if column.steady else column.events)


def between(column: Column, low: Column, high: Column) -> Column:
    """BETWEEN: at least `low` and at most `high`."""
    return conjunction(comparison(">=")(column, low), comparison("<=")(column, high))


def among(column: Column, *values: Column) -> Column:
    """IN: equal to one of the values."""
    return disjunction(*(comparison("=")(column, value) for value in values))
