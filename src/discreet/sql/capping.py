"""A table whose rows each question bounds is cut by rank before its rows meet others: one person must not exhaust memory."""

from __future__ import annotations

from dataclasses import replace

from discreet.algebra.aggregates import Aggregate, Order, Window
from discreet.algebra.expressions import Expression, over
from discreet.algebra.relations import Compute, Join, Keep, Mark, PerPerson, Relation, Scan, Stack, Windowed
from discreet.algebra.shapes import CAP


def capped(relation: Relation) -> Relation:
    """The same relation with a limit on every person's rows; what is derived above a table is derived anew."""
    if relation.is_public or relation.shape.most_rows is not None:
        return relation
    if isinstance(relation, Scan):
        return replace(relation, most=CAP)
    if isinstance(relation, Stack):
        return Stack(tuple(capped(part) for part in relation.parts))
    if isinstance(relation, Join):
        return _joined(relation)
    rows = capped(relation.rows)
    if isinstance(relation, Keep):
        return Keep(rows, _anew(relation.condition, rows))
    if isinstance(relation, Compute):
        return Compute(rows, tuple(_anew(part, rows) for part in relation.expressions))
    if isinstance(relation, Mark):
        keys = tuple((_anew(ours, rows), theirs) for ours, theirs in relation.keys)
        return replace(relation, rows=rows, keys=keys)
    if isinstance(relation, PerPerson):
        aggregates = tuple(_folded(part, rows) for part in relation.aggregates)
        return PerPerson(rows, tuple(_anew(key, rows) for key in relation.keys), aggregates)
    return Windowed(rows, tuple(window_anew(part, rows) for part in relation.windows))


def _anew(expression: Expression, rows: Relation) -> Expression:
    return over(expression, [rows.field(at) for at in range(len(rows.columns))])


def _joined(relation: Join) -> Join:
    """With a public side: two protected ones were capped when they met."""
    left, right = capped(relation.left), capped(relation.right)
    keys = tuple((_anew(ours, left), _anew(theirs, right)) for ours, theirs in relation.keys)
    return replace(relation, left=left, right=right, keys=keys)


def _folded(aggregate: Aggregate, rows: Relation) -> Aggregate:
    value = None if aggregate.value is None else _anew(aggregate.value, rows)
    where = None if aggregate.where is None else _anew(aggregate.where, rows)
    return replace(aggregate, value=value, where=where)


def window_anew(window: Window, rows: Relation) -> Window:
    """The same window over what a relation has become."""
    return replace(
        window,
        what=_folded(window.what, rows) if isinstance(window.what, Aggregate) else window.what,
        value=None if window.value is None else _anew(window.value, rows),
        partition=tuple(_anew(part, rows) for part in window.partition),
        order=tuple(Order(_anew(key.by, rows), key.falling) for key in window.order),
    )
