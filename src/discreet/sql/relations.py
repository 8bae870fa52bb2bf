"""Relations below the release: tables, subqueries, CTEs and unions, each with owner and bounds derived anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from discreet.catalog import Catalog, Column, Table, Type
from discreet.errors import NotAllowed, TooLarge, UnknownName
from discreet.sql.bounds import bounds, hull
from discreet.sql.domains import domain
from discreet.sql.expressions import Special, check, condition_text, conjuncts, safe_text
from discreet.sql.joins import MOST_ROWS, PublicFacts, join, start
from discreet.sql.kinds import kind_of
from discreet.sql.personal import personal_aggregates, personal_windows
from discreet.sql.scope import Bounds, Field, KeyValue, Rows, Scope, Source, quote
from discreet.sql.steps import steps_name
from discreet.sql.subqueries import subqueries


@dataclass(frozen=True, eq=False)
class Release:
    """A query that counts or sums across people, and the names that it may use; only the outermost SELECT reads it."""

    query: exp.Expr
    names: Names


Names: TypeAlias = Mapping[str, Release | Rows]
"""What WITH has named."""

_LONGEST_SQL = 200_000
_KINDS = {Type.INTEGER: "int", Type.REAL: "real", Type.TEXT: "text", Type.DATE: "date", Type.BOOLEAN: "bool"}
_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "distinct", "qualify", "with_", "kind", "hint"}


class IsRelease(NotAllowed):
    """A subquery that counts or sums across people: only the outermost SELECT can read it."""


class Reader:
    """Reads FROM clauses and subqueries against a catalog. Aliases of our own never repeat within a question."""

    def __init__(self, catalog: Catalog, facts: PublicFacts) -> None:
        self._tables = {name.lower(): table for name, table in catalog.tables.items()}
        self.facts, self._aliases = facts, 0

    # FROM

    def scope(self, select: exp.Select, names: Names, parent: Scope | None = None) -> Scope:
        """The relations of a SELECT, joined."""
        origin = select.args.get("from_")
        if origin is None:
            raise NotAllowed("A question needs a FROM.", next_step="Name a table of the catalog.")
        scope = Scope(parent)
        start(scope, self._source(origin.this, names), self._alias())
        where = conjuncts(select.args["where"].this) if select.args.get("where") else []
        for node in select.args.get("joins") or ():
            source = self._source(node.this, names)
            join(scope, source, self._alias(), node, where=where, special=self.special(names), facts=self.facts)
        return scope

    def _alias(self) -> str:
        self._aliases += 1
        return f"t{self._aliases}"

    def _source(self, node: exp.Expr, names: Names) -> Source:
        alias = node.args.get("alias")
        if any(value for key, value in node.args.items() if key not in ("this", "alias")) or (alias and alias.columns):
            raise NotAllowed(
                "Behind FROM stands a table or a subquery with a name, nothing more.", next_step="Leave the rest out."
            )
        if isinstance(node, exp.Subquery):
            return Source(node.alias or self._alias(), self.rows(node.this, names))
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise NotAllowed("Only tables of the catalog and subqueries can be read.", next_step="Name a table.")
        return Source(node.alias or node.name, self._named(node.name, names))

    def _named(self, name: str, names: Names) -> Rows:
        found = names.get(name.lower())
        if isinstance(found, Rows):
            return found
        if found is not None:
            raise _a_release()
        table = self._tables.get(name.lower())
        if table is None:
            raise UnknownName("There is no such table.", next_step="Use a table that the catalog declares.")
        return _base(table)

    # Subqueries in FROM

    def with_names(self, query: exp.Expr, names: Names) -> dict[str, Release | Rows]:
        """The names of a WITH, on top of those outside."""
        known = dict(names)
        clause = query.args.get("with_")
        if clause is None:
            return known
        if clause.args.get("recursive"):
            raise NotAllowed("Recursion is not known here.", next_step="Leave RECURSIVE out.")
        for one in clause.expressions:
            if one.args["alias"].columns:
                raise NotAllowed("Columns are renamed with AS.", next_step="Write SELECT x AS y.")
            try:
                known[one.alias.lower()] = self.rows(one.this, known)
            except IsRelease:
                known[one.alias.lower()] = Release(one.this, dict(known))
        return known

    def rows(self, query: exp.Expr, names: Names) -> Rows:
        """A subquery as a relation."""
        if isinstance(query, exp.Subquery) and not query.alias:
            return self.rows(query.this, names)
        if (
            isinstance(query, exp.Union)
            and not query.args.get("distinct")
            and not isinstance(query, exp.Except | exp.Intersect)
        ):
            made = self._union(query, self.with_names(query, names))
        elif isinstance(query, exp.Select):
            made = self._select(query, self.with_names(query, names))
        else:
            raise NotAllowed(
                "Only SELECT and UNION ALL are known here.", next_step="Say it with WHERE, EXISTS or UNION ALL."
            )
        if len(made.sql) > _LONGEST_SQL:
            raise TooLarge(
                "The question grows too long when its parts are put together.",
                next_step="Use fewer references to one part.",
            )
        return made

    def _union(self, query: exp.Union, names: Names) -> Rows:
        if any(value for key, value in query.args.items() if key in ("order", "limit", "offset", "by_name")):
            raise NotAllowed(
                "ORDER BY and LIMIT stand at the end of the whole question only.", next_step="Leave them out."
            )
        a, b = self.rows(query.left, names), self.rows(query.right, names)
        if a.is_public != b.is_public:
            raise NotAllowed(
                "Public and protected rows cannot be put together.", next_step="Union tables of the same kind."
            )
        if len(a.fields) != len(b.fields):
            raise NotAllowed(
                "Both sides of UNION ALL need the same number of columns.", next_step="Select the same columns."
            )
        fields = tuple(_united(one, other) for one, other in zip(a.fields, b.fields, strict=True))
        owners = frozenset(
            x.name
            for x, y in zip(a.fields, b.fields, strict=True)
            if x.name in a.owners and y.name in b.owners and x.kind == y.kind
        )
        sides = [_listed(rows, [one.name for one in fields]) for rows in (a, b)]
        per_person = None if a.per_person is None or b.per_person is None else a.per_person + b.per_person
        return Rows(
            f"({sides[0]} UNION ALL {sides[1]})",
            fields,
            per_person,
            a.is_public,
            owners,
            None,
            (*a.tables, *b.tables),
            a.unit,
        )

    def _select(self, select: exp.Select, names: Names) -> Rows:
        for clause, value in select.args.items():
            if value and clause not in _CLAUSES:
                raise NotAllowed(
                    f"{clause.strip('_').upper()} is not allowed within a subquery.",
                    next_step="Leave it out, or put it at the end of the whole question.",
                )
        scope = self.scope(select, names)
        where = self.where(select, scope, names)
        group = select.args.get("group")
        grouped = group is not None or any(_aggregates(node) for node in select.expressions)
        plain = self.special(names)
        special = personal_aggregates(plain) if grouped else personal_windows(plain)
        keys = self.keys(select, scope, plain) if grouped else []
        owned = not scope.is_public
        if grouped and owned and not any(scope.is_owner(key) for key in keys):
            raise _a_release()
        columns = list(self._projections(select, scope, special))
        owners = frozenset(name for name, node in columns if scope.is_owner(node))
        distinct = select.args.get("distinct") is not None
        if distinct and (select.args["distinct"].args.get("on") or (owned and not owners)):
            raise _a_release()
        parts = [f'{scope.owner_sql} AS "$owner"'] if owned else []
        fields = []
        for name, node in columns:
            fields.append(_facts(name, node, scope, grouped=grouped))
            parts.append(f"{safe_text(node, scope)} AS {quote(name)}")
            if fields[-1].step is not None:
                parts.append(f"{quote(node.text('table'))}.{quote(steps_name(node.name))} AS {quote(steps_name(name))}")
        sql = f"SELECT {'DISTINCT ' if distinct else ''}{', '.join(parts)} FROM {scope.sql}{where}"
        if keys:
            by = ([scope.owner_sql] if owned else []) + [safe_text(key, scope) for key in keys]
            sql += f" GROUP BY {', '.join(dict.fromkeys(by))}"
        for clause, word in (("having", "HAVING"), ("qualify", "QUALIFY")):
            if select.args.get(clause):
                condition = check(select.args[clause].this, scope, special)
                sql += f" {word} {condition_text(condition, scope)}"
        alone = (keys or [node for _, node in columns]) if grouped or distinct else []
        once = owned and bool(alone) and all(scope.is_owner(node) for node in alone)
        per_person = 1 if once else scope.per_person
        return Rows(f"({sql})", tuple(fields), per_person, not owned, owners, None, scope.tables, scope.unit)

    def where(self, select: exp.Select, scope: Scope, names: Names) -> str:
        """WHERE as SQL, or nothing."""
        node = select.args.get("where")
        if node is None:
            return ""
        return f" WHERE {condition_text(check(node.this, scope, self.special(names)), scope)}"

    def keys(self, select: exp.Select, scope: Scope, special: Special) -> list[exp.Expr]:
        """The checked keys of a plain GROUP BY."""
        group = select.args.get("group")
        if group is None:
            return []
        if any(value for name, value in group.args.items() if name != "expressions"):
            raise NotAllowed("GROUP BY takes columns and expressions.", next_step="Name the columns to group by.")
        return [check(named_in_select(node, select), scope, special) for node in group.expressions]

    def _projections(self, select: exp.Select, scope: Scope, special: Special) -> Iterator[tuple[str, exp.Expr]]:
        seen: set[str] = set()
        for node in select.expressions:
            inner = node.unalias()
            if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
                if any(value for key, value in inner.args.items() if key not in ("this", "table")):
                    raise NotAllowed("Only a plain * is known here.", next_step="Name the columns.")
                made: list[tuple[str, exp.Expr]] = [(c.name, c) for c in scope.columns(inner.text("table"))]
            else:
                made = [(node.alias_or_name or inner.sql("duckdb").lower(), check(inner, scope, special))]
            for name, checked in made:
                if name.lower() in seen or "$" in name:
                    raise UnknownName(
                        "Two columns of a subquery have one name, or a name has a $ in it.",
                        next_step="Name each with AS.",
                    )
                seen.add(name.lower())
                yield name, checked

    # Subqueries in expressions

    def special(self, names: Names) -> Special:
        """What EXISTS, IN and scalar subqueries stand for."""
        return subqueries(self, names)


def named_in_select(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """GROUP BY 1 and GROUP BY alias mean what SELECT says."""
    projections = select.expressions
    if isinstance(node, exp.Literal) and node.is_int and 1 <= int(node.name) <= len(projections):
        return projections[int(node.name) - 1].unalias()
    for projection in projections:
        if (
            isinstance(projection, exp.Alias)
            and isinstance(node, exp.Column)
            and not node.table
            and projection.alias.lower() == node.name.lower()
        ):
            return projection.this
    return node


def _aggregates(node: exp.Expr) -> bool:
    """Whether an aggregate stands in an expression itself, outside of windows and subqueries."""
    if isinstance(node, exp.Window | exp.Subquery | exp.Exists) or (
        isinstance(node, exp.In) and node.args.get("query")
    ):
        return False
    return isinstance(node, exp.AggFunc | exp.Filter) or any(_aggregates(child) for child in node.iter_expressions())


def _a_release() -> IsRelease:
    return IsRelease(
        "This part counts or sums across people, so it must be the outermost SELECT.",
        next_step="Group by the column that names the person too, or ask for this part by itself.",
    )


def _base(table: Table) -> Rows:
    """A table of the catalog; a protected one has been cut to max_rows, unless its rows are bounded by each question."""
    fields = tuple(_declared(column, public=table.is_public) for column in table.columns.values())
    unit = table.unit
    if unit is None:
        return Rows(quote(table.name), fields, 0, True, table=table, tables=(table.name,))
    owners = frozenset() if unit.path else frozenset({unit.column})
    per_person = table.max_rows if table.is_bounded_once else None
    if per_person is not None and per_person > MOST_ROWS:
        raise TooLarge("One person could have too many rows.", next_step="Ask the owner for a smaller max_rows.")
    return Rows(quote(table.name), fields, per_person, False, owners, table, (table.name,), unit.column)


def _declared(column: Column, *, public: bool) -> Field:
    ends: Bounds = (None, None)
    step, dates = None, None
    if isinstance(column.lower, Fraction) and isinstance(column.upper, Fraction):
        ends, step = (column.lower, column.upper), None if public else column.grid_step
    elif isinstance(column.lower, date) and isinstance(column.upper, date):
        dates = (column.lower, column.upper)
    values: tuple[KeyValue, ...] | None = None
    if column.values is not None:
        values = tuple(value.isoformat() if isinstance(value, date) else value for value in column.values)
    return Field(column.name, _KINDS[column.type], ends, values, column.nullable, step, column.max_length, dates)


def _facts(name: str, node: exp.Expr, scope: Scope, *, grouped: bool) -> Field:
    """What is public about a column of a subquery: what its expression says, and nothing that was true before."""
    if isinstance(node, exp.Column):
        found = replace(scope.field(node), name=name)
        source = scope.source(node)
        outer = source is not None and source.outer
        return replace(found, step=None if grouped or source is None else found.step, nullable=found.nullable or outer)
    known = domain(node, scope)
    return Field(
        name,
        kind_of(node, scope),
        bounds(node, scope),
        None if known is None else tuple(v for v in known if v is not None),
        known is not None and None in known,
    )


def _united(a: Field, b: Field) -> Field:
    values = None if a.values is None or b.values is None else tuple(dict.fromkeys((*a.values, *b.values)))
    kind = a.kind if a.kind == b.kind else "int" if {a.kind, b.kind} <= {"int", "small"} else None
    longest = None if a.longest is None or b.longest is None else max(a.longest, b.longest)
    dates = None if a.dates is None or b.dates is None else (min(a.dates[0], b.dates[0]), max(a.dates[1], b.dates[1]))
    step = a.step if a.step == b.step else None
    return Field(a.name, kind, hull([a.bounds, b.bounds]), values, a.nullable or b.nullable, step, longest, dates)


def _listed(rows: Rows, names: list[str]) -> str:
    """The columns of one side of a union, in order, under the names of the first side."""
    parts = [] if rows.is_public else ['"$owner"']
    for one, name in zip(rows.fields, names, strict=True):
        parts.append(f"{quote(one.name)} AS {quote(name)}")
        if one.step is not None:
            parts.append(f"{quote(steps_name(one.name))} AS {quote(steps_name(name))}")
    return f"SELECT {', '.join(parts)} FROM {rows.sql}"
