"""UNION, EXCEPT and INTERSECT of protected rows of the same people, or of public rows."""

from __future__ import annotations

from sqlglot import exp

from discreet.algebra.expressions import Expression, Field, Literal, call
from discreet.algebra.relations import Filter, Mark, Project, Relation, UnionAll
from discreet.catalog import Type
from discreet.errors import JoinsPeople, NotAllowed
from discreet.sql.expressions.type_matching import is_null, real
from discreet.sql.reader.reader_model import Context, Rows, across_people_refusal
from discreet.sql.reader.scope import all_of
from discreet.sql.relations.row_selects import distinct_rows


def read_sets(query: exp.SetOperation, left: Rows, right: Rows, _context: Context) -> Rows:
    """Read a set operation. Its columns have the names of the left side."""
    if any(value for key, value in query.args.items() if key not in ("this", "expression", "distinct", "with_")):
        raise NotAllowed(
            "ORDER BY and LIMIT are allowed only at the end of the whole query.", next_step="Remove them here."
        )
    if left.relation.is_public != right.relation.is_public:
        raise NotAllowed(
            "Public and protected rows cannot be combined.",
            next_step="Combine public tables with public ones, and protected with protected.",
        )
    if _unit(left) is not _unit(right):
        raise JoinsPeople(
            "The two sides have different kinds of person ids.",
            next_step="Combine tables that belong to the same people.",
        )
    if len(left.names) != len(right.names):
        raise NotAllowed(
            "Both sides of a set operation need the same number of columns.",
            next_step="Select matching columns on both sides.",
        )
    distinct = bool(query.args.get("distinct"))
    people = left.people & right.people
    ours, theirs = _same_types(left.relation, right.relation)
    if isinstance(query, exp.Union):
        both = Rows(UnionAll((ours, theirs)), left.names, None, people)
        return distinct_rows(both) if distinct else both
    if not distinct:
        raise NotAllowed("EXCEPT ALL and INTERSECT ALL are not supported.", next_step="Remove ALL.")
    if not ours.is_public and not people:
        raise across_people_refusal()
    once = distinct_rows(Rows(ours, left.names, None, people))
    return _marked(once, theirs, present=isinstance(query, exp.Intersect))


def _unit(rows: Rows) -> Type | None:
    person = rows.relation.shape.person
    return None if person is None else person.type


def _same_types(left: Relation, right: Relation) -> tuple[Relation, Relation]:
    """Convert both sides to the same column types: integers next to reals become reals, and NULL takes any type."""
    pairs = [_pair(left, right, at) for at in range(len(left.columns))]
    return _computed(left, [a for a, _ in pairs]), _computed(right, [b for _, b in pairs])


def _pair(left: Relation, right: Relation, at: int) -> tuple[Expression, Expression]:
    a, b = left.field(at), right.field(at)
    kinds = a.properties.type, b.properties.type
    if kinds[0] is kinds[1]:
        return a, b
    if _is_null(right, at):
        return a, Literal(kinds[0], None)
    if _is_null(left, at):
        return Literal(kinds[1], None), b
    if set(kinds) == {Type.INTEGER, Type.REAL}:
        return (real(a), b) if kinds[0] is Type.INTEGER else (a, real(b))
    raise NotAllowed(
        "Values of different types are compared or combined.",
        next_step="Select columns of the same types on both sides, or CAST them.",
    )


def _is_null(relation: Relation, at: int) -> bool:
    return isinstance(relation, Project) and is_null(relation.expressions[at])


def _computed(relation: Relation, columns: list[Expression]) -> Relation:
    return relation if all(isinstance(column, Field) for column in columns) else Project(relation, tuple(columns))


def _marked(once: Rows, others: Relation, *, present: bool) -> Rows:
    """Keep the rows that the other side also has (INTERSECT) or does not have (EXCEPT). NULL equals NULL."""
    rows = once.relation
    width = len(rows.columns)
    keys: list[tuple[Expression, Expression]] = []
    equal: list[Expression] = []
    for at in range(width):
        ours, theirs = rows.field(at), others.field(at)
        if at in once.people:
            continue  # marks always compare the person
        if ours.properties.nullable and theirs.properties.nullable:
            equal.append(call("same", ours, Field(width + at, theirs.properties)))
        else:
            keys.append((ours, theirs))
    mark = Mark(rows, others, tuple(keys), all_of(equal) if equal else None)
    matches = mark.field(width)
    kept = Filter(mark, matches if present else call("not", matches))
    return Rows(Project(kept, tuple(kept.field(at) for at in range(width))), once.names, None, once.people)
