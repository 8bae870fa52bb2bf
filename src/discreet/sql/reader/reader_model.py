"""Data types of the reader: rows, released tables, the names of WITH, and the context of an expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from discreet.algebra import released_expressions
from discreet.algebra.expressions import Expression
from discreet.algebra.query import Query
from discreet.algebra.relations import Relation
from discreet.catalog import Catalog, Table, Type
from discreet.errors import NotAllowed
from discreet.sql.reader.public_lookup import PublicLookup

if TYPE_CHECKING:
    from discreet.sql.reader.scope import Scope


@dataclass(frozen=True)
class Rows:
    """A relation with column names.

    `table` is the table of the catalog that the rows come from, if they are all or some of its rows, unchanged.
    `people` are the positions of columns that equal the person's id in every row. This includes columns whose
    properties cannot express it, such as the COALESCE of both sides of a full join.
    """

    relation: Relation
    names: tuple[str, ...]
    table: Table | None = None
    people: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Released:
    """A released table. The noise is sampled once: every reference reads the same values.

    `types` are the column types; None for a column that is always NULL.
    """

    view: released_expressions.View
    names: tuple[str, ...]
    types: tuple[Type | None, ...]


Names: TypeAlias = Mapping[str, Rows | Released]
"""The names that WITH defines, in lower case."""
Read: TypeAlias = Callable[[exp.Expr, Names, "Scope | None"], Rows | Released]


Special: TypeAlias = Callable[[exp.Expr, "Environment"], Expression | None]
"""Reads a subquery or a window in an expression; None for anything else."""


class AggregatesAcrossPeople(NotAllowed):
    """Raised for a SELECT that aggregates across people where rows are needed."""


def _not_set(_query: exp.Expr, _names: Names, _scope: Scope | None) -> Rows | Released:
    message = "the reader of subqueries is not set"
    raise RuntimeError(message)


def _nothing_special(_node: exp.Expr, _here: Environment) -> Expression | None:
    return None


@dataclass
class Context:
    """The state of reading one query. `today` is the day of the data version; `read` reads any subquery.

    Created by `row_selects.context_of`, which sets `special`.
    """

    catalog: Catalog
    lookup: PublicLookup
    today: date | None = None
    queries: list[Query] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    read: Read = _not_set
    special: Special = _nothing_special

    def table(self, name: str) -> Table | None:
        """Return the table of the catalog with this name, ignoring case."""
        return next((table for table in self.catalog.tables.values() if table.name.lower() == name.lower()), None)

    def note(self, sentence: str) -> None:
        """Add a note to the answer, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of an expression: its scope, context, names of WITH, and how to read its parts."""

    scope: Scope
    context: Context
    names: Names
    reading: Callable[[exp.Expr, Environment], Expression]

    def read(self, node: exp.Expr) -> Expression:
        """Translate a part of the expression."""
        return self.reading(node, self)


def across_people_refusal() -> AggregatesAcrossPeople:
    """Return the refusal of a part that aggregates across people where rows are needed."""
    return AggregatesAcrossPeople(
        "This part aggregates across people, so it must be the outermost SELECT.",
        next_step="Add the person's id column to GROUP BY, or run this part as a query of its own.",
    )
