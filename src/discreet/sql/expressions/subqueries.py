"""EXISTS, IN and scalar subqueries: over any public rows, or over protected rows of the same person only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from discreet.algebra.aggregates import Aggregate, Fold, RowFunction, Window
from discreet.algebra.expressions import Expression, Literal, call, shift_fields
from discreet.algebra.relations import Join, JoinKind, PerPerson, Relation
from discreet.catalog import Type
from discreet.errors import JoinsPeople, NotAllowed
from discreet.sql.expressions.person_aggregates import aggregate, aggregates_in, rebase_aggregate
from discreet.sql.expressions.row_expressions import conjuncts, predicate
from discreet.sql.expressions.type_matching import apply
from discreet.sql.reader.reader_model import Context, Environment, Names, Released
from discreet.sql.reader.scope import OUTER, Scope, Source, positions
from discreet.sql.relations.join_conditions import (
    Pair,
    Parts,
    names_the_person,
    refuse_further,
    side_by_side,
    split,
    with_field,
    without_owners,
)
from discreet.sql.relations.join_kinds import joined, marked, multiplicity

Opening: TypeAlias = Callable[[exp.Select, Names, Context, Scope | None], Scope]
"""Opens FROM and joins of a SELECT as a scope within another one."""
_SIMPLE = {"expressions", "from_", "joins", "where"}
_COUNTS = (Fold.ROWS, Fold.PRESENT, Fold.DISTINCT)


@dataclass(frozen=True, slots=True)
class Subqueries:
    """Reads subqueries in expressions. `opening` reads their FROM."""

    opening: Opening

    def __call__(self, node: exp.Expr, env: Environment) -> Expression | None:
        """Translate a subquery; return None for anything else."""
        if isinstance(node, exp.Exists):
            return self._exists(_without_parentheses(node.this), env)
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            return self._in(node, env)
        if isinstance(node, exp.Subquery):
            return self._scalar(_without_parentheses(node), env)
        return None

    def _exists(self, query: exp.Expr, env: Environment) -> Expression:
        if (
            not isinstance(query, exp.Select)
            or not _is_simple(query)
            or any(next(aggregates_in(node), None) for node in query.expressions)
        ):
            raise NotAllowed(
                "A subquery in EXISTS may have only SELECT, FROM and WHERE.", next_step="Remove its other clauses."
            )
        inner, conditions = self._inner(query, env)
        return _mark(env, inner, conditions)

    def _in(self, node: exp.In, env: Environment) -> Expression:
        """Read IN as EXISTS, and so NOT IN as NOT EXISTS: a NULL of one row must not change the result for others."""
        enclosing = node.parent
        while isinstance(enclosing, exp.Paren):
            enclosing = enclosing.parent
        if isinstance(enclosing, exp.Not):
            env.context.note("NOT IN is evaluated as NOT EXISTS: NULLs in the subquery are ignored.")
        query = _without_parentheses(node.args["query"])
        operands = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        values = [env.read(part) for part in operands]
        conditions: list[Expression] = []
        if isinstance(query, exp.Select) and _is_simple(query) and not any(map(_is_star, query.expressions)):
            inner, conditions = self._inner(query, env)
            selected = [replace(env, scope=inner).read(part.unalias()) for part in query.expressions]
        else:
            inner = _uncorrelated(query, env)
            selected = [expression for _, expression in inner.columns()]
        if len(selected) != len(values):
            raise NotAllowed(
                "The subquery in IN must return as many columns as are compared.",
                next_step="Select one column in the subquery, as in x IN (SELECT y FROM …).",
            )
        equal = [apply("=", theirs, shift_fields(ours, OUTER)) for ours, theirs in zip(values, selected, strict=True)]
        return _mark(env, inner, [*conditions, *equal])

    def _inner(self, query: exp.Select, env: Environment) -> tuple[Scope, list[Expression]]:
        """Return the subquery's scope and conditions, read within the enclosing SELECT."""
        inner = self.opening(query, env.names, env.context, env.scope)
        where = query.args.get("where")
        nodes = [*inner.pending, *(conjuncts(where.this) if where is not None else [])]
        conditions = [
            predicate(node, inner, env.context, env.names) for node in nodes if id(node) not in inner.consumed
        ]
        return inner, conditions

    def _scalar(self, query: exp.Expr, env: Environment) -> Expression:
        """Read one value per outer row: an aggregate, or a column of the only matching row."""
        if (
            not isinstance(query, exp.Select)
            or not _is_simple(query)
            or query.args.get("distinct")
            or len(query.expressions) != 1
        ):
            raise _one_aggregate()
        inner, conditions = self._inner(query, env)
        parts = split(conditions)
        refuse_further(parts)
        node = query.expressions[0].unalias()
        nodes = list(aggregates_in(node))
        if not nodes and not parts.keys:
            raise _one_aggregate()
        _check_people(env.scope, inner, parts)
        inner.keep(parts.inner)
        return _aggregated(node, nodes, inner, parts, env) if nodes else _single_row(node, inner, parts, env)


def _without_parentheses(query: exp.Expr) -> exp.Expr:
    """Return a query without parentheses enclosing it."""
    while isinstance(query, exp.Subquery):
        query = query.this
    return query


def _is_simple(query: exp.Select) -> bool:
    distinct = query.args.get("distinct")
    plain = distinct is None or not distinct.args.get("on")
    return plain and all(not value or clause in _SIMPLE or clause == "distinct" for clause, value in query.args.items())


def _is_star(node: exp.Expr) -> bool:
    return node.find(exp.Star) is not None or next(aggregates_in(node), None) is not None


def _uncorrelated(query: exp.Expr, env: Environment) -> Scope:
    rows = env.context.read(query, env.names, None)
    if isinstance(rows, Released):
        raise _reads_all_people()
    return Scope.of(rows, Source("", rows.names), env.scope)


def _mark(env: Environment, inner: Scope, conditions: Sequence[Expression]) -> Expression:
    parts = split(conditions)
    _check_people(env.scope, inner, parts)
    return marked(env.scope, inner, parts, env.context)


def _check_people(outer: Scope, inner: Scope, parts: Parts) -> None:
    if inner.is_public:
        return
    if outer.is_public or not names_the_person(parts.keys, outer.relation, inner.relation):
        raise _reads_all_people()


def _aggregated(node: exp.Expr, nodes: Sequence[exp.Expr], inner: Scope, parts: Parts, env: Environment) -> Expression:
    """Compute aggregates per outer row. The count of no rows is 0."""
    folds = [aggregate(part, replace(env, scope=inner)) for part in nodes]
    reads_outside = any(at >= OUTER for fold in folds for part in fold.parts for at in positions(part))
    by = _by_row if parts.rest or reads_outside else _by_keys
    first = by(env, inner, parts, folds)
    values = {
        id(part): _zero_if_missing(env.scope.relation.field(first + at), fold)
        for at, (part, fold) in enumerate(zip(nodes, folds, strict=True))
    }
    return env.reading(node, replace(env, scope=_Folded(env.scope.relation, [], values=values)))


def _by_keys(env: Environment, inner: Scope, parts: Parts, folds: Sequence[Aggregate]) -> int:
    """Group by the keys that are compared with the outer row, and join the result on them."""
    pairs = _needed(inner, parts.keys)
    relation = PerPerson(
        inner.relation,
        tuple(inner.rebase(theirs) for _, theirs in pairs),
        tuple(rebase_aggregate(inner, fold) for fold in folds),
    )
    before = 0 if relation.is_public else 1
    keys = [(ours, relation.field(before + at)) for at, (ours, _) in enumerate(pairs)]
    return _append(env.scope, relation, keys, _outer_conditions(parts)) + before + len(pairs)


def _by_row(env: Environment, inner: Scope, parts: Parts, folds: Sequence[Aggregate]) -> int:
    """Compute aggregates if there are conditions besides equalities, or if the aggregates read the outer row.

    Outer rows are numbered and joined with their matches. These are grouped by the number and joined to the outer rows.
    """
    outer = env.scope
    number = outer.window(Window(RowFunction.ROW_NUMBER, None, 0, (), (), None))
    left = Scope(outer.relation, [])
    pairs = joined(left, inner, JoinKind.INNER, replace(parts, inner=[], outer=[]), env.context, keeps_left=True)
    both = Scope(pairs, [])
    aggregates = tuple(rebase_aggregate(both, _over_both(fold, left.relation, inner.relation)) for fold in folds)
    relation = PerPerson(pairs, (pairs.field(number.at),), aggregates)
    before = 0 if relation.is_public else 1
    return _append(outer, relation, [(number, relation.field(before))], _outer_conditions(parts)) + before + 1


def _over_both(fold: Aggregate, outer: Relation, inner: Relation) -> Aggregate:
    value = None if fold.value is None else side_by_side([fold.value], outer, inner)
    where = None if fold.where is None else side_by_side([fold.where], outer, inner)
    return replace(fold, value=value, where=where)


def _zero_if_missing(value: Expression, fold: Aggregate) -> Expression:
    """Replace NULL by 0 for counts of no rows."""
    return (
        call("coalesce", value, Literal(Type.INTEGER, 0))
        if fold.fold in _COUNTS and value.properties.nullable
        else value
    )


@dataclass(eq=False, kw_only=True)
class _Folded(Scope):
    """The scope of a scalar subquery's SELECT list: only its aggregates, which are columns of the outer relation."""

    values: dict[int, Expression]

    def replacement(self, node: exp.Expr, _here: Environment) -> Expression | None:
        if isinstance(node, exp.Subquery | exp.Exists | exp.Window) or (
            isinstance(node, exp.In) and node.args.get("query")
        ):
            raise _one_aggregate()
        return self.values.get(id(node))


def _single_row(node: exp.Expr, inner: Scope, parts: Parts, env: Environment) -> Expression:
    """Read a column of the only matching row: a person has at most one, or the key of a public table is unique."""
    value = inner.rebase(replace(env, scope=inner).read(node))
    pairs = _needed(inner, parts.keys)
    columns = [with_field(inner, theirs) if inner.is_public else inner.rebase(theirs) for _, theirs in pairs]
    once = multiplicity(inner, columns, env.context) == 1 if inner.is_public else inner.relation.shape.most_rows == 1
    if not once or (parts.rest and inner.is_public):
        raise _one_aggregate()
    at = with_field(inner, value).at
    keys = list(zip((ours for ours, _ in pairs), columns, strict=True))
    first = _append(env.scope, inner.relation, keys, [*parts.rest, *_outer_conditions(parts)])
    return env.scope.relation.field(first + at)


def _needed(inner: Scope, pairs: Sequence[Pair]) -> list[Pair]:
    distinct = list(dict.fromkeys(pairs))
    return distinct if inner.is_public else without_owners(distinct)


def _outer_conditions(parts: Parts) -> list[Expression]:
    """Return the subquery's conditions on the outer row alone. If they are false, nothing matches."""
    return [shift_fields(condition, OUTER) for condition in parts.outer]


def _append(outer: Scope, relation: Relation, keys: Sequence[Pair], on: Sequence[Expression]) -> int:
    """Append the columns of the row that each outer row matches, or NULLs. Return the position of the first."""
    fields = Scope(relation, [])
    pairs = tuple((outer.rebase(ours), fields.rebase(theirs)) for ours, theirs in keys)
    one_row = relation.is_public and isinstance(relation, PerPerson) and not relation.keys
    always = one_row and not on and not outer.relation.shape.each_once
    condition = side_by_side(on, outer.relation, relation)
    return outer.append(
        Join(outer.relation, relation, JoinKind.INNER if always else JoinKind.LEFT, pairs, condition, 1)
    )


def _one_aggregate() -> NotAllowed:
    return NotAllowed(
        "A subquery used as a value must return one aggregate.",
        next_step="Write for example (SELECT COUNT(*) FROM … WHERE …).",
    )


def _reads_all_people() -> JoinsPeople:
    return JoinsPeople(
        "This subquery reads rows of all people, so one person could change the result for every row.",
        next_step="Compare its person's id with the outer one (inner.person = outer.person), or run the subquery as a query of its own.",
    )
