"""The most that one person can add to the time of a query: all rows that a person can have, each as slow as a row can be.

It depends on declared bounds only. Times are the largest measured ones, times four (`algebra/registry.py`, Effort), so that no person's rows
decide the latency bucket of an answer, how long its slot is held, or whether its reading ends in time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from discreet.algebra.aggregates import Window
from discreet.algebra.expressions import Expression, fields_of
from discreet.algebra.query import Measure, MeasureKind, Query
from discreet.algebra.relation_shape import MOST_ROWS
from discreet.algebra.relations import Filter, Join, Mark, PerPerson, Project, Relation, Scan, UnionAll, Windowed
from discreet.planning.call_sizes import in_condition, in_expression, rows_tried

_PAIR, _SUMMED, _SORTED, _BIN = 150.0, 100.0, 1000.0, 4000.0
"""Nanoseconds for a row that is read or made of two, that is added up, that is sorted or grouped, that is a cell of a histogram."""
_WINDOW, _DOUBLING = 2500.0, 400.0
"""For a row of a window, and for each doubling of the width of its frame."""
_BEGUN = 2e6
"""For a join, a group or a window that would have no row without this person, and for each aggregate of a group beyond the first."""
_LETTER, _CARRIED = 20.0, 4.0
"""For a letter of a text that is sorted, grouped or compared, and of one that a join or UNION ALL carries along."""


def of_one_person(query: Query) -> float:
    """Nanoseconds: the rows are read anew for each statement, those of histograms among them."""
    rows, keys = query.rows.shape.most_rows, [key.expression for key in query.keys]
    parts = [*keys, *(part for measure in query.measures for part in measure.parts)]
    grouped = _SORTED if keys or query.needs_bounding else 0.0
    reading = _relation(query.rows, _read(parts)) + rows * (_PAIR + grouped + _sorting(keys))
    by_person = query.needs_bounding + any(key.values is None for key in query.keys)
    reading += by_person * (_BEGUN + rows * _owner(query.rows))
    if query.drops_undeclared:  # a condition on each key, which mentions it twice
        reading += rows_tried(query.rows) * sum(2 * in_condition(key, query.rows) for key in keys)
    histograms = sum(measure.kind is MeasureKind.QUANTILE for measure in query.measures)
    measured = rows * sum(_measure(measure, query.rows) for measure in query.measures)
    measured += _BEGUN * max(0, len(query.measures) - 1)
    return len(query.sets) * ((1 + histograms) * reading + measured)


def _measure(measure: Measure, rows: Relation) -> float:
    kinds = {MeasureKind.QUANTILE: _BIN, MeasureKind.DISTINCT: _SORTED, MeasureKind.PEOPLE: _SORTED + _owner(rows)}
    return kinds.get(measure.kind, _SUMMED) + _sorting(measure.parts)


def _relation(relation: Relation, need: set[int]) -> float:
    """What its rows take, of which only the columns at these places are read above."""
    if relation.is_public or isinstance(relation, Scan):
        return 0.0
    match relation:
        case Filter():
            tried = rows_tried(relation.rows) * in_condition(relation.condition, relation.rows)
            return _relation(relation.rows, need | _read([relation.condition])) + tried
        case Project():
            asked = [part for at, part in enumerate(relation.expressions) if at in need]
            computed = relation.rows.shape.most_rows * sum(map(in_expression, asked))
            return _relation(relation.rows, _read(asked)) + computed
        case PerPerson():
            return _grouped(relation, need)
        case Windowed():
            return _windowed(relation, need)
        case UnionAll():
            carried = relation.shape.most_rows * _CARRIED * _letters(relation, need)
            return sum(_relation(part, need) for part in relation.parts) + carried
        case Join():
            return _meeting(relation, relation.left, relation.right, need)
        case Mark():
            width = len(relation.rows.columns)
            if width not in need:
                return _relation(relation.rows, need)
            return _meeting(relation, relation.rows, relation.others, need - {width})


def _grouped(relation: PerPerson, need: set[int]) -> float:
    first = len(relation.columns) - len(relation.aggregates)
    asked = [aggregate for at, aggregate in enumerate(relation.aggregates, start=first) if at in need]
    parts = [*relation.keys, *(part for aggregate in asked for part in aggregate.parts)]
    each = _SORTED * (1 + len(asked)) + _sorting(parts) + _owner(relation)
    return _relation(relation.rows, _read(parts)) + _BEGUN * max(1, len(asked)) + relation.rows.shape.most_rows * each


def _windowed(relation: Windowed, need: set[int]) -> float:
    """Each window copies the rows that it sorts, with every text in them."""
    width, rows = len(relation.rows.columns), relation.rows.shape.most_rows
    asked = [window for at, window in enumerate(relation.windows, start=width) if at in need]
    below = {at for at in need if at < width} | _read(part for window in asked for part in window.parts)
    carried = _LETTER * _letters(relation.rows, below)
    each = sum(_BEGUN + rows * (carried + _window(window, rows)) for window in asked)
    return _relation(relation.rows, below) + each


def _meeting(meeting: Join | Mark, left: Relation, right: Relation, need: set[int]) -> float:
    """Keys are computed for the rows of each side, which are carried along; a condition between them for every pair."""
    width = len(left.columns)
    reads = need | (set() if meeting.on is None else _read([meeting.on]))
    pairs = math.prod(side.shape.most_rows for side in (left, right) if not side.is_public) * meeting.fan_out
    each = _PAIR + (0.0 if meeting.on is None else in_condition(meeting.on, left, right, is_between=True))
    nanoseconds = _BEGUN + min(pairs, MOST_ROWS) * each
    for at, side in enumerate((left, right)):
        keys = [pair[at] for pair in meeting.keys]
        below = {place - at * width for place in reads if (place >= width) == bool(at)} | _read(keys)
        if not side.is_public:
            row = _SORTED + _sorting(keys) + _CARRIED * _letters(side, below)
            nanoseconds += _relation(side, below) + side.shape.most_rows * row
    return nanoseconds


def _window(window: Window, rows: int) -> float:
    """A frame is as wide as it says, or as all rows."""
    width = 1
    if window.frame is not None:
        ends = (window.frame.start, window.frame.end)
        width = rows if None in ends else min(rows, 1 + sum(abs(end) for end in ends if end is not None))
    return _WINDOW + _DOUBLING * math.log2(1 + width) + _sorting(window.parts)


def _sorting(expressions: Iterable[Expression]) -> float:
    """Expressions of one row, and the letters that are looked at when their values are sorted, grouped or compared."""
    return sum(in_expression(part) + _LETTER * (part.properties.longest or 0) for part in expressions)


def _owner(relation: Relation) -> float:
    """The letters of whom a row belongs to, where it is sorted or grouped by that."""
    return 0.0 if relation.shape.person is None else _LETTER * (relation.shape.person.longest or 0)


def _letters(relation: Relation, places: Iterable[int]) -> int:
    """The letters of one row: of its owner, and of its columns at these places."""
    properties = [relation.shape.person, *(relation.columns[at].properties for at in places)]
    return sum(part.longest or 0 for part in properties if part is not None)


def _read(expressions: Iterable[Expression]) -> set[int]:
    """The places of the columns that expressions read."""
    return {field.at for expression in expressions for field in fields_of(expression)}
