"""EXISTS, IN and scalar subqueries: over public rows freely, over people only within the same person's rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from discreet.algebra.aggregates import Aggregate, Fold, RowFunction, Window
from discreet.algebra.expressions import Expression, Literal, call, moved
from discreet.algebra.relations import Join, JoinKind, PerPerson, Relation
from discreet.catalog import Type
from discreet.errors import JoinsPeople, NotAllowed
from discreet.sql.expressions.person_aggregates import aggregate, aggregates_in, fresh_aggregate
from discreet.sql.expressions.row_expressions import conjuncts, predicate
from discreet.sql.expressions.type_matching import apply
from discreet.sql.reader.reader_model import Context, Here, Names, Released
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
"""FROM and joins of a SELECT as a scope within another."""
_SIMPLE = {"expressions", "from_", "joins", "where"}
_COUNTS = (Fold.ROWS, Fold.PRESENT, Fold.DISTINCT)


@dataclass(frozen=True, slots=True)
class Subqueries:
    """Reads the subqueries of expressions; `opening` reads a FROM."""

    opening: Opening

    def __call__(self, node: exp.Expr, here: Here) -> Expression | None:
        """What a subquery stands for; None for anything else."""
        if isinstance(node, exp.Exists):
            return self._exists(_bare(node.this), here)
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            return self._in(node, here)
        if isinstance(node, exp.Subquery):
            return self._scalar(_bare(node), here)
        return None

    def _exists(self, query: exp.Expr, here: Here) -> Expression:
        if (
            not isinstance(query, exp.Select)
            or not _is_simple(query)
            or any(next(aggregates_in(node), None) for node in query.expressions)
        ):
            raise NotAllowed(
                "A subquery in EXISTS may have only SELECT, FROM and WHERE.", next_step="Remove its other clauses."
            )
        inner, conditions = self._inner(query, here)
        return _mark(here, inner, conditions)

    def _in(self, node: exp.In, here: Here) -> Expression:
        """IN as EXISTS, so that NOT IN means NOT EXISTS and a NULL decides nothing for others."""
        around = node.parent
        while isinstance(around, exp.Paren):
            around = around.parent
        if isinstance(around, exp.Not):
            here.context.note("NOT IN is evaluated as NOT EXISTS: NULLs in the subquery are ignored.")
        query = _bare(node.args["query"])
        wanted = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        values = [here.read(part) for part in wanted]
        conditions: list[Expression] = []
        if isinstance(query, exp.Select) and _is_simple(query) and not any(map(_is_star, query.expressions)):
            inner, conditions = self._inner(query, here)
            selected = [replace(here, scope=inner).read(part.unalias()) for part in query.expressions]
        else:
            inner = _uncorrelated(query, here)
            selected = [expression for _, expression in inner.columns()]
        if len(selected) != len(values):
            raise NotAllowed(
                "The subquery in IN must return as many columns as are compared.",
                next_step="Select one column in the subquery, as in x IN (SELECT y FROM …).",
            )
        equal = [apply("=", theirs, moved(ours, OUTER)) for ours, theirs in zip(values, selected, strict=True)]
        return _mark(here, inner, [*conditions, *equal])

    def _inner(self, query: exp.Select, here: Here) -> tuple[Scope, list[Expression]]:
        """The subquery's scope, and its conditions, read within the SELECT around it."""
        inner = self.opening(query, here.names, here.context, here.scope)
        where = query.args.get("where")
        nodes = [*inner.pending, *(conjuncts(where.this) if where is not None else [])]
        conditions = [
            predicate(node, inner, here.context, here.names) for node in nodes if id(node) not in inner.consumed
        ]
        return inner, conditions

    def _scalar(self, query: exp.Expr, here: Here) -> Expression:
        """One value for each row outside: an aggregate, or a row of which there is at most one."""
        if (
            not isinstance(query, exp.Select)
            or not _is_simple(query)
            or query.args.get("distinct")
            or len(query.expressions) != 1
        ):
            raise _one_aggregate()
        inner, conditions = self._inner(query, here)
        parts = split(conditions)
        refuse_further(parts)
        node = query.expressions[0].unalias()
        nodes = list(aggregates_in(node))
        if not nodes and not parts.keys:
            raise _one_aggregate()
        _check_people(here.scope, inner, parts)
        inner.keep(parts.inner)
        return _aggregated(node, nodes, inner, parts, here) if nodes else _alone(node, inner, parts, here)


def _bare(query: exp.Expr) -> exp.Expr:
    """A query without the brackets around it."""
    while isinstance(query, exp.Subquery):
        query = query.this
    return query


def _is_simple(query: exp.Select) -> bool:
    distinct = query.args.get("distinct")
    plain = distinct is None or not distinct.args.get("on")
    return plain and all(not value or clause in _SIMPLE or clause == "distinct" for clause, value in query.args.items())


def _is_star(node: exp.Expr) -> bool:
    return node.find(exp.Star) is not None or next(aggregates_in(node), None) is not None


def _uncorrelated(query: exp.Expr, here: Here) -> Scope:
    rows = here.context.read(query, here.names, None)
    if isinstance(rows, Released):
        raise _whole_table()
    return Scope.of(rows, Source("", rows.names), here.scope)


def _mark(here: Here, inner: Scope, conditions: Sequence[Expression]) -> Expression:
    parts = split(conditions)
    _check_people(here.scope, inner, parts)
    return marked(here.scope, inner, parts, here.context)


def _check_people(outer: Scope, inner: Scope, parts: Parts) -> None:
    if inner.is_public:
        return
    if outer.is_public or not names_the_person(parts.keys, outer.relation, inner.relation):
        raise _whole_table()


def _aggregated(node: exp.Expr, nodes: Sequence[exp.Expr], inner: Scope, parts: Parts, here: Here) -> Expression:
    """Aggregates for each row outside; a count of nothing is 0."""
    folds = [aggregate(part, replace(here, scope=inner)) for part in nodes]
    reads_outside = any(at >= OUTER for fold in folds for part in fold.parts for at in positions(part))
    by = _by_row if parts.rest or reads_outside else _by_keys
    first = by(here, inner, parts, folds)
    values = {
        id(part): _of_nothing(here.scope.relation.field(first + at), fold)
        for at, (part, fold) in enumerate(zip(nodes, folds, strict=True))
    }
    return here.reading(node, replace(here, scope=_Folded(here.scope.relation, [], values=values)))


def _by_keys(here: Here, inner: Scope, parts: Parts, folds: Sequence[Aggregate]) -> int:
    """Aggregates by what is equated with the row outside, joined to it by that."""
    pairs = _needed(inner, parts.keys)
    relation = PerPerson(
        inner.relation,
        tuple(inner.fresh(theirs) for _, theirs in pairs),
        tuple(fresh_aggregate(inner, fold) for fold in folds),
    )
    before = 0 if relation.is_public else 1
    keys = [(ours, relation.field(before + at)) for at, (ours, _) in enumerate(pairs)]
    return _append(here.scope, relation, keys, _outside(parts)) + before + len(pairs)


def _by_row(here: Here, inner: Scope, parts: Parts, folds: Sequence[Aggregate]) -> int:
    """Where more than equalities is said, or the row outside is in what is aggregated: the rows outside are numbered, each meets what fits
    it, and the aggregates of each number are joined to its row.
    """
    outer = here.scope
    number = outer.window(Window(RowFunction.ROW_NUMBER, None, 0, (), (), None))
    left = Scope(outer.relation, [])
    pairs = joined(left, inner, JoinKind.INNER, replace(parts, inner=[], outer=[]), here.context, keeps_left=True)
    both = Scope(pairs, [])
    aggregates = tuple(fresh_aggregate(both, _over_both(fold, left.relation, inner.relation)) for fold in folds)
    relation = PerPerson(pairs, (pairs.field(number.at),), aggregates)
    before = 0 if relation.is_public else 1
    return _append(outer, relation, [(number, relation.field(before))], _outside(parts)) + before + 1


def _over_both(fold: Aggregate, outer: Relation, inner: Relation) -> Aggregate:
    value = None if fold.value is None else side_by_side([fold.value], outer, inner)
    where = None if fold.where is None else side_by_side([fold.where], outer, inner)
    return replace(fold, value=value, where=where)


def _of_nothing(value: Expression, fold: Aggregate) -> Expression:
    """A count where there is no row to count."""
    return (
        call("coalesce", value, Literal(Type.INTEGER, 0))
        if fold.fold in _COUNTS and value.properties.nullable
        else value
    )


@dataclass(eq=False, kw_only=True)
class _Folded(Scope):
    """Where the SELECT list of a scalar subquery is read: its aggregates are columns outside, and nothing else can be named."""

    values: dict[int, Expression]

    def replacement(self, node: exp.Expr, _here: Here) -> Expression | None:
        if isinstance(node, exp.Subquery | exp.Exists | exp.Window) or (
            isinstance(node, exp.In) and node.args.get("query")
        ):
            raise _one_aggregate()
        return self.values.get(id(node))


def _alone(node: exp.Expr, inner: Scope, parts: Parts, here: Here) -> Expression:
    """A value of the one row that fits: of a person who has one row at most, or of a public table by a key that does not repeat."""
    value = inner.fresh(replace(here, scope=inner).read(node))
    pairs = _needed(inner, parts.keys)
    columns = [with_field(inner, theirs) if inner.is_public else inner.fresh(theirs) for _, theirs in pairs]
    once = multiplicity(inner, columns, here.context) == 1 if inner.is_public else inner.relation.shape.most_rows == 1
    if not once or (parts.rest and inner.is_public):
        raise _one_aggregate()
    at = with_field(inner, value).at
    keys = list(zip((ours for ours, _ in pairs), columns, strict=True))
    first = _append(here.scope, inner.relation, keys, [*parts.rest, *_outside(parts)])
    return here.scope.relation.field(first + at)


def _needed(inner: Scope, pairs: Sequence[Pair]) -> list[Pair]:
    distinct = list(dict.fromkeys(pairs))
    return distinct if inner.is_public else without_owners(distinct)


def _outside(parts: Parts) -> list[Expression]:
    """What the subquery says about the row outside alone: where it does not hold, there is nothing to meet."""
    return [moved(condition, OUTER) for condition in parts.outer]


def _append(outer: Scope, relation: Relation, keys: Sequence[Pair], on: Sequence[Expression]) -> int:
    """The columns of the row that each row outside meets, NULL where there is none; the position of the first."""
    fields = Scope(relation, [])
    pairs = tuple((outer.fresh(ours), fields.fresh(theirs)) for ours, theirs in keys)
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


def _whole_table() -> JoinsPeople:
    return JoinsPeople(
        "This subquery reads rows of all people, so one person could change the result for every row.",
        next_step="Compare its person's id with the outer one (inner.person = outer.person), or run the subquery as a query of its own.",
    )
