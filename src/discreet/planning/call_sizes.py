"""The most time that expressions and conditions can take on the rows of one person: texts of the greatest length, evaluated as often as possible.

The engine moves a condition down the plan, replaces every column in it by its expression, and chooses the order of conditions itself: before
grouping, and before comparing the rank of a row. So a condition is costed as it could be written and where it could be evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.algebra.expressions import Call, Expression, Field
from discreet.algebra.relations import Filter, Join, Mark, PerPerson, Project, Relation, Scan, UnionAll, Windowed
from discreet.catalog import Type
from discreet.engines import is_heavy, mentions


def in_call(call: Call) -> float:
    """Return the most nanoseconds of a call, without its arguments."""
    effort, signature = call.function.effort, call.function.signature
    rounds = (len(call.args) - len(signature.last)) // signature.repeats if signature.repeats else 1
    lengths = [max(1, arg.properties.longest or 0) for arg in call.args if arg.properties.type is Type.TEXT]
    given = math.prod(lengths) if effort.is_product else sum(lengths)
    return effort.fixed * max(1, rounds) + effort.letter * max(given, call.properties.longest or 0)


def in_expression(expression: Expression) -> float:
    """Return the most nanoseconds of an expression for one row, each part computed once."""
    if not isinstance(expression, Call):
        return 0.0
    return in_call(expression) + sum(map(in_expression, expression.args))


def in_condition(condition: Expression, *relations: Relation, is_between: bool = False) -> float:
    """Return the most nanoseconds of a condition over the columns of these relations, for one row or one pair.

    What is too heavy to be moved stays where it is (`engines/sqlgen/condition_size.py`); between two sides (`is_between`) arguments are still repeated.
    """
    heavy = is_heavy([condition], *relations)
    if heavy and not is_between:
        return in_expression(condition)
    columns = [cost for relation in relations for cost in _of_columns(relation)]
    return _written_out(condition, [0.0] * len(columns) if heavy else columns)


def _written_out(expression: Expression, columns: Sequence[float]) -> float:
    """An argument is computed as often as its function's template mentions it, and a column as often as it is mentioned."""
    if isinstance(expression, Field):
        return columns[expression.at]
    if not isinstance(expression, Call):
        return 0.0
    times = zip(expression.args, mentions(expression), strict=True)
    return in_call(expression) + sum(max(1, count) * _written_out(arg, columns) for arg, count in times)


def _of_columns(relation: Relation) -> list[float]:
    """Return the cost of each column if a condition contains its expression. Public relations are tables by then."""
    width = len(relation.columns)
    if relation.is_public:
        return [0.0] * width
    match relation:
        case Project():
            below = _of_columns(relation.rows)
            return [_written_out(expression, below) for expression in relation.expressions]
        case Filter() | Mark() | Windowed():
            below = _of_columns(relation.rows)
            return below + [0.0] * (width - len(below))
        case Join():
            return [*_of_columns(relation.left), *_of_columns(relation.right)]
        case PerPerson():
            below = _of_columns(relation.rows)
            keys = [0.0, *(_written_out(key, below) for key in relation.keys)]
            return keys + [0.0] * (width - len(keys))
        case UnionAll():
            return [max(several) for several in zip(*map(_of_columns, relation.parts), strict=True)]
    return [0.0] * width


def rows_tried(relation: Relation) -> int:
    """Return on how many rows of one person a condition can be evaluated, in this relation or in one below that it can move to."""
    match relation:
        case Scan():
            return relation.table.rows_kept
        case Join():
            below = [relation.left, relation.right]
        case UnionAll():
            below = [*relation.parts]
        case _:
            below = [relation.rows]
    return max(relation.shape.most_rows, sum(rows_tried(part) for part in below if not part.is_public))
