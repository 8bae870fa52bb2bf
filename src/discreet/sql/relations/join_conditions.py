"""Conditions between two sides: conditions on one side, equalities, and whether the person is compared.

The inner side (the right side of a join, or a subquery) is read within the outer one: columns of the outer side have
positions from OUTER on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.algebra.expressions import Call, Expression, Field, fields_of, shift_fields
from discreet.algebra.relations import Filter, Join, Mark, Project, Relation, Scan, Windowed
from discreet.catalog import Table
from discreet.errors import NotAllowed
from discreet.sql.reader.scope import OUTER, Scope, all_of, mapped

Pair = tuple[Expression, Expression]
"""An equality: an expression of the outer side, and one of the inner side."""


@dataclass
class Parts:
    """The parts of a condition, by the sides that they read. `rest` reads both sides without being an equality."""

    inner: list[Expression] = field(default_factory=list)
    outer: list[Expression] = field(default_factory=list)
    keys: list[Pair] = field(default_factory=list)
    rest: list[Expression] = field(default_factory=list)
    further: list[Expression] = field(default_factory=list)
    """Conditions that read a SELECT outside of both sides."""


def split(conditions: Sequence[Expression]) -> Parts:
    """Sort conditions by the sides that they read."""
    parts = Parts()
    for condition in conditions:
        levels = _levels(condition)
        if levels <= {0}:
            parts.inner.append(condition)
        elif levels == {1}:
            parts.outer.append(shift_fields(condition, -OUTER))
        elif levels == {0, 1}:
            pair = _pair(condition)
            if pair is None:
                parts.rest.append(condition)
            else:
                parts.keys.append(pair)
        else:
            parts.further.append(condition)
    return parts


def _levels(expression: Expression) -> set[int]:
    return {part.at // OUTER for part in fields_of(expression)}


def _pair(condition: Expression) -> Pair | None:
    if not isinstance(condition, Call) or condition.function.name != "eq":
        return None
    a, b = condition.args
    if _levels(a) == {1} and _levels(b) == {0}:
        return shift_fields(a, -OUTER), b
    return (shift_fields(b, -OUTER), a) if _levels(a) == {0} and _levels(b) == {1} else None


def refuse_further(parts: Parts) -> None:
    """Refuse conditions that use more than the directly enclosing SELECT."""
    if parts.further:
        raise NotAllowed(
            "This subquery uses a column from more than one level outside of it.",
            next_step="Join the tables in FROM, and refer to their columns there.",
        )


def names_the_person(pairs: Sequence[Pair], outer: Relation, inner: Relation) -> bool:
    """Whether the equalities compare the person, by its id or by the first step of a path that the catalog declares."""
    return any(
        (ours.properties.person and theirs.properties.person and ours.properties.type is theirs.properties.type)
        or _follows_path(lineage(outer, ours), lineage(inner, theirs))
        for ours, theirs in pairs
    )


def lineage(relation: Relation, expression: Expression) -> tuple[Table, str] | None:
    """Return the table and column of the catalog that an expression equals; None if it is computed."""
    if not isinstance(expression, Field):
        return None
    at = expression.at
    if isinstance(relation, Scan):
        return relation.table, tuple(relation.table.columns)[at]
    if isinstance(relation, Filter):
        return lineage(relation.rows, expression)
    if isinstance(relation, Project):
        return lineage(relation.rows, relation.expressions[at])
    if isinstance(relation, Mark | Windowed):
        return lineage(relation.rows, expression) if at < len(relation.rows.columns) else None
    if isinstance(relation, Join):
        width = len(relation.left.columns)
        return (
            lineage(relation.left, expression)
            if at < width
            else lineage(relation.right, relation.right.field(at - width))
        )
    return None


def _follows_path(ours: tuple[Table, str] | None, theirs: tuple[Table, str] | None) -> bool:
    return ours is not None and theirs is not None and (_refers(ours, theirs) or _refers(theirs, ours))


def _refers(env: tuple[Table, str], there: tuple[Table, str]) -> bool:
    """Whether this equality is the first step of the catalog's path to the person."""
    (table, column), (other, key) = env, there
    if table.unit is None or not table.unit.path:
        return False
    step = table.unit.path[0]
    return (step.column, step.table, step.key) == (column, other.name, key)


def without_owners(pairs: Sequence[Pair]) -> list[Pair]:
    """Drop equalities of the person's id: the algebra always compares it."""
    return [(ours, theirs) for ours, theirs in pairs if not (_is_person_id(ours) and _is_person_id(theirs))]


def _is_person_id(expression: Expression) -> bool:
    return expression.properties.person and not expression.properties.nullable


def with_field(scope: Scope, expression: Expression) -> Field:
    """Return an expression as a column: itself, or appended to the relation."""
    rebase = scope.rebase(expression)
    if isinstance(rebase, Field):
        return rebase
    relation = scope.relation
    scope.relation = Project(relation, (*(relation.field(at) for at in range(scope.width)), rebase))
    return scope.relation.field(scope.width - 1)


def side_by_side(conditions: Sequence[Expression], outer: Relation, inner: Relation) -> Expression | None:
    """Return conditions over both sides in the form of the algebra: outer columns before inner ones."""
    if not conditions:
        return None
    width = len(outer.columns)
    positions = {OUTER + at: outer.field(at) for at in range(width)}
    positions |= {at: Field(width + at, inner.columns[at].properties) for at in range(len(inner.columns))}
    return mapped(all_of(conditions), positions)
