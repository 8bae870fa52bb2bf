"""What may be looked up in public tables while a query is read. Engines implement it."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from discreet.algebra.expressions import Expression
from discreet.algebra.relations import Relation
from discreet.algebra.value_properties import Value
from discreet.catalog import Table


class PublicLookup(Protocol):
    """ValueProperties of public relations: looked up before a protected row is read, within the limits of a query."""

    def rows(self, table: Table) -> int:
        """How many rows a public table has."""

    def listed(self, table: Table, columns: tuple[str, ...]) -> list[tuple[Value | None, ...]]:
        """The rows of a public table, sorted, of some of its columns; one more than may be listed, where there are more."""

    def largest_multiplicity(self, relation: Relation, keys: tuple[int, ...]) -> int:
        """How many rows share the most frequent combination of these columns; all rows, without columns."""

    def distinct_values(self, relation: Relation, expression: Expression, *, outer: bool) -> tuple[Value | None, ...]:
        """All values of an expression, sorted, NULL last; with `outer` also its value over a row of NULLs."""

    def ends(self, relation: Relation, expression: Expression) -> tuple[Fraction, Fraction] | None:
        """The least and the largest value of an expression; None where it has none."""
