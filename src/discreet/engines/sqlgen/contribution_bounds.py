"""Contribution bounds: keep the first rows of a person by a total order of that person's own rows, or the first rows of the first groups."""

from __future__ import annotations

from typing import Any

from discreet.algebra.query import Key, Query
from discreet.algebra.relations import Filter, Project, Relation, Scan
from discreet.catalog import Type
from discreet.engines.sqlgen import window_clause
from discreet.engines.sqlgen.dialects import duckdb as dialect

_LISTED = 64
"""With more declared values than this, they are passed as a parameter."""


class Cut:
    """Bounds rows of `o`, keys `k0 …` and ids `i1 …` to the limits of a query; `values` are the list parameters of the text."""

    def __init__(self, query: Query, *, salt: str) -> None:
        self._query, self._salt = query, salt
        self._kinds = query.rows.shape.ids
        self.values: dict[str, list[Any]] = {}

    def of(self, rows: str) -> str:
        """Keep rows with declared keys, and of these a person's first rows; if groups are limited, the first rows of the first groups."""
        limits, keys = self._query.limits, self._query.keys
        if limits.groups is None or limits.rows_per_group is None:
            return _first(self.declared(rows), self._sort_keys(), limits.rows)
        if not keys:
            return _first(rows, self._sort_keys(), min(limits.rows, limits.rows_per_group))
        position, rows = self._position(rows)
        chosen = self._in_first_groups(rows, self._are_declared, position, limits.groups, limits.rows_per_group)
        return (
            _first(chosen, window_clause.by([position]), limits.rows)
            if limits.rows < limits.groups * limits.rows_per_group
            else chosen
        )

    def declared(self, rows: str) -> str:
        """Keep rows with declared keys."""
        return f"(SELECT * FROM {rows} WHERE {self._are_declared})"

    @property
    def _are_declared(self) -> str:
        return " AND ".join(self._is_declared(index, key) for index, key in enumerate(self._query.keys)) or "true"

    def _is_declared(self, index: int, key: Key) -> str:
        name, kind = f"k{index}", key.expression.properties.type
        if key.values is None:
            return f"{name} IS NOT NULL"
        listed = [value for value in key.values if value is not None]
        if len(listed) > _LISTED:
            self.values[name] = listed
            inside = f"{name} IN (SELECT unnest(CAST(${name} AS {dialect.TYPES[kind]}[])))"
        elif listed:
            inside = f"{name} IN ({', '.join(dialect.literal(kind, value) for value in listed)})"
        else:
            inside = "false"
        return f"({inside} OR {name} IS NULL)" if None in key.values else inside

    def code(self, index: int) -> str:
        """Write the index of a key's value among the declared ones, from 0, including NULL if it is declared."""
        key, name = self._query.keys[index], f"k{index}"
        values, kind = key.values or (), key.expression.properties.type
        listed = [value for value in values if value is not None]
        first = listed[0] if listed else None
        if kind is Type.INTEGER and isinstance(first, int) and listed == list(range(first, first + len(listed))):
            position = f"{name} - {dialect.integer(first)}"
        else:
            self.values[f"d{index}"] = listed
            position = f"list_position(CAST($d{index} AS {dialect.TYPES[kind]}[]), {name}) - 1"
        if None not in values:
            return position
        null = values.index(None)
        moved = (
            f"(CASE WHEN {position} >= {null} THEN {position} + 1 ELSE {position} END)"
            if null < len(listed)
            else position
        )
        return f"(CASE WHEN {name} IS NULL THEN {null} ELSE {moved} END)"

    def _in_first_groups(self, rows: str, declared: str, position: str, groups: int, rows_per_group: int) -> str:
        """The first rows of a person's first groups, in the order of their first row.

        The groups of each person are found first and joined with the rows: a window over all rows needs far more memory. Undeclared keys
        are dropped among the groups, which are fewer than the rows. Cheap rows are read twice; expensive ones are materialised. A CTE
        that DuckDB may inline would not do, since DuckDB cannot copy every expression.
        """
        keys = [f"k{index}" for index in range(len(self._query.keys))]
        source, again, before = rows, rows, ""
        if not _is_cheap(self._query.rows):
            source, again, before = "every", "every", f"WITH every AS MATERIALIZED (SELECT * FROM {rows}) "
        found = (
            f"SELECT {', '.join(['o', *keys])}, min({position}) AS p FROM {again} GROUP BY {', '.join(['o', *keys])}"
        )
        number = f"row_number() OVER ({window_clause.window(['o'], window_clause.by(['p']))})"
        kept = f"SELECT {', '.join(['o', *keys])} FROM ({found}) WHERE {declared} QUALIFY {number} <= {groups}"
        same = " AND ".join(["t1.o = t2.o", *(f"t1.{key} IS NOT DISTINCT FROM t2.{key}" for key in keys)])
        joined = f"SELECT t1.* FROM {source} AS t1 SEMI JOIN ({kept}) AS t2 ON {same}"
        within = window_clause.window(["o", *keys], window_clause.by([position]))
        return f"({before}SELECT * FROM ({joined}) QUALIFY row_number() OVER ({within}) <= {rows_per_group})"

    def _position(self, rows: str) -> tuple[str, str]:
        """Write one column that orders a person's rows: the only id, or the row number by all ids."""
        if self._kinds == (Type.INTEGER,):
            return "i1", rows
        number = f"row_number() OVER ({window_clause.window(['o'], self._sort_keys())})" if self._kinds else "1"
        return "p", f"(SELECT *, {number} AS p FROM {rows})"

    def _sort_keys(self) -> list[str]:
        """Write a total order of one person's rows: by ids, preceded by a salted hash if the ids are values."""
        names = [f"i{at}" for at in range(1, len(self._kinds) + 1)]
        order = window_clause.by(names)
        if any(kind is not Type.INTEGER for kind in self._kinds):
            texts = [dialect.content(name, kind) for name, kind in zip(names, self._kinds, strict=True)]
            order = [dialect.hashed([dialect.text(self._salt), *texts]), *order]
        return order


def _is_cheap(relation: Relation) -> bool:
    """Whether rows are streamed, without an aggregation or a join."""
    while isinstance(relation, Filter | Project):
        relation = relation.rows
    return isinstance(relation, Scan)


def _first(rows: str, order: list[str], most: int) -> str:
    return f"(SELECT * FROM {rows} QUALIFY row_number() OVER ({window_clause.window(['o'], order)}) <= {most})"
