"""What the reader passes along: rows of people or public rows, what was released, and the names that WITH gives them."""

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
    """A relation and what the query calls its columns.

    `table` is the table of the catalog that the rows are, whole or filtered. `people` are the positions that hold the owner in every row,
    also where the properties of the column cannot say so: the COALESCE of both sides of a full join.
    """

    relation: Relation
    names: tuple[str, ...]
    table: Table | None = None
    people: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Released:
    """What was released, sampled once: every reference reads the same view. `types` are of its columns, None for NULL alone."""

    view: released_expressions.View
    names: tuple[str, ...]
    types: tuple[Type | None, ...]


Names: TypeAlias = Mapping[str, Rows | Released]
"""What WITH has named, in lower case."""
Read: TypeAlias = Callable[[exp.Expr, Names, "Scope | None"], Rows | Released]


Special: TypeAlias = Callable[[exp.Expr, "Environment"], Expression | None]
"""Reads a subquery or a window in an expression; None for anything else."""


class AggregatesAcrossPeople(NotAllowed):
    """A SELECT that counts or sums across people: it is a release, and no rows."""


def _not_set(_query: exp.Expr, _names: Names, _scope: Scope | None) -> Rows | Released:
    message = "the reader of subqueries is not set"
    raise RuntimeError(message)


def _nothing_special(_node: exp.Expr, _here: Environment) -> Expression | None:
    return None


@dataclass
class Context:
    """What reading a query needs and gathers. `today` is the day of the data version; `read` reads any subquery.

    Made by `rows.context_of`, which knows what is `special` in an expression.
    """

    catalog: Catalog
    lookup: PublicLookup
    today: date | None = None
    queries: list[Query] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    read: Read = _not_set
    special: Special = _nothing_special

    def table(self, name: str) -> Table | None:
        """The table of the catalog that SQL calls so, in any case."""
        return next((table for table in self.catalog.tables.values() if table.name.lower() == name.lower()), None)

    def note(self, sentence: str) -> None:
        """Something the answer should say, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)


@dataclass(frozen=True, slots=True)
class Environment:
    """Where an expression stands: its scope, the query, the names of WITH, and how its parts are read."""

    scope: Scope
    context: Context
    names: Names
    reading: Callable[[exp.Expr, Environment], Expression]

    def read(self, node: exp.Expr) -> Expression:
        """What a part of the expression means."""
        return self.reading(node, self)


def across_people_refusal() -> AggregatesAcrossPeople:
    """The refusal of a part that counts across people where rows are needed."""
    return AggregatesAcrossPeople(
        "This part aggregates across people, so it must be the outermost SELECT.",
        next_step="Add the person's id column to GROUP BY, or run this part as a query of its own.",
    )
