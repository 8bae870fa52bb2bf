"""What one person can add to the time of a question: all rows that they can have, each as dear as rows can be.

By the declared bounds only. Times are the most that anything was seen to take, times four (`algebra/registry.py`, Effort), so that nobody's
rows decide in which class an answer leaves, how long its place is kept, or whether its reading ends in time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from discreet.algebra.aggregates import Window
from discreet.algebra.expressions import Call, Expression
from discreet.algebra.question import Kind, Measure, Question
from discreet.algebra.relations import Compute, Join, Keep, Mark, PerPerson, Relation, Scan, Stack, Windowed
from discreet.algebra.shapes import MOST_ROWS
from discreet.catalog import Type
from discreet.engines import mentions

_PAIR, _SUMMED, _SORTED, _BIN = 150.0, 100.0, 1000.0, 4000.0
"""Nanoseconds for a row that is read or made of two, that is added up, that is sorted or grouped, that is a cell of a histogram."""
_WINDOW, _DOUBLING = 2500.0, 400.0
"""For a row of a window, and for each doubling of the width of its frame."""
_LETTER = 20.0
"""For a letter of a text that is sorted, grouped or compared."""


def of_one_person(question: Question) -> float:
    """Nanoseconds: the rows are read anew for each statement, those of histograms among them."""
    rows = question.rows.shape.most_rows
    keys = [key.expression for key in question.keys]
    grouped = _SORTED if keys or question.is_cut else 0.0
    reading = _relation(question.rows) + rows * (_PAIR + grouped + _sorting(keys))
    histograms = sum(measure.kind is Kind.QUANTILE for measure in question.measures)
    measured = rows * sum(map(_measure, question.measures))
    return len(question.sets) * ((1 + histograms) * reading + measured)


def _measure(measure: Measure) -> float:
    kinds = {Kind.QUANTILE: _BIN, Kind.DISTINCT: _SORTED, Kind.PEOPLE: _SORTED}
    return kinds.get(measure.kind, _SUMMED) + _sorting(measure.parts)


def _relation(relation: Relation) -> float:
    if relation.is_public or isinstance(relation, Scan):
        return 0.0
    match relation:
        case Keep():
            return _relation(relation.rows) + relation.rows.shape.most_rows * dearest(relation.condition)
        case Compute():
            return _relation(relation.rows) + relation.rows.shape.most_rows * sum(map(dearest, relation.expressions))
        case PerPerson():
            parts = [*relation.keys, *(part for aggregate in relation.aggregates for part in aggregate.parts)]
            each = _SORTED * (1 + len(relation.aggregates)) + _sorting(parts)
            return _relation(relation.rows) + relation.rows.shape.most_rows * each
        case Windowed():
            rows = relation.rows.shape.most_rows
            # Each window copies the rows that it sorts, with every text in them.
            carried = _LETTER * sum(column.facts.longest or 0 for column in relation.rows.columns)
            return _relation(relation.rows) + rows * sum(carried + _window(window, rows) for window in relation.windows)
        case Stack():
            return sum(map(_relation, relation.parts))
        case Join():
            return _meeting(relation, relation.left, relation.right)
        case Mark():
            return _meeting(relation, relation.rows, relation.others)


def _meeting(meeting: Join | Mark, left: Relation, right: Relation) -> float:
    """Keys are computed for the rows of each side, a condition between them for every pair, its arguments as often as they are written."""
    pairs = math.prod(side.shape.most_rows for side in (left, right) if not side.is_public) * meeting.fan_out
    each = _PAIR + (0.0 if meeting.on is None else dearest(meeting.on, is_repeated=True))
    keys = sum(
        side.shape.most_rows * (_SORTED + _sorting([pair[at] for pair in meeting.keys]))
        for at, side in enumerate((left, right))
        if not side.is_public
    )
    return _relation(left) + _relation(right) + keys + min(pairs, MOST_ROWS) * each


def _window(window: Window, rows: int) -> float:
    """A frame is as wide as it says, or as all rows."""
    width = 1
    if window.frame is not None:
        ends = (window.frame.start, window.frame.end)
        width = rows if None in ends else min(rows, 1 + sum(abs(end) for end in ends if end is not None))
    return _WINDOW + _DOUBLING * math.log2(1 + width) + _sorting(window.parts)


def _sorting(expressions: Iterable[Expression]) -> float:
    """Expressions of one row, and the letters that are looked at when their values are sorted, grouped or compared."""
    return sum(dearest(part) + _LETTER * (part.facts.longest or 0) for part in expressions)


def dearest(expression: Expression, *, is_repeated: bool = False) -> float:
    """The most nanoseconds that an expression takes for one row: texts are as long as they can be.

    With `is_repeated` an argument is computed as often as its function's template mentions it.
    """
    if not isinstance(expression, Call):
        return 0.0
    times: Sequence[int] = mentions(expression) if is_repeated else [1] * len(expression.args)
    parts = sum(
        max(1, count) * dearest(arg, is_repeated=is_repeated) for arg, count in zip(expression.args, times, strict=True)
    )
    return in_call(expression) + parts


def in_call(call: Call) -> float:
    """The most nanoseconds of a call, without its arguments'."""
    effort, signature = call.function.effort, call.function.signature
    rounds = (len(call.args) - len(signature.last)) // signature.repeats if signature.repeats else 1
    lengths = [max(1, arg.facts.longest or 0) for arg in call.args if arg.facts.type is Type.TEXT]
    given = math.prod(lengths) if effort.is_product else sum(lengths)
    return effort.fixed * max(1, rounds) + effort.letter * max(given, call.facts.longest or 0)
