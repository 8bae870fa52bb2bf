"""Names of keys and measures: those of the answer's columns, or of the catalog's columns that they are read from."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.algebra.expressions import Call, Expression, Field, fields_of
from discreet.algebra.query import Measure, MeasureKind
from discreet.algebra.relations import Join, PerPerson, Project, Relation, Scan, UnionAll
from discreet.algebra.released_expressions import KeyOf, Release, tables_in
from discreet.postprocessing.plan import Plan

_WORDS = {
    MeasureKind.ROWS: "rows",
    MeasureKind.PRESENT: "values of",
    MeasureKind.PEOPLE: "people",
    MeasureKind.DISTINCT: "distinct values of",
    MeasureKind.TOTAL: "total of",
    MeasureKind.SQUARES: "squares of",
    MeasureKind.PRODUCTS: "products of",
    MeasureKind.QUANTILE: "quantile of",
}


def key_names(plan: Plan) -> Mapping[tuple[int, int], str]:
    """Return the name of each (query, key): of the answer column that shows it, of the catalog column, or its number."""
    shown = {
        (view.query, after.key): name
        for view in tables_in(plan.view)
        if isinstance(view, Release)
        for name, after in view.columns
        if isinstance(after, KeyOf)
    }
    return {
        (number, at): shown.get((number, at)) or _plain(key.expression, query.rows) or f"key {at + 1}"
        for number, query in enumerate(plan.queries)
        for at, key in enumerate(query.keys)
    }


def measure_name(measure: Measure, rows: Relation) -> str:
    """Return what is measured, and of which columns: `total of cost`."""
    plain = [_plain(value, rows) for value in measure.values]
    if all(name is not None for name in plain):
        about = ", ".join(name or "" for name in plain)
    else:
        read = (_column(rows, field.at) for value in measure.values for field in fields_of(value))
        names = dict.fromkeys(name for name in read if name is not None)
        about = f"an expression over {', '.join(names)}" if names else "an expression"
    where = ", with a filter" if measure.where is not None else ""
    return f"{_WORDS[measure.kind]} {about}".rstrip() + where


def _plain(expression: Expression, rows: Relation) -> str | None:
    """Return the declared column that an expression is, perhaps cast to real; None for anything else."""
    if isinstance(expression, Call) and expression.function.name == "real":
        return _plain(expression.args[0], rows)
    return _column(rows, expression.at) if isinstance(expression, Field) else None


def _column(rows: Relation, at: int) -> str | None:
    """Return the declared column that a relation's column is read from."""
    match rows:
        case Scan():
            return list(rows.table.columns)[at]
        case Project():
            return _plain(rows.expressions[at], rows.rows)
        case Join():
            width = len(rows.left.columns)
            return _column(rows.left, at) if at < width else _column(rows.right, at - width)
        case UnionAll():
            return _column(rows.parts[0], at)
        case PerPerson():
            key = at - (0 if rows.is_public else 1)
            return _plain(rows.keys[key], rows.rows) if 0 <= key < len(rows.keys) else None
    return _column(rows.rows, at) if at < len(rows.rows.columns) else None
