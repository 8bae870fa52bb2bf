"""Canonical serialization: a query as JSON that does not depend on its text, the parser, the engine or Python.

Columns are positions in the tree, constants are [type, text] with reals in hexadecimal, functions are names with
versions. Scans contain the declared properties of their tables, because the charge depends on them. This is format 2.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import TypeAlias

from discreet.algebra.aggregates import Aggregate, Frame, Order, RowFunction, Window
from discreet.algebra.expressions import Call, Expression, Field, Literal
from discreet.algebra.grids import Grid
from discreet.algebra.query import ContributionBounds, Key, Measure, Query
from discreet.algebra.relations import Filter, Join, Mark, PerPerson, Project, Relation, Scan, UnionAll, Windowed
from discreet.algebra.value_properties import Value
from discreet.catalog import Column, Table

FORMAT = 2
Json: TypeAlias = bool | int | str | list["Json"] | dict[str, "Json"] | None


def digest(parts: Mapping[str, Json]) -> str:
    """Return the hash of serialized parts. Values that are not JSON raise an error; nothing is converted."""
    return hashlib.sha256(canonical({"format": FORMAT, **parts}).encode()).hexdigest()


def canonical(parts: Json) -> str:
    """Return the canonical JSON text: sorted keys, no spaces."""
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def query_tree(query: Query) -> Json:
    """Return a query as JSON."""
    tree: dict[str, Json] = {
        "rows": relation_tree(query.rows),
        "keys": [_key(key) for key in query.keys],
        "measures": [_measure(measure) for measure in query.measures],
        "limits": _limits(query.limits),
        "sets": [list(keys) for keys in query.sets],
    }
    if query.choose is not None:
        tree["choose"] = [query.choose.measure, query.choose.count]
    return tree


def relation_tree(relation: Relation) -> Json:
    """Return a relation as JSON: the kind of its node, then its parts."""
    match relation:
        case Scan():
            return ["scan", _table(relation.table), relation.most, [*sorted(relation.unique)]]
        case Filter():
            return ["keep", relation_tree(relation.rows), expression_tree(relation.condition)]
        case Project():
            return ["compute", relation_tree(relation.rows), [expression_tree(part) for part in relation.expressions]]
        case Join():
            sides = [relation_tree(relation.left), relation_tree(relation.right)]
            return ["join", relation.how.value, *sides, _pairs(relation), _optional(relation.on), relation.fan_out]
        case Mark():
            sides = [relation_tree(relation.rows), relation_tree(relation.others)]
            return ["mark", *sides, _pairs(relation), _optional(relation.on), relation.fan_out]
        case PerPerson():
            keys = [expression_tree(key) for key in relation.keys]
            return [
                "per person",
                relation_tree(relation.rows),
                keys,
                [_aggregate(part) for part in relation.aggregates],
            ]
        case Windowed():
            return ["windowed", relation_tree(relation.rows), [_window(window) for window in relation.windows]]
        case UnionAll():
            return ["stack", [relation_tree(part) for part in relation.parts]]


def expression_tree(expression: Expression) -> Json:
    """Return an expression as JSON."""
    match expression:
        case Field():
            return ["field", expression.at]
        case Literal():
            return ["literal", expression.type.value, _value(expression.value)]
        case Call():
            record = expression.function
            return ["call", record.name, record.version, *(expression_tree(arg) for arg in expression.args)]


def _optional(expression: Expression | None) -> Json:
    return None if expression is None else expression_tree(expression)


def _pairs(relation: Join | Mark) -> Json:
    return [[expression_tree(ours), expression_tree(theirs)] for ours, theirs in relation.keys]


def _aggregate(aggregate: Aggregate) -> Json:
    steps = None if aggregate.steps is None else _steps(aggregate.steps)
    return [aggregate.fold.value, _optional(aggregate.value), _optional(aggregate.where), steps]


def _window(window: Window) -> Json:
    what: Json = window.operation.value if isinstance(window.operation, RowFunction) else _aggregate(window.operation)
    order: list[Json] = [_order(key) for key in window.order]
    partition: list[Json] = [expression_tree(part) for part in window.partition]
    return [what, _optional(window.value), window.offset, partition, order, _frame(window.frame)]


def _order(order: Order) -> Json:
    return [expression_tree(order.by), order.descending]


def _frame(frame: Frame | None) -> Json:
    return None if frame is None else [frame.start, frame.end]


def _key(key: Key) -> Json:
    return [expression_tree(key.expression), None if key.values is None else [_value(value) for value in key.values]]


def _measure(measure: Measure) -> Json:
    return {
        "kind": measure.kind.value,
        "values": [expression_tree(value) for value in measure.values],
        "where": _optional(measure.where),
        "steps": [_steps(steps) for steps in measure.steps],
        "centres": list(measure.centres),
        "coarser": measure.coarser,
        "q": None if measure.q is None else str(measure.q),
    }


def _steps(steps: Grid) -> Json:
    return [str(steps.step), steps.low, steps.high]


def _limits(limits: ContributionBounds) -> Json:
    return [limits.rows, limits.groups, limits.rows_per_group]


def _table(table: Table) -> Json:
    path: list[Json] = (
        [[step.column, step.table, step.key] for step in table.unit.path] if table.unit is not None else []
    )
    unit: Json = None if table.unit is None else ["each row"] if table.unit.is_row else [table.unit.column, path]
    columns: list[Json] = [_column(column) for column in table.columns.values()]
    return [table.name, unit, table.max_rows, table.is_bounded_once, columns]


def _column(column: Column) -> Json:
    ends = [None if end is None else str(end) for end in (column.lower, column.upper, column.granularity)]
    values: Json = None if column.values is None else [_value(value) for value in column.values]
    return [column.name, column.type.value, *ends, values, column.nullable, column.max_length]


def _value(value: Value | None) -> Json:
    """Return a value with its type, so that 1, true and '1' are different."""
    match value:
        case None:
            return None
        case bool():
            return ["boolean", str(value)]
        case int():
            return ["integer", str(value)]
        case float():
            return ["real", value.hex()]
        case datetime():
            return ["timestamp", value.isoformat()]
        case date():
            return ["date", value.isoformat()]
        case str():
            return ["text", value]
