"""Checks and derivations that the constructors of relations share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.algebra.expressions import Call, Expression, Field, Literal, fields_of
from discreet.algebra.relation_shape import Column
from discreet.algebra.value_properties import Origin
from discreet.errors import JoinsPeople, NotAllowed

if TYPE_CHECKING:
    from discreet.algebra.relations import Relation


def check_reads(rows: Relation, *expressions: Expression) -> None:
    """Check that expressions read existing columns, with the properties that these have."""
    for expression in expressions:
        for part in fields_of(expression):
            if part.at >= len(rows.columns) or part.properties != rows.columns[part.at].properties:
                raise misplaced_expression()


def misplaced_expression() -> ValueError:
    """Return the error for an internal mistake; no query text can cause it."""
    return ValueError("an expression does not belong to the relation that it is evaluated over")


def check_keys(left: Relation, right: Relation, keys: Sequence[tuple[Expression, Expression]]) -> None:
    """Check that each pair reads the left and the right side respectively, with equal types."""
    for ours, theirs in keys:
        check_reads(left, ours)
        check_reads(right, theirs)
        if ours.properties.type is not theirs.properties.type:
            raise NotAllowed(
                "Values of different types are compared or combined.",
                next_step="Join on columns of the same type, or CAST one of them.",
            )


def check_same_people(*relations: Relation) -> None:
    """Check that equal ids mean the same person. Row numbers of one table mean nothing in another table."""
    if len({relation.shape.row_people for relation in relations if relation.shape.person is not None}) > 1:
        raise JoinsPeople(
            "These tables cannot be matched by person: in one of them, each row is a person without an id.",
            next_step="Query one table at a time, or ask the data owner to declare an id column for both.",
        )


def joined_columns(relation: Relation, *, outer: bool, meets_people: bool, meets_one: bool) -> tuple[Column, ...]:
    """Return the columns of one side of a join: nullable if the side can be missing, and no longer unique per person.

    If each row of a side meets at most one row, its columns keep their properties. The SQL reader relies on this: it
    joins further columns to a relation while it reads expressions over it.
    """
    columns = []
    for at, column in enumerate(relation.columns):
        properties = replace(
            column.properties, unique_per_person=column.properties.unique_per_person and meets_one and not outer
        )
        if relation.is_public and meets_people:
            properties = replace(properties, origin=Origin(relation, relation.field(at), outer=False))
        if outer:
            values = (
                properties.values
                if properties.values is None or None in properties.values
                else (*properties.values, None)
            )
            origin = None if properties.origin is None else replace(properties.origin, outer=True)
            properties = replace(properties, nullable=True, values=values, origin=origin)
        columns.append(Column(properties, column.step, column.unique and meets_one and not outer))
    return tuple(columns)


def is_unique(relation: Relation, key: Expression) -> bool:
    """Whether a key is a column whose repeated values within a person's rows are numbered in the snapshot."""
    return isinstance(key, Field) and relation.columns[key.at].unique


def row_number_bound(condition: Expression) -> int | None:
    """Return the row bound that `number = n`, `number <= n` or `number < n` implies, for a column unique per person."""
    if not isinstance(condition, Call) or condition.function.name not in ("eq", "le", "lt", "ge", "gt"):
        return None
    name, (left, right) = condition.function.name, condition.args
    if isinstance(left, Literal):
        left, right, name = right, left, {"ge": "le", "gt": "lt"}.get(name, "eq" if name == "eq" else "")
    if (
        not isinstance(left, Field)
        or not left.properties.unique_per_person
        or not isinstance(right, Literal)
        or right.value is None
    ):
        return None
    if name not in ("eq", "le", "lt") or type(right.value) is not int:
        return None
    return 1 if name == "eq" else max(1, right.value - (name == "lt"))
