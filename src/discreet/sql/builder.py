"""A query built step by step, for people who do not write SQL. It becomes SQL text and takes the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace


def quote(name: str) -> str:
    """A name as a query writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Table:
    """A table and what is asked of it; every step gives a new one.

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
            other: The other table.
            on: A condition.
            how: "inner", "left" and so on.
        """
        return replace(self, joins=(*self.joins, f"{how.upper()} JOIN {other} ON {on}"))

    def where(self, condition: str) -> Table:
        """Keep rows that fulfil a condition.

        Args:
            condition: In SQL.
        """
        return replace(self, conditions=(*self.conditions, condition))

    def group_by(self, *keys: str) -> Table:
        """One row of the answer for each combination.

        Args:
            *keys: Columns or expressions.
        """
        return replace(self, keys=(*self.keys, *keys))

    def count(self, name: str = "count") -> Table:
        """How many rows.

        Args:
            name: Of the column in the answer.
        """
        return self.aggregate("COUNT(*)", name)

    def people(self, person: str, name: str = "people") -> Table:
        """How many people; `person` is the column that names them.

        Args:
            person: The column that names them.
            name: Of the column in the answer.
        """
        return self.aggregate(f"COUNT(DISTINCT {person})", name)

    def sum(self, column: str, name: str | None = None) -> Table:
        """The sum of a bounded column.

        Args:
            column: A number.
            name: Of the column in the answer.
        """
        return self.aggregate(f"SUM({column})", name or f"sum_{column}")

    def mean(self, column: str, name: str | None = None) -> Table:
        """The mean of a bounded column.

        Args:
            column: A number.
            name: Of the column in the answer.
        """
        return self.aggregate(f"AVG({column})", name or f"mean_{column}")

    def median(self, column: str, name: str | None = None) -> Table:
        """The median of a bounded column.

        Args:
            column: A number.
            name: Of the column in the answer.
        """
        return self.aggregate(f"MEDIAN({column})", name or f"median_{column}")

    def aggregate(self, expression: str, name: str) -> Table:
        """Anything else that SQL can say.

        Args:
            expression: In SQL.
            name: Of the column in the answer.
        """
        return replace(self, outputs=(*self.outputs, f"{expression} AS {quote(name)}"))

    def having(self, condition: str) -> Table:
        """Keep rows of the answer, by their noisy values.

        Args:
            condition: In SQL, about noisy values.
        """
        return replace(self, condition_after=condition)

    def order_by(self, order: str, *, limit: int | None = None) -> Table:
        """Sort the answer, by its noisy values, and keep the first rows.

        Args:
            order: In SQL.
            limit: How many rows at most.
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
