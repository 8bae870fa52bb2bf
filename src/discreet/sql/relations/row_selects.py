"""A SELECT that returns rows: protected rows, each of one person, or public rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from sqlglot import exp

from discreet.algebra.aggregates import Order, RowFunction, Window
from discreet.algebra.expressions import Expression, Literal, call
from discreet.algebra.relations import Filter, PerPerson, Project, Relation, Scan
from discreet.catalog import Catalog, Table, Type
from discreet.errors import JoinsPeople, NotAllowed, UnknownName
from discreet.sql.expressions.person_aggregates import aggregates_in, grouped
from discreet.sql.expressions.person_windows import sort_keys, window
from discreet.sql.expressions.row_expressions import conjuncts, expression, predicate, reading
from discreet.sql.expressions.subqueries import Subqueries
from discreet.sql.reader.error_location import clause_name
from discreet.sql.reader.public_lookup import PublicLookup
from discreet.sql.reader.reader_model import Context, Environment, Names, Rows, across_people_refusal
from discreet.sql.reader.scope import Scope
from discreet.sql.relations.from_clause import apply_where, check_size, open_from

_CLAUSES = {
    "expressions", "from_", "joins", "where", "group", "having", "distinct", "qualify", "with_", "windows",
}  # fmt: skip


def context_of(catalog: Catalog, lookup: PublicLookup, *, today: date | None = None) -> Context:
    """Return the context in which a query is read."""
    return Context(catalog, lookup, today, special=special)


def special(node: exp.Expr, env: Environment) -> Expression | None:
    """Read a subquery or window function in an expression; return None for anything else."""
    return window(node, env) if isinstance(node, exp.Window) else _SUBQUERIES(node, env)


_SUBQUERIES = Subqueries(open_from)


def read_rows(select: exp.Select, names: Names, context: Context) -> Rows:
    """Read a SELECT of rows. Raises `AggregatesAcrossPeople` if it aggregates across people."""
    context.special = special
    base = open_from(select, names, context)
    apply_where(select, base, names, context)
    base.windows = {node.this.name.lower(): node for node in select.args.get("windows") or ()}
    scope = _grouped(select, base, context, names)
    _check_clauses(select)
    scope.aliases = {node.alias.lower(): node.this for node in select.expressions if isinstance(node, exp.Alias)}
    _keep(select.args.get("having"), scope, context, names)
    scope.takes_windows = True
    columns = list(_projections(select, scope, context, names))
    _keep(select.args.get("qualify"), scope, context, names)
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        _first_of_each(select, scope, context, names)
    rows = _projected(scope, columns)
    check_size(rows.relation)
    return distinct_rows(rows) if distinct is not None and distinct.args.get("on") is None else rows


def _check_clauses(select: exp.Select) -> None:
    distinct = select.args.get("distinct")
    ordered = distinct is not None and distinct.args.get("on") is not None
    for clause, value in select.args.items():
        if value and clause not in _CLAUSES and not (clause == "order" and ordered):
            raise NotAllowed(
                f"{clause_name(clause)} is not allowed in a subquery.",
                next_step="Remove it, or move it to the end of the whole query.",
            )


def _keep(clause: exp.Expr | None, scope: Scope, context: Context, names: Names) -> None:
    if clause is not None:
        scope.keep([predicate(part, scope, context, names) for part in conjuncts(clause.this)])


# GROUP BY


def is_grouped(select: exp.Select) -> bool:
    """Whether a SELECT has GROUP BY, HAVING or an aggregate."""
    clauses = [select.args.get("group"), select.args.get("having")]
    return any(clauses) or any(next(aggregates_in(node), None) is not None for node in select.expressions)


def _grouped(select: exp.Select, base: Scope, context: Context, names: Names) -> Scope:
    """Apply GROUP BY. It must include the person, else the SELECT aggregates across people."""
    if not is_grouped(select):
        return base
    keys = [(node, expression(node, base, context, names)) for node in group_nodes(select, base)]
    if not base.is_public and not any(base.is_person(key) for _, key in keys):
        raise across_people_refusal()
    clauses = [select.args[name].this for name in ("having", "qualify") if select.args.get(name)]
    nodes = [part for node in (*select.expressions, *clauses) for part in aggregates_in(node)]
    return grouped(base, keys, nodes, Environment(base, context, names, reading))


def group_nodes(select: exp.Select, scope: Scope) -> list[exp.Expr]:
    """Return the keys of a plain GROUP BY, with numbers and aliases resolved."""
    group = select.args.get("group")
    if group is None:
        return []
    if any(isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets) for node in group.expressions):
        raise across_people_refusal()  # some of these grouping sets do not include the person
    if any(value for name, value in group.args.items() if name != "expressions"):
        raise NotAllowed(
            "This form of GROUP BY is not supported.", next_step="List the columns or expressions to group by."
        )
    return [named_in_select(node, select, scope) for node in group.expressions]


def named_in_select(node: exp.Expr, select: exp.Select, scope: Scope) -> exp.Expr:
    """Resolve numbers and aliases of the SELECT list in GROUP BY. Columns of the sources come before aliases."""
    projections = select.expressions
    if isinstance(node, exp.Literal) and node.is_int and 1 <= int(node.name) <= len(projections):
        return projections[int(node.name) - 1].unalias()
    if isinstance(node, exp.Column) and not node.table and not scope.matching_positions(node):
        for projection in projections:
            if isinstance(projection, exp.Alias) and projection.alias.lower() == node.name.lower():
                return projection.this
    return node


# SELECT


def _projections(select: exp.Select, scope: Scope, context: Context, names: Names) -> Iterator[tuple[str, Expression]]:
    seen: set[str] = set()
    for node in select.expressions:
        inner = node.unalias()
        if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
            columns = _starred(inner, scope)
        else:
            columns = [(node.alias_or_name or inner.sql("duckdb").lower(), expression(inner, scope, context, names))]
        for name, column in columns:
            if name.lower() in seen or "$" in name:
                raise UnknownName(
                    "Two columns of a subquery have the same name, or a name contains $.",
                    next_step="Give each column its own name with AS.",
                )
            seen.add(name.lower())
            yield name, column


def _starred(node: exp.Expr, scope: Scope) -> list[tuple[str, Expression]]:
    star = node if isinstance(node, exp.Star) else node.this
    table = "" if isinstance(node, exp.Star) else node.text("table")
    if any(value for key, value in star.args.items() if key != "except_"):
        raise NotAllowed("Only a plain * (or * EXCLUDE) is supported here.", next_step="List the columns by name.")
    without = {column.name.lower() for column in star.args.get("except_") or ()}
    columns = scope.columns(table)
    if not columns or not without <= {name.lower() for name, _ in columns}:
        raise UnknownName(
            "The tables in FROM do not have these columns.", next_step="Use a column of the tables in FROM."
        )
    return [(name, column) for name, column in columns if name.lower() not in without]


def _projected(scope: Scope, columns: Sequence[tuple[str, Expression]]) -> Rows:
    """Project to the columns of the SELECT list, if they are not already exactly the relation's columns."""
    expressions = tuple(scope.rebase(column) for _, column in columns)
    people = frozenset(at for at, (_, column) in enumerate(columns) if scope.is_person(column))
    names = tuple(name for name, _ in columns)
    relation = scope.relation if _is_all(expressions, scope.relation) else Project(scope.relation, expressions)
    return Rows(relation, names, _table(relation), frozenset() if relation.is_public else people)


def _is_all(expressions: Sequence[Expression], relation: Relation) -> bool:
    return tuple(relation.field(at) for at in range(len(relation.columns))) == tuple(expressions)


def _table(relation: Relation) -> Table | None:
    """Return the table of a scan, or of a filtered scan."""
    if isinstance(relation, Filter):
        return _table(relation.rows)
    return relation.table if isinstance(relation, Scan) else None


# DISTINCT


def distinct_rows(rows: Rows) -> Rows:
    """Apply DISTINCT, per person."""
    relation = rows.relation
    if not relation.is_public and not rows.people:
        raise across_people_refusal()
    others = [at for at in range(len(relation.columns)) if at not in rows.people]
    once = PerPerson(relation, tuple(relation.field(at) for at in others), ())
    before = 0 if relation.is_public else 1
    positions = [0 if at in rows.people else before + others.index(at) for at in range(len(relation.columns))]
    fields = tuple(once.field(at) for at in positions)
    return Rows(once if _is_all(fields, once) else Project(once, fields), rows.names, None, rows.people)


def _first_of_each(select: exp.Select, scope: Scope, context: Context, names: Names) -> None:
    """Apply DISTINCT ON: keep the first row of each combination, in the order of ORDER BY."""
    env = Environment(scope, context, names, reading)
    on = select.args["distinct"].args["on"]
    keys = [
        env.read(named_in_select(node, select, scope))
        for node in (on.expressions if isinstance(on, exp.Tuple) else [on.unnest()])
    ]
    if not scope.is_public and not any(scope.is_person(key) for key in keys):
        raise JoinsPeople(
            "DISTINCT ON would choose among rows of different people.",
            next_step="Add the person's id column to DISTINCT ON.",
        )
    order = select.args.get("order")
    sorting = [key for node in (order.expressions if order is not None else ()) for key in sort_keys(node, env)]
    position = scope.window(
        Window(
            operation=RowFunction.ROW_NUMBER, value=None, offset=0, frame=None,
            partition=tuple(scope.rebase(key) for key in keys if scope.is_public or not scope.is_person(key)),
            order=tuple(Order(scope.rebase(key.by), key.descending) for key in sorting),
        )
    )  # fmt: skip
    scope.keep([call("eq", position, Literal(Type.INTEGER, 1))])
