"""What a name means: relations, their columns, and who owns their rows; by lineage, never by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from discreet.catalog import Table
from discreet.errors import NotAllowed, UnknownName

KeyValue: TypeAlias = str | int | float | bool | None
Bounds: TypeAlias = tuple[Fraction | None, Fraction | None]
UNBOUNDED: Bounds = (None, None)
COMPUTED = "$"
"""The alias of what stands for a subquery, a window or one person's aggregate within an expression."""


def quote(name: str) -> str:
    """A name as SQL, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a relation, and what is public about its values.

    `kind` is one of those in kinds.py, or None for what only the engine knows. `step` is the grid whose steps are stored beside the column.
    """

    name: str
    kind: str | None = None
    bounds: Bounds = UNBOUNDED
    values: tuple[KeyValue, ...] | None = None
    nullable: bool = False
    step: Fraction | None = None
    longest: int | None = None
    dates: tuple[date, date] | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """A relation to stand behind FROM: public, or every row owned by one person through its hidden column $owner.

    `per_person` is the most rows that one person can have; None where nothing bounds them yet, 0 for public relations.
    """

    sql: str
    fields: tuple[Field, ...]
    per_person: int | None
    is_public: bool
    owners: frozenset[str] = frozenset()
    table: Table | None = None
    tables: tuple[str, ...] = ()
    unit: str = ""

    def field(self, name: str) -> Field | None:
        return next(
            (one for one in self.fields if one.name.lower() == name.lower()), None
        )  # SQL does not mind the case


@dataclass(frozen=True, slots=True)
class Source:
    """A relation within a SELECT: what the question calls it, and whether an outer join can make its columns NULL."""

    called: str
    rows: Rows
    outer: bool = False


@dataclass(slots=True)
class Scope:
    """The relations of one SELECT, inside of the scope that a subquery stands in.

    `sources` goes by names of our own, different in every scope of a question, so that a resolved column says which one
    it means. Each set of `owners` names columns of which, in every row, at least one is the person and the others are
    NULL or the same; `maybe_owners` are NULL or the person.
    """

    parent: Scope | None = None
    sources: dict[str, Source] = field(default_factory=dict)
    sql: str = ""
    per_person: int | None = 0
    owner_sql: str = ""
    """The hidden column that names the person of a row."""
    owners: list[frozenset[tuple[str, str]]] = field(default_factory=list)
    maybe_owners: set[tuple[str, str]] = field(default_factory=set)
    merged: dict[str, exp.Expr] = field(default_factory=dict)
    """What a column of USING means without a table's name."""
    computed: dict[str, tuple[str, Field]] = field(default_factory=dict)
    """SQL and facts of what stands for subqueries, windows and aggregates."""

    @property
    def is_public(self) -> bool:
        return all(source.rows.is_public for source in self.sources.values())

    @property
    def unit(self) -> str:
        return next((source.rows.unit for source in self.sources.values() if source.rows.unit), "")

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for source in self.sources.values() for name in source.rows.tables))

    def columns(self, called: str = "") -> Iterator[exp.Column]:
        """Every column that the question can see, in order; or those of one relation."""
        for alias, source in self.sources.items():
            if not called or source.called.lower() == called.lower():
                yield from (exp.column(one.name, table=alias, quoted=True) for one in source.rows.fields)

    def resolve(self, column: exp.Column) -> exp.Expr:
        """The column under its full, quoted name."""
        if column.args.get("db") or column.args.get("catalog"):
            raise NotAllowed("Columns are named by table and name only.", next_step="Write table.column.")
        scope: Scope | None = self
        while scope is not None:
            if not column.table and column.name.lower() in scope.merged:
                return scope.merged[column.name.lower()].copy()
            found = [one for one in scope.columns(column.table) if one.name.lower() == column.name.lower()]
            if len(found) > 1:
                raise UnknownName(
                    f"The column {column.name} is in several tables.", next_step=f"Write table.{column.name}."
                )
            if found:
                return found[0]
            scope = scope.parent
        raise UnknownName(
            f"There is no column {column.name} here.", next_step="Use a column that the catalog declares."
        )

    def source(self, column: exp.Expr) -> Source | None:
        """Where a resolved column comes from; None for stand-ins."""
        alias = column.text("table")
        scope: Scope | None = self
        while scope is not None:
            if alias in scope.sources:
                return scope.sources[alias]
            scope = scope.parent
        return None

    def field(self, column: exp.Expr) -> Field:
        """What is public about a resolved column."""
        if column.text("table") == COMPUTED:
            return self.computed[column.name][1]
        source = self.source(column)
        found = source.rows.field(column.name) if source else None
        if found is None:
            raise UnknownName("There is no such column here.", next_step="Use a column that the catalog declares.")
        return found

    def is_owner(self, node: exp.Expr) -> bool:
        """Whether a checked expression is, in every row, the person whom the row belongs to."""
        inner = node.unnest()
        parts = [inner.this, *inner.expressions] if isinstance(inner, exp.Coalesce) else [inner]
        names = {(part.text("table"), part.name) for part in parts if isinstance(part, exp.Column)}
        if any(not isinstance(part, exp.Column) for part in parts) or not names <= self.maybe_owners:
            return False
        return any(cover <= names for cover in self.owners)

    def compute(self, sql: str, facts: Field) -> exp.Column:
        """A stand-in for what was checked elsewhere, with what is public about it."""
        name = f"${len(self.computed) + 1}"
        self.computed[name] = (sql, facts)
        return exp.column(name, table=COMPUTED, quoted=True)

    def text(self, node: exp.Expr) -> str:
        """A checked expression as SQL, stand-ins replaced by what they stand for."""

        def put_back(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Column) and part.text("table") == COMPUTED:
                return exp.Var(this=self.computed[part.name][0])
            return part

        return node.transform(put_back).sql("duckdb") if self.computed else node.sql("duckdb")
