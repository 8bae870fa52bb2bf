"""How large conditions become when the engine pushes them down.

DuckDB pushes a condition below the SELECT that computes its columns, and expands each column wherever the condition mentions it. A
condition on twelve nested EXP, each of which mentions its argument three times, expands to half a million calls and is never planned.
So a SELECT with expensive columns below a condition ends in OFFSET 0, which stops the pushdown and changes no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.algebra.expressions import Call, Expression, Field
from discreet.algebra.relations import Filter, Join, Mark, PerPerson, Project, Relation, Scan, Windowed
from discreet.engines.sqlgen.common_subexpressions import mentions

HEAVY = 200
"""The number of calls of an expanded condition above which it must not be pushed down."""
_MOST = 10**9


def is_heavy(conditions: Iterable[Expression], *relations: Relation) -> bool:
    """Whether conditions over the columns of these relations must stay above them."""
    weights = [weight for relation in relations for weight in _of_columns(relation)]
    return sum(_of(condition, weights) for condition in conditions) > HEAVY


def _of(expression: Expression, weights: Sequence[int]) -> int:
    """Count the calls and columns of an expression with its columns expanded."""
    if isinstance(expression, Field):
        return weights[expression.at]
    if not isinstance(expression, Call):
        return 1
    times = zip(expression.args, mentions(expression), strict=True)
    return min(_MOST, 1 + sum(count * _of(arg, weights) for arg, count in times))


def _of_columns(relation: Relation) -> list[int]:
    match relation:
        case Scan():
            return [1] * len(relation.columns)
        case Filter():
            return _of_columns(relation.rows)
        case Project():
            below = _of_columns(relation.rows)
            return [_of(expression, below) for expression in relation.expressions]
        case Join():
            return [*_of_columns(relation.left), *_of_columns(relation.right)]
        case Mark() | Windowed():
            below = _of_columns(relation.rows)
            return below + [1] * (len(relation.columns) - len(below))
        case PerPerson():
            below = _of_columns(relation.rows)
            keys = [*([] if relation.is_public else [1]), *(_of(key, below) for key in relation.keys)]
            return keys + [1] * (len(relation.columns) - len(keys))
    return [max(several) for several in zip(*map(_of_columns, relation.parts), strict=True)]
