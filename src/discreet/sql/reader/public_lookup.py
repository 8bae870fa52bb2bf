"""The interface for reading public tables while a query is read. Engines implement it."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from discreet.algebra.expressions import Expression
from discreet.algebra.relations import Relation
from discreet.algebra.value_properties import Value
from discreet.catalog import Table


class PublicLookup(Protocol):
    """Look up properties of public relations, before any protected row is read and within the limits of a query."""

    def rows(self, table: Table) -> int:
        """Return the number of rows of a public table."""

    def listed(self, table: Table, columns: tuple[str, ...]) -> list[tuple[Value | None, ...]]:
        """Return some columns of a public table, sorted. A table that is too long is cut one row after the limit."""

    def largest_multiplicity(self, relation: Relation, keys: tuple[int, ...]) -> int:
        """Return the number of rows with the most frequent combination of these columns; without columns, all rows."""

    def distinct_values(self, relation: Relation, expression: Expression, *, outer: bool) -> tuple[Value | None, ...]:
        """Return all values of an expression, sorted, NULL last. With `outer`, add its value for a row of NULLs."""

    def ends(self, relation: Relation, expression: Expression) -> tuple[Fraction, Fraction] | None:
        """Return the smallest and the largest value of an expression, or None if it has no values."""
