"""How well a source fits its catalog, counted exactly on the rows. Not private: for the data owner only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import duckdb

from discreet.catalog import Catalog, Column, Table, Type
from discreet.engines.duckdb.snapshot import SourceReader
from discreet.engines.sources.cell_reading import canonical_as_read, cast, within_bounds
from discreet.engines.sources.row_sources import attached, left_out_lines, source_of, types_of, wrap_source_errors
from discreet.engines.sqlgen.dialects.duckdb import literal, quoted

_SHOWN = 5
"""At most this many undeclared values and skipped lines are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFit:
    """What happens to the cells of a column; counts of cells that are not empty."""

    name: str
    cells: int
    not_of_type: int
    outside_bounds: int
    cut: int
    timed: int
    """In a date column, cells with a time of day, which is dropped."""
    undeclared: int
    undeclared_values: tuple[str, ...]
    """The most frequent undeclared values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFit:
    """What happens to the rows of a table."""

    name: str
    missing: tuple[str, ...]
    """Declared but not in the source: no query is answered until this is fixed."""
    undeclared: tuple[str, ...]
    """In the source but not declared: queries cannot use them."""
    left_out: int
    """Lines of a CSV file that do not fit its header."""
    first_left_out: tuple[int, ...]
    rows: int
    without_owner: int
    people: int
    beyond_max_rows: int
    """Rows beyond the limit per person, which are dropped."""
    most_rows: int
    """The largest number of rows of one person."""
    columns: tuple[ColumnFit, ...]


def fits(catalog: Catalog) -> Iterator[TableFit]:
    """Check the tables one after another; each is read a few times."""
    with duckdb.connect(config={"memory_limit": catalog.memory}) as connection, wrap_source_errors():
        connection.execute("SET TimeZone = 'UTC'")
        with attached(connection, catalog, {}):
            reading = _Reading(connection, catalog)
            for table in catalog.tables.values():
                yield reading.fit(table)


class _Reading:
    """The sources, with those declared columns that exist."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
        self._connection, self._catalog = connection, catalog
        self._sources = {name: source_of(catalog, table, {}) for name, table in catalog.tables.items()}
        self._types = {name: types_of(connection, source) for name, source in self._sources.items()}
        there = {name: self._with_what_is_there(table) for name, table in catalog.tables.items()}
        self._readable = {
            name: table
            for name, table in there.items()
            if all(key in there[other].columns for other, key in _needed(table))
        }
        self._door = SourceReader(connection, replace(catalog, tables=self._readable), {})

    def _with_what_is_there(self, table: Table) -> Table:
        columns = {name: about for name, about in table.columns.items() if name.lower() in self._types[table.name]}
        return replace(table, columns=columns)

    def fit(self, declared: Table) -> TableFit:
        types, source = self._types[declared.name], self._sources[declared.name]
        lines = left_out_lines(self._connection, self._catalog, declared)
        known = {name.lower() for name in declared.columns}
        table = self._readable.get(declared.name)
        owners = _Owners() if table is None else _owners(self._connection, table, self._door)
        return TableFit(
            name=declared.name,
            missing=tuple(name for name in declared.columns if name.lower() not in types),
            undeclared=tuple(name for name in types if name not in known),
            left_out=len(lines),
            first_left_out=tuple(lines[:_SHOWN]),
            rows=_one_row(self._connection, f"SELECT count(*) FROM {source}")[0],
            without_owner=owners.nobodys,
            people=owners.people,
            beyond_max_rows=owners.beyond,
            most_rows=owners.most,
            columns=() if table is None else tuple(_columns(self._connection, table, source, types)),
        )


def _needed(table: Table) -> Iterator[tuple[str, str]]:
    """Tables and columns that are needed to find the person of a table's rows."""
    if table.own_column is not None:
        yield table.name, table.own_column
    if table.unit is not None:
        yield from ((step.table, step.key) for step in table.unit.path)
        yield from ((before.table, after.column) for before, after in pairwise(table.unit.path))
        if table.unit.path:
            yield table.unit.path[-1].table, table.unit.column


@dataclass(frozen=True, slots=True)
class _Owners:
    nobodys: int = 0
    people: int = 0
    beyond: int = 0
    most: int = 0


def _owners(connection: duckdb.DuckDBPyConnection, table: Table, door: SourceReader) -> _Owners:
    """Count rows without a person, people, rows beyond the limit per person, and the largest number of rows of one person."""
    if table.is_public:
        return _Owners()
    owned = f"SELECT o, count(*) AS n FROM ({door.owned(table)}) GROUP BY o"
    beyond = f"greatest(n - {table.rows_kept}, 0)"
    sums = (
        "coalesce(sum(n) FILTER (WHERE o IS NULL), 0), count(o), "
        f"coalesce(sum({beyond}) FILTER (WHERE o IS NOT NULL), 0), coalesce(max(n) FILTER (WHERE o IS NOT NULL), 0)"
    )
    return _Owners(*map(int, _one_row(connection, f"SELECT {sums} FROM ({owned})")))


def _columns(
    connection: duckdb.DuckDBPyConnection, table: Table, source: str, types: Mapping[str, str]
) -> Iterator[ColumnFit]:
    for column in table.columns.values():
        if column.name == table.own_column:
            continue  # rows without a person are counted elsewhere
        read = f"SELECT s.{quoted(column.name)} AS raw, {cast(column, types)} AS c FROM {source}"
        rows = f"(SELECT raw, c, {canonical_as_read('c', column)} AS v FROM ({read}))"
        inside = within_bounds("v", column)
        longer = f"length(c) > {column.max_length}" if column.type is Type.TEXT else "false"
        timed = "TRY_CAST(raw AS TIMESTAMP) <> CAST(v AS TIMESTAMP)" if column.type is Type.DATE else "false"
        counts = _one_row(
            connection,
            "SELECT count(raw), count(raw) - count(v), count(*) FILTER (WHERE v <> "
            f"{inside}), count(*) FILTER (WHERE {longer}), count(*) FILTER (WHERE {timed}) FROM {rows}",
        )
        undeclared = _undeclared(connection, column, f"(SELECT {inside} AS w FROM {rows})")
        yield ColumnFit(
            name=column.name,
            cells=counts[0],
            not_of_type=counts[1],
            outside_bounds=counts[2],
            cut=counts[3],
            timed=counts[4],
            undeclared=sum(undeclared.values()),
            undeclared_values=tuple(undeclared)[:_SHOWN],
        )


def _undeclared(connection: duckdb.DuckDBPyConnection, column: Column, rows: str) -> dict[str, int]:
    """Undeclared values of columns with declared values, most frequent first."""
    if column.values is None:
        return {}
    listed = ", ".join(literal(column.type, value) for value in column.values)
    found = connection.execute(
        f"SELECT CAST(w AS VARCHAR), count(*) FROM {rows} WHERE w NOT IN ({listed}) GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    return dict(found.fetchall())


def _one_row(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    row = connection.execute(sql).fetchone()
    assert row is not None  # noqa: S101  aggregates without groups have one row
    return row
