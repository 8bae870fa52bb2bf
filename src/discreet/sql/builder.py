"""A query builder for people who do not write SQL. It produces SQL text, which is read like any other query."""

from __future__ import annotations

from dataclasses import dataclass, replace


def quote(name: str) -> str:
    """Return a name in double quotes, with quotes in it escaped."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Table:
    """A query on one table. Every method returns a new query.

    >>> print(Table("visits").where("cost > 100").group_by("ward").count("visits").mean("cost"))
    SELECT ward, COUNT(*) AS "visits", AVG(cost) AS "mean_cost" FROM visits WHERE (cost > 100) GROUP BY ward
    """

    name: str
    joins: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    condition_after: str = ""
    order: str = ""
    most: int | None = None

    def join(self, other: str, *, on: str, how: str = "inner") -> Table:
        """Join a public table, or a protected one on the person.

        Args:
            other: Name of the table to join.
            on: Join condition in SQL.
            how: Kind of join, such as "inner" or "left".
        """
        return replace(self, joins=(*self.joins, f"{how.upper()} JOIN {other} ON {on}"))

    def where(self, condition: str) -> Table:
        """Keep only rows that fulfil a condition.

        Args:
            condition: A condition in SQL.
        """
        return replace(self, conditions=(*self.conditions, condition))

    def group_by(self, *keys: str) -> Table:
        """Return one row of the answer for each combination of keys.

        Args:
            *keys: Column names or SQL expressions.
        """
        return replace(self, keys=(*self.keys, *keys))

    def count(self, name: str = "count") -> Table:
        """Count rows.

        Args:
            name: Name of the output column.
        """
        return self.aggregate("COUNT(*)", name)

    def people(self, person: str, name: str = "people") -> Table:
        """Count people.

        Args:
            person: The column with the person's id.
            name: Name of the output column.
        """
        return self.aggregate(f"COUNT(DISTINCT {person})", name)

    def sum(self, column: str, name: str | None = None) -> Table:
        """Sum a bounded column.

        Args:
            column: Name of a numeric column.
            name: Name of the output column.
        """
        return self.aggregate(f"SUM({column})", name or f"sum_{column}")

    def mean(self, column: str, name: str | None = None) -> Table:
        """Average a bounded column.

        Args:
            column: Name of a numeric column.
            name: Name of the output column.
        """
        return self.aggregate(f"AVG({column})", name or f"mean_{column}")

    def median(self, column: str, name: str | None = None) -> Table:
        """Compute the median of a bounded column.

        Args:
            column: Name of a numeric column.
            name: Name of the output column.
        """
        return self.aggregate(f"MEDIAN({column})", name or f"median_{column}")

    def aggregate(self, expression: str, name: str) -> Table:
        """Add any aggregate.

        Args:
            expression: An aggregate expression in SQL.
            name: Name of the output column.
        """
        return replace(self, outputs=(*self.outputs, f"{expression} AS {quote(name)}"))

    def having(self, condition: str) -> Table:
        """Keep only rows of the answer whose noisy values fulfil a condition.

        Args:
            condition: A condition in SQL on output columns or aggregates.
        """
        return replace(self, condition_after=condition)

    def order_by(self, order: str, *, limit: int | None = None) -> Table:
        """Sort the answer by its noisy values, and keep the first rows.

        Args:
            order: ORDER BY keys in SQL.
            limit: Maximum number of rows.
        """
        return replace(self, order=order, most=limit)

    def __str__(self) -> str:
        parts = [f"SELECT {', '.join((*self.keys, *self.outputs))} FROM {self.name}", *self.joins]
        parts += [f"WHERE {' AND '.join(f'({condition})' for condition in self.conditions)}"] if self.conditions else []
        parts += [f"GROUP BY {', '.join(self.keys)}"] if self.keys else []
        parts += [f"HAVING {self.condition_after}"] if self.condition_after else []
        parts += [f"ORDER BY {self.order}"] if self.order else []
        parts += [f"LIMIT {self.most}"] if self.most is not None else []
        return " ".join(parts)
