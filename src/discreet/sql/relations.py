"""FROM, JOIN and WHERE: which rows are read, and how many of them can belong to one person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from discreet.catalog import Catalog
from discreet.errors import JoinsPeople, NotAllowed, TooLarge, UnknownName
from discreet.sql.expressions import check
from discreet.sql.plan import KeyValue, Relation, Source
from discreet.sql.scope import Field, Scope

_MOST_ROWS = 10**6


class PublicFacts(Protocol):
    """What may be looked up in public tables while planning."""

    def largest_multiplicity(self, table: str, columns: tuple[str, ...]) -> int:
        """How many rows share the most frequent combination of these columns."""

    def distinct_values(self, table: str, column: str) -> tuple[KeyValue, ...]:
        """All values of a column, sorted."""


@dataclass(frozen=True, slots=True)
class Read:
    """The relation of a question, and the names it can use."""

    relation: Relation
    scope: Scope


def read_relation(select: exp.Select, catalog: Catalog, facts: PublicFacts) -> Read:
    """Start from a protected table, add joins one by one, then the filter."""
    origin = select.args.get("from_")
    if origin is None:
        raise NotAllowed("A question needs a FROM.", next_step="Name a table of the catalog.")
    first = _source(origin.this, catalog)
    if first.table.is_public:
        raise NotAllowed("The first table must be a protected one.", next_step="Put the public table behind a JOIN.")
    sources, rows = [first], first.table.max_rows
    for join in select.args.get("joins") or ():
        source, factor = _joined(join, sources, catalog, facts)
        sources.append(source)
        rows *= factor
    if rows > _MOST_ROWS:
        raise TooLarge(
            "One person could have too many rows in this join.", next_step="Join on a key with fewer repeats."
        )
    scope = _scope(sources)
    where = select.args.get("where")
    predicate = check(where.this, scope).sql("duckdb") if where is not None else None
    return Read(Relation(tuple(sources), predicate, rows), scope)


def _scope(sources: Iterable[Source]) -> Scope:
    return Scope({source.alias: source.table for source in sources})


def _source(node: exp.Expr, catalog: Catalog) -> Source:
    known = {"this", "alias"}
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise NotAllowed(
            "Only tables of the catalog can be read here.", next_step="Name a table; subqueries come later."
        )
    if any(value for key, value in node.args.items() if key not in known):
        raise NotAllowed("A table is named by its name and an alias only.", next_step="Leave the rest out.")
    table = next((t for t in catalog.tables.values() if t.name.lower() == node.name.lower()), None)
    if table is None:
        raise UnknownName("There is no such table.", next_step="Use a table that the catalog declares.")
    if table.unit is not None and table.unit.path:
        raise NotAllowed(
            "Tables that reach the person through others cannot be read yet.",
            next_step="Use a table that names the person.",
        )
    return Source(node.alias or node.name, table)


def _joined(join: exp.Join, sources: list[Source], catalog: Catalog, facts: PublicFacts) -> tuple[Source, int]:
    """One more table, and by how much it multiplies a person's rows."""
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or join.args.get("method"):
        raise NotAllowed("Only inner and left joins are allowed here.", next_step="Start from the protected table.")
    source = _source(join.this, catalog)
    if any(source.alias.lower() == other.alias.lower() for other in sources):
        raise UnknownName("Two tables have the same name.", next_step="Give one of them an alias.")
    scope = _scope([*sources, source])
    equalities = list(_equalities(join, sources, source, scope))
    condition = " AND ".join(f"({_quoted(a)} = {_quoted(b)})" for a, b in equalities)
    made = Source(source.alias, source.table, f"{side or 'INNER'} JOIN", condition)
    if source.table.is_public:
        columns = tuple(sorted({theirs.column.name for _, theirs in equalities}))
        return made, max(1, facts.largest_multiplicity(source.table.name, columns))
    if not any(ours.is_owner and theirs.is_owner for ours, theirs in equalities) or sources[0].table.unit is None:
        raise JoinsPeople(
            "This join pairs rows of different people, so one person could change the answer without limit.",
            next_step="Join on the column that names the person, or count in one table and compare afterwards.",
        )
    return made, source.table.max_rows


def _equalities(join: exp.Join, sources: list[Source], source: Source, scope: Scope) -> Iterable[tuple[Field, Field]]:
    """The pairs of columns that are equated: USING, or an ON made of equalities and AND."""
    for name in join.args.get("using") or ():
        yield _scope(sources).find(name.name, None), _scope([source]).find(name.name, None)
    on = join.args.get("on")
    if on is None and not join.args.get("using"):
        raise NotAllowed("A join needs ON or USING.", next_step="Say which columns must be equal.")
    for part in on.flatten() if isinstance(on, exp.And) else filter(None, [on]):
        inner = part.unnest()
        if not isinstance(inner, exp.EQ) or not all(isinstance(side, exp.Column) for side in (inner.left, inner.right)):
            raise NotAllowed("A join condition is made of equal columns.", next_step="Put other conditions into WHERE.")
        a, b = (scope.find(side.name, side.text("table") or None) for side in (inner.left, inner.right))
        if (a.alias == source.alias) == (b.alias == source.alias):
            raise NotAllowed("A join equates columns of both sides.", next_step="Equate one column of each table.")
        yield (b, a) if a.alias == source.alias else (a, b)


def _quoted(field: Field) -> str:
    return exp.column(field.column.name, table=field.alias, quoted=True).sql("duckdb")
