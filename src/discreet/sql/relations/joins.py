"""JOIN: combine two sides into one relation. Two protected sides are always joined on the person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp

from discreet.algebra.expressions import Expression, shift_fields
from discreet.algebra.relations import JoinKind
from discreet.errors import JoinsPeople, NotAllowed, UnknownName
from discreet.sql.expressions.row_expressions import conjuncts, predicate
from discreet.sql.expressions.type_matching import apply
from discreet.sql.reader.reader_model import Context, Names
from discreet.sql.reader.scope import MOST_COVERS, OUTER, Scope
from discreet.sql.relations.join_conditions import (
    Pair,
    names_the_person,
    refuse_further,
    split,
)
from discreet.sql.relations.join_kinds import joined, marked

SPECIAL = (exp.Exists, exp.Subquery, exp.Select, exp.Window)


@dataclass(frozen=True, slots=True)
class JoinClause:
    """A join of the query, and the conditions of WHERE, which may supply its keys."""

    node: exp.Join
    where: Sequence[exp.Expr]
    context: Context
    names: Names

    @property
    def how(self) -> str:
        """Return INNER, LEFT, RIGHT, FULL, SEMI or ANTI. A join without a condition is INNER too."""
        node = self.node
        side, kind = (node.side or "").upper(), (node.kind or "").upper()
        more = any(value for name, value in node.args.items() if name not in ("this", "side", "kind", "on", "using"))
        if (
            more
            or kind not in ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI")
            or (kind in ("SEMI", "ANTI") and side not in ("", "LEFT"))
        ):
            raise NotAllowed(
                "Only INNER, LEFT, RIGHT, FULL, CROSS, SEMI and ANTI joins are supported.",
                next_step="Use one of these, with a condition in ON.",
            )
        if self.is_bare and (side or kind not in ("", "CROSS")):
            raise NotAllowed("This join has no condition.", next_step="Add ON a.x = b.y, or USING (x).")
        return kind if kind in ("SEMI", "ANTI") else side or "INNER"

    @property
    def conditions(self) -> list[exp.Expr]:
        """Return the conditions in ON that are connected by AND."""
        on = self.node.args.get("on")
        return [] if on is None else conjuncts(on)

    @property
    def is_bare(self) -> bool:
        """Whether the join has neither ON nor USING."""
        return self.node.args.get("on") is None and not self.node.args.get("using")


def join(scope: Scope, other: Scope, clause: JoinClause) -> None:
    """Join one more source to a scope."""
    how = clause.how
    left, right = (other, scope) if how == "RIGHT" else (scope, other)
    with _side_by_side(scope, other, left, right):
        parts = split(
            [
                *_using(left, right, clause),
                *_on(scope, left, right, clause),
                *_equalities_of_where(scope, left, right, clause),
            ]
        )
    refuse_further(parts)
    _check_people(left, right, parts.keys)
    if how in ("SEMI", "ANTI"):
        mark = marked(left, right, parts, clause.context)
        scope.keep([mark if how == "SEMI" else apply("NOT", mark)])
        return
    kind = _kind(left, right, how, clause.context)
    relation = joined(left, right, kind, parts, clause.context, keeps_left=how != "INNER")
    _merge_scopes(scope, left, right, clause, kind)
    scope.relation = relation
    _apply_subquery_conditions(scope, clause)


@contextmanager
def _side_by_side(scope: Scope, other: Scope, left: Scope, right: Scope) -> Iterator[None]:
    """Read the right side within the left one. Names that exist on both sides need a table name."""
    enclosing = scope.parent
    other.parent = enclosing
    right.parent = right.beside = left
    try:
        yield
    finally:
        scope.parent, scope.beside, other.beside = enclosing, None, None


def _using(left: Scope, right: Scope, clause: JoinClause) -> Iterator[Expression]:
    for name in clause.node.args.get("using") or ():
        ours, theirs = (_own(side, name.name) for side in (left, right))
        yield apply("=", theirs, shift_fields(ours, OUTER))


def _own(side: Scope, name: str) -> Expression:
    beside, side.beside = side.beside, None
    try:
        position = side.locate(exp.column(name))
    finally:
        side.beside = beside
    if position is None:
        raise UnknownName(
            f"USING needs a column {name} on both sides of the join.", next_step="Use ON a.x = b.y instead."
        )
    return position


def _on(scope: Scope, left: Scope, right: Scope, clause: JoinClause) -> Iterator[Expression]:
    """Yield the conditions of ON. For an inner join, conditions that need more than the two sides are applied later."""
    for node in clause.conditions:
        if node.find(*SPECIAL) is not None:
            if clause.how != "INNER":
                yield _condition_of_one_side(node, left, right, clause)
            continue
        condition = predicate(node, right, clause.context, clause.names)
        if clause.how == "INNER" and split([condition]).further:
            scope.pending.append(node)
        else:
            yield condition


def _apply_subquery_conditions(scope: Scope, clause: JoinClause) -> None:
    """Apply the conditions of an inner join that contain subqueries, after both sides are joined."""
    nodes = [node for node in clause.conditions if node.find(*SPECIAL) is not None] if clause.how == "INNER" else []
    scope.keep([predicate(node, scope, clause.context, clause.names) for node in nodes])


def _condition_of_one_side(node: exp.Expr, left: Scope, right: Scope, clause: JoinClause) -> Expression:
    """Turn a condition with a subquery into a column of the side that it uses."""
    within, right.parent = right.parent, left.parent
    try:
        for side, other, by in ((left, right, OUTER), (right, left, 0)):
            before, beside, side.beside = side.relation, side.beside, other
            try:
                return shift_fields(predicate(node, side, clause.context, clause.names), by)
            except UnknownName:
                side.relation = before
            finally:
                side.beside = beside
    finally:
        right.parent = within
    raise NotAllowed(
        "A subquery in the ON of an outer join may use columns of one side only.",
        next_step="Compute it in a subquery in FROM and refer to its column.",
    )


def _equalities_of_where(scope: Scope, left: Scope, right: Scope, clause: JoinClause) -> Iterator[Expression]:
    """Yield equalities of WHERE between both sides of an inner join. They become its keys."""
    if clause.how != "INNER":
        return
    for node, condition in equalities(left, right, clause):
        scope.consumed.add(id(node))
        yield condition


def equalities(left: Scope, right: Scope, clause: JoinClause) -> list[tuple[exp.Expr, Expression]]:
    """Return the equalities of WHERE that use only these two sides."""
    enclosing, left.parent = left.parent, None
    pairs: list[tuple[exp.Expr, Expression]] = []
    try:
        for node in clause.where:
            if isinstance(node, exp.EQ) and node.find(*SPECIAL) is None:
                try:
                    condition = predicate(node, right, clause.context, clause.names)
                except UnknownName:
                    continue
                if split([condition]).keys:
                    pairs.append((node, condition))
    finally:
        left.parent = enclosing
    return pairs


def can_join(scope: Scope, other: Scope, clause: JoinClause) -> bool:
    """Whether WHERE has the keys to join this source next: the person if both sides are protected, else any key."""
    with _side_by_side(scope, other, scope, other):
        keys = split([condition for _, condition in equalities(scope, other, clause)]).keys
    if scope.is_public or other.is_public:
        return bool(keys)
    return names_the_person(keys, scope.relation, other.relation)


def _check_people(left: Scope, right: Scope, keys: Sequence[Pair]) -> None:
    if not left.is_public and not right.is_public and not names_the_person(keys, left.relation, right.relation):
        raise JoinsPeople(
            "This join pairs rows of different people, so one person could change the answer without limit.",
            next_step="Join on the person's id (a.person = b.person), or query the tables separately.",
        )


def _kind(left: Scope, right: Scope, how: str, context: Context) -> JoinKind:
    if how == "INNER":
        return JoinKind.INNER
    if how == "FULL":
        if left.is_public != right.is_public:
            raise NotAllowed(
                "A FULL join would keep public rows that belong to no person.",
                next_step="Use a LEFT JOIN that starts from the protected table.",
            )
        return JoinKind.FULL
    if left.is_public and not right.is_public:
        context.note(
            "Public rows without a matching protected row are not counted. If they are groups, they appear with about 0."
        )
        return JoinKind.INNER
    return JoinKind.LEFT


def _merge_scopes(scope: Scope, left: Scope, right: Scope, clause: JoinClause, how: JoinKind) -> None:
    """Merge the names and positions of both sides: columns of the left come first."""
    names = [name.name.lower() for name in clause.node.args.get("using") or ()]
    ours = [_places(left, name) for name in names]
    right.shift(left.width)
    theirs = [_places(right, name) for name in names]
    shared = {name: (*a, *b) if how is JoinKind.FULL else a for name, a, b in zip(names, ours, theirs, strict=True)}
    scope.merged = {**left.merged, **right.merged, **shared}
    scope.sources = [*left.sources, *right.sources]
    if how is JoinKind.FULL:
        covers = [a | b for a in left.covers for b in right.covers]
    else:
        covers = [*left.covers, *(right.covers if how is JoinKind.INNER else ())]
    scope.covers = covers[:MOST_COVERS]


def _places(side: Scope, name: str) -> tuple[int, ...]:
    return side.merged.get(name) or tuple(at for source in side.sources for at in source.positions(name))
