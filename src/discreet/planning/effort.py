"""How long a plan is expected to take, from the plan and the declared sizes: public, and known before anything is read.

Rates are nanoseconds for a row or a cell, measured once on generated tables (`python -m benchmarks.effort`, 2 cores) and rounded up. They are
constants, so that they cannot depend on the data. If a plan is slower than expected, its answer is returned one doubling later, which may
reveal something; if it is faster, its answer only waits.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.algebra.aggregates import Aggregate, Fold
from discreet.algebra.expressions import Call, Expression
from discreet.algebra.identity_cache import IdentityCache
from discreet.algebra.query import Measure, MeasureKind, Query
from discreet.algebra.relations import Filter, Join, Mark, PerPerson, Project, Relation, Scan, UnionAll, Windowed
from discreet.catalog import Type
from discreet.planning.pricing import SELECTED_GROUPS
from discreet.planning.worst_case_cost import of_one_person
from discreet.postprocessing.plan import Plan

SAFETY = 2
"""Factor on the expected seconds."""
_CHARGE, _STATEMENT, _OPERATOR = 8e6, 3e6, 1e6
"""For a query that is charged, for each of its statements, and for each join, group and window of one, however little it reads."""
_ROW, _CALL, _TEXT, _LETTER, _GROUPED = 4.0, 5.0, 60.0, 1.5, 20.0
"""For a row that is read, that something is computed of, that a text is looked at in, for each letter of it, for a row that is added up."""
_AGGREGATE, _BESIDE, _DISTINCT = 0.25e6, 2.5e3, 50e3
"""For each aggregate of a group beyond the first, however little it reads; for each two of them; for each two one of which is DISTINCT."""
USUAL_MEASUREMENTS = 500
"""The number of tables that a run counts, if the run does not say."""
_COUNTED, _COUNTED_CELL = 300e3, 3.0
"""For a noisy comparison of a count, and for each cell of the table that the count is read from."""
_COMMON = 40
"""By this factor a call on common values is faster than its declared maximum."""
_PERSONAL, _MET, _PAIR = 250.0, 80.0, 4.0
"""For a row that is sorted or grouped by its person, that others are looked for, that was made of two."""
_DRAW, _CELL = 150.0, 1000.0
"""For a number that noise is drawn for, and for a cell of a histogram that a quantile is drawn from."""


CHARGE = SAFETY * _CHARGE / 1e9
"""The expected seconds of the charge, before reading starts."""


def seconds_of(plan: Plan) -> float:
    """Return the seconds of charge, reading and noise on tables of the declared sizes, doubled for safety.

    The most that the rows of one person can cost is added, so that no person's rows decide when an answer is returned.
    """
    return (SAFETY * _CHARGE + sum(map(_nanoseconds_of, plan.queries))) / 1e9


def seconds_of_tables(query: Query, *, measurements: int, computing: float) -> float:
    """Return the seconds of a run: rows are coded once and counted for each measurement. `computing`: seconds in between."""
    rows, reading = _relation(query.rows)
    coded = reading + rows * (_PERSONAL if query.needs_bounding else 0) + rows * _GROUPED * len(query.keys)
    counting = measurements * (_STATEMENT + rows * _GROUPED)
    return (SAFETY * (_CHARGE + coded + counting + computing * 1e9) + of_one_person(query)) / 1e9


def declared_rows(query: Query) -> int:
    """Return about how many rows a query reads at most, by the declared sizes."""
    return round(_relation(query.rows)[0])


def seconds_of_counts(query: Query, *, tables: int, counts: int, cells: float, steps: int) -> float:
    """Return the seconds of single counts of coded rows.

    `tables` are counted again, `cells` are those of all tables that counts are read from, and `steps` are stored.
    """
    rows, _ = _relation(query.rows)
    reading = tables * (_STATEMENT + rows * _GROUPED)
    return SAFETY * (steps * _CHARGE + reading + counts * _COUNTED + cells * _COUNTED_CELL) / 1e9


def _nanoseconds(query: Query) -> float:
    return SAFETY * _query(query) + of_one_person(query)


_nanoseconds_of = IdentityCache(_nanoseconds)


def _query(query: Query) -> float:
    rows, reading = _relation(query.rows)
    reading += rows * sum(_calls(key.expression) for key in query.keys)
    if query.needs_bounding:
        reading += _OPERATOR + rows * _PERSONAL
    return sum(_grouping(query, keys, rows, reading) for keys in query.sets)


def _grouping(query: Query, keys: tuple[int, ...], rows: float, reading: float) -> float:
    """One statement for the integers and one for each histogram; each reads everything again."""
    groups = query.groups_in(keys)
    cells = min(rows, SELECTED_GROUPS) if groups is None else groups
    nanoseconds = _STATEMENT + reading + rows * (_PERSONAL if groups is None else _GROUPED)
    nanoseconds += _together(len(query.measures), sum(measure.is_distinct for measure in query.measures))
    for measure in query.measures:
        nanoseconds += rows * (_GROUPED + sum(map(_calls, measure.parts)))
        if measure.is_distinct:
            nanoseconds += rows * _PERSONAL
        if measure.kind is MeasureKind.QUANTILE:
            nanoseconds += _STATEMENT + reading + rows * _GROUPED + _histogram(measure, rows, cells)
        nanoseconds += cells * _DRAW
    return nanoseconds


def _together(aggregates: int, distinct: int) -> float:
    """Return the time of several aggregates before any row: the engine plans each together with all others."""
    beyond = max(0, aggregates - 1)
    return beyond * (_AGGREGATE + aggregates * _BESIDE + distinct * _DISTINCT)


def _histogram(measure: Measure, rows: float, groups: float) -> float:
    candidates = measure.bins.last - measure.bins.first + 1
    return 3 * _CELL * min(rows, groups * candidates) + 3 * _DRAW * groups


def _relation(relation: Relation) -> tuple[float, float]:
    """Return about how many rows a relation has at most, and its nanoseconds. Public relations are prepared before, and only joined."""
    if relation.is_public:
        return relation.shape.size, 0.0
    match relation:
        case Scan():
            rows = float(relation.table.rows_about)
            return rows, rows * _ROW
        case Filter():
            rows, before = _relation(relation.rows)
            return rows, before + rows * _calls(relation.condition)
        case Project():
            rows, before = _relation(relation.rows)
            return rows, before + rows * sum(map(_calls, relation.expressions))
        case PerPerson():
            rows, before = _relation(relation.rows)
            each = _PERSONAL + _parts(relation.keys, relation.aggregates)
            distinct = sum(aggregate.fold is Fold.DISTINCT for aggregate in relation.aggregates)
            return rows, before + _OPERATOR + _together(len(relation.aggregates), distinct) + rows * each
        case Windowed():
            rows, before = _relation(relation.rows)
            return rows, before + (_OPERATOR + rows * _PERSONAL) * len(relation.windows)
        case UnionAll():
            parts = [_relation(part) for part in relation.parts]
            return sum(rows for rows, _ in parts), sum(before for _, before in parts)
        case Join():
            return _pairs(relation, relation.left, relation.right)
        case Mark():
            rows, before = _pairs(relation, relation.rows, relation.others)
            return min(rows, _relation(relation.rows)[0]), before


def _pairs(meeting: Join | Mark, left: Relation, right: Relation) -> tuple[float, float]:
    """Return the size and time of a join. A row matches at most `fan_out` public rows, or as many rows as one person can have."""
    (ours, before), (theirs, beside) = _relation(left), _relation(right)
    if left.is_public or right.is_public:
        rows = (theirs if left.is_public else ours) * meeting.fan_out
    else:
        rows = min(ours * right.shape.most_rows, theirs * left.shape.most_rows)
    conditions = [part for pair in meeting.keys for part in pair] + ([] if meeting.on is None else [meeting.on])
    work = _OPERATOR + (ours + theirs) * _MET + rows * (_PAIR + sum(map(_calls, conditions)))
    return max(rows, ours if not left.is_public else 0.0), before + beside + work


def _parts(keys: Sequence[Expression], aggregates: Sequence[Aggregate]) -> float:
    return sum(map(_calls, keys)) + sum(_calls(part) for aggregate in aggregates for part in aggregate.parts)


def _calls(expression: Expression) -> float:
    """Return the nanoseconds of an expression for one row: its calls, and the letters of texts that it computes with."""
    if not isinstance(expression, Call):
        return _CALL
    texts = [part.properties for part in (expression, *expression.args) if part.properties.type is Type.TEXT]
    letters = (
        0
        if expression.properties.type is Type.BOOLEAN
        else max((properties.longest or 0 for properties in texts), default=0)
    )
    call = max(_TEXT if texts else _CALL, expression.function.effort.fixed / _COMMON)
    return call + letters * _LETTER + sum(map(_calls, expression.args))
