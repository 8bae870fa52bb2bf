"""DuckDB: a snapshot of the protected tables, with every promise of the catalog enforced on the rows themselves.

Types are cast (what does not fit is NULL), text is cut, rows without an owner are dropped, numbers are clamped and put on
their grid beside the original, and each person keeps at most `max_rows` rows, chosen by a salted hash of the row's own
content. So what one person contributes depends on nobody else, and a query is a plain GROUP BY afterwards.
"""

from __future__ import annotations

import os
from pathlib import Path

import duckdb

from discreet.catalog import Catalog, Column, Table, Type
from discreet.errors import BadCatalog
from discreet.exact import exact

OWNER = "$owner"
_SQL_TYPES = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.BOOLEAN: "BOOLEAN",
}


def steps_name(column: str) -> str:
    """The stored grid steps of a bounded column."""
    return f"{column}$steps"


def quote(name: str) -> str:
    """A name as SQL, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def empty_tables(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """The snapshot's tables without a row, to bind questions against before anything is charged."""
    for table in catalog.tables.values():
        columns = [f"{quote(c.name)} {_SQL_TYPES[c.type]}" for c in table.columns.values()]
        if not table.is_public:
            columns += [f"{quote(steps_name(c.name))} BIGINT" for c in table.columns.values() if c.is_bounded_number]
            columns.append(f"{quote(OWNER)} {_owner_type(table)}")
        connection.execute(f"CREATE TABLE {quote(table.name)} ({', '.join(columns)})")


def build_snapshot(connection: duckdb.DuckDBPyConnection, catalog: Catalog, *, salt: str | None = None) -> None:
    """Fill a database with the snapshot, then close every other door."""
    secret = salt or os.urandom(16).hex()
    for table in catalog.tables.values():
        source = _source(catalog, table)
        if table.is_public:
            connection.execute(f"CREATE TABLE {quote(table.name)} AS SELECT {_columns(table)} FROM {source}")
        else:
            connection.execute(_bounded(table, source), {"salt": secret})
    for setting in (
        "enable_external_access = false",
        "autoinstall_known_extensions = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def _source(catalog: Catalog, table: Table) -> str:
    base = Path(table.path) if table.path else Path(catalog.source)
    for candidate in (base, base / f"{table.name}.parquet", base / f"{table.name}.csv"):
        if candidate.is_file() and candidate.suffix in (".parquet", ".csv"):
            reader = "read_parquet" if candidate.suffix == ".parquet" else "read_csv"
            options = "" if candidate.suffix == ".parquet" else ", all_varchar = true"
            return f"{reader}({_text(str(candidate))}{options})"
    raise BadCatalog(
        f"There is no Parquet or CSV file for the table {table.name}.",
        next_step="Put NAME.parquet or NAME.csv into the source folder, or give the table a path.",
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _columns(table: Table) -> str:
    return ", ".join(f"{_cast(column)} AS {quote(column.name)}" for column in table.columns.values())


def _cast(column: Column) -> str:
    value = f"TRY_CAST({quote(column.name)} AS {_SQL_TYPES[column.type]})"
    if column.type is Type.TEXT:
        return f"left({value}, {column.max_length})"
    if column.type is Type.REAL:
        return f"CASE WHEN isnan({value}) THEN NULL ELSE {value} END"
    return value


def _owner_type(table: Table) -> str:
    assert table.unit is not None  # noqa: S101  asked of protected tables only
    return _SQL_TYPES[table.columns[table.unit.column].type]


def _bounded(table: Table, source: str) -> str:
    """At most max_rows rows a person: the smallest by a salted hash of the whole row, ties by the row itself."""
    assert table.unit is not None  # noqa: S101
    names = [quote(name) for name in table.columns]
    row_text = ", '|', ".join(f"coalesce(CAST({name} AS VARCHAR), '\\N')" for name in names)
    kept = ", ".join(
        [
            *names,
            *(f"{_steps(c)} AS {quote(steps_name(c.name))}" for c in table.columns.values() if c.is_bounded_number),
        ]
    )
    return (
        f"CREATE TABLE {quote(table.name)} AS SELECT {kept}, {quote(table.unit.column)} AS {quote(OWNER)} "
        f"FROM (SELECT {_columns(table)} FROM {source}) WHERE {quote(table.unit.column)} IS NOT NULL "
        f"QUALIFY row_number() OVER (PARTITION BY {quote(table.unit.column)} "
        f"ORDER BY md5(concat($salt, '|', {row_text})), {', '.join(names)}) <= {table.max_rows}"
    )


def _steps(column: Column) -> str:
    """floor(x / step + 1/2), clamped before and after."""
    low, high = column.steps
    step = column.grid_step
    lower, upper = exact(column.lower), exact(column.upper)
    value = f"least(greatest(CAST({quote(column.name)} AS DOUBLE), {float(lower)!r}), {float(upper)!r})"
    return f"least(greatest(TRY_CAST(floor({value} / {float(step)!r} + 0.5) AS BIGINT), {low}), {high})"
