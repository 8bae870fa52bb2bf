"""FROM: tables of the catalog, names of WITH and subqueries, joined in an order in which each has a join condition."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from discreet.algebra.relations import Join, Mark, Relation, Scan, UnionAll
from discreet.algebra.table_scan import scan
from discreet.errors import NotAllowed, TooLarge, UnknownName
from discreet.sql.expressions.row_expressions import conjuncts, predicate
from discreet.sql.reader.error_location import refusal_at, unknown_table
from discreet.sql.reader.reader_model import Context, Names, Released, Rows
from discreet.sql.reader.scope import Scope, Source
from discreet.sql.relations.joins import JoinClause, can_join, join

_MOST_NODES = 500
"""Maximum number of relations in one tree."""


def open_from(select: exp.Select, names: Names, context: Context, parent: Scope | None = None) -> Scope:
    """Join the sources of a SELECT."""
    origin = select.args.get("from_")
    if origin is None:
        raise NotAllowed("The query has no FROM.", next_step="Add FROM and a table of the catalog.")
    where = conjuncts(select.args["where"].this) if select.args.get("where") else []
    scope = _scope_of(origin.this, names, context, nth=0)
    scope.parent = parent
    waiting = [JoinClause(node, where, context, names) for node in select.args.get("joins") or ()]
    has_right_or_full_join = _has_right_or_full_join(waiting)
    others = [
        (_scope_of(clause.node.this, names, context, nth=nth), clause) for nth, clause in enumerate(waiting, start=1)
    ]
    _check_names([scope, *(other for other, _ in others)])
    while others:
        run = next((at for at, (_, clause) in enumerate(others) if not clause.is_bare), len(others))
        _join_all(scope, others[: max(run, 1)])
        others = others[max(run, 1) :]
    if has_right_or_full_join:  # such a join may add rows that an equality in WHERE must remove again
        scope.consumed.clear()
        if scope.pending:
            raise NotAllowed(
                "A subquery with a RIGHT or FULL join cannot use an outer column in ON.",
                next_step="Use the outer column in the subquery's WHERE.",
            )
    check_size(scope.relation)
    return scope


def _has_right_or_full_join(joins: Sequence[JoinClause]) -> bool:
    """Whether there is a right or full join. After a comma, it is refused: it would not mean what it seems to mean."""
    at = next((at for at, clause in enumerate(joins) if clause.how in ("RIGHT", "FULL")), None)
    if at is not None and any(clause.is_bare and not clause.node.kind for clause in joins[:at]):
        raise NotAllowed(
            "A RIGHT or FULL join cannot follow a comma in FROM.",
            next_step="Replace the comma with CROSS JOIN, or move the join into a subquery.",
        )
    return at is not None


def _join_all(scope: Scope, others: list[tuple[Scope, JoinClause]]) -> None:
    """Join one source with a condition; or several without, each as soon as WHERE has a condition for it."""
    while others:
        ready = [pair for pair in others if can_join(scope, *pair)] if len(others) > 1 else others
        other, clause = (ready or others)[0]
        others.remove((other, clause))
        with refusal_at(clause.node):
            join(scope, other, clause)


def _check_names(scopes: Sequence[Scope]) -> None:
    named = [source.called.lower() for scope in scopes for source in scope.sources if source.called]
    if len(set(named)) < len(named):
        raise UnknownName("Two tables in FROM have the same name.", next_step="Give one of them an alias with AS.")


def _scope_of(node: exp.Expr, names: Names, context: Context, *, nth: int) -> Scope:
    with refusal_at(node):
        return _source(node, names, context, nth=nth)


def _source(node: exp.Expr, names: Names, context: Context, *, nth: int) -> Scope:
    alias = node.args.get("alias")
    if any(value for key, value in node.args.items() if key not in ("this", "alias")) or (alias and alias.columns):
        raise NotAllowed(
            "FROM supports only table names and subqueries, each with an optional alias.",
            next_step="Remove its other clauses.",
        )
    if isinstance(node, exp.Subquery):
        rows = context.read(node.this, names, None)
    elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        rows = _named(node.name, names, context)
    else:
        raise NotAllowed("Only tables of the catalog and subqueries can be queried.", next_step="Name a table.")
    if isinstance(rows, Released):
        raise NotAllowed(
            "Aggregated results cannot be used inside this subquery.",
            next_step="Run the aggregate as its own query, then pass its answer as a parameter.",
        )
    called = node.alias or (node.name if isinstance(node, exp.Table) else "")
    return Scope.of(rows, Source(called, rows.names, 0, nth))


def _named(name: str, names: Names, context: Context) -> Rows | Released:
    known = names.get(name.lower())
    if known is not None:
        return known
    table = context.table(name)
    if table is None:
        raise unknown_table(name, [*names, *context.catalog.tables], context.catalog)
    size = context.lookup.rows(table) if table.is_public else 0
    return Rows(scan(table, context.catalog, size=size), tuple(table.columns), table)


def apply_where(select: exp.Select, scope: Scope, names: Names, context: Context) -> None:
    """Apply WHERE, and the conditions that inner joins deferred to it."""
    where = select.args.get("where")
    nodes = [*scope.pending, *(conjuncts(where.this) if where is not None else [])]
    scope.keep([predicate(node, scope, context, names) for node in nodes if id(node) not in scope.consumed])


def check_size(relation: Relation) -> None:
    """Refuse a tree that is too large.

    Names of WITH are expanded at every reference, so sizes can double repeatedly.
    """
    if _size(relation, {}) > _MOST_NODES:
        raise TooLarge(
            "The query becomes too large when its WITH names are expanded.",
            next_step="Refer to each WITH name fewer times.",
        )


def _size(relation: Relation, known: dict[int, int]) -> int:
    """Return the number of relations in a tree. Shared parts count each time but are visited once."""
    if id(relation) not in known:
        known[id(relation)] = 1 + sum(_size(part, known) for part in _parts(relation))
    return known[id(relation)]


def _parts(relation: Relation) -> tuple[Relation, ...]:
    if isinstance(relation, Scan):
        return ()
    if isinstance(relation, Join):
        return relation.left, relation.right
    if isinstance(relation, UnionAll):
        return relation.parts
    return (relation.rows, relation.others) if isinstance(relation, Mark) else (relation.rows,)
