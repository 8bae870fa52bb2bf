"""DuckDB: a snapshot of the tables, with every promise of the catalog enforced on the rows themselves.

Types are cast (what does not fit is NULL), text is cut, rows without an owner are dropped, numbers are clamped and put on
their grid beside the original, and each person's rows are ranked by a salted hash of the row's own content; at most
`max_rows` are kept. So what one person contributes depends on nobody else, and a query is a plain GROUP BY afterwards.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

from discreet.catalog import Catalog, Column, Table, Type
from discreet.engines.sources import attach, fingerprint, source_of
from discreet.errors import BadCatalog, SourceChanged
from discreet.sql.scope import quote
from discreet.sql.steps import rounded_text, steps_name

OWNER, RANK = "$owner", "$rank"
_FORMAT = 2
_SQL_TYPES = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.BOOLEAN: "BOOLEAN",
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A database that only we read: every other door is closed."""

    connection: duckdb.DuckDBPyConnection
    path: str | None


def open_snapshot(
    catalog: Catalog, *, salt: str | None, version: int, frames: Mapping[str, Any] | None = None
) -> Snapshot:
    """The snapshot of a data version: the file beside the ledger, or made anew; in memory for frames."""
    secret = salt or os.urandom(16).hex()
    path = (
        None if frames is not None or salt is None or catalog.snapshot in (None, ":memory:") else Path(catalog.snapshot)
    )
    try:
        if path is None:
            connection = duckdb.connect(":memory:", config={"memory_limit": catalog.memory})
            _fill(connection, catalog, secret, frames or {})
            return Snapshot(_locked(connection), None)
        made_of = {"format": _FORMAT, "version": version, "salt": secret, "catalog": _digest(catalog)}
        known = _meta(path)
        if known is not None and known.get("version") == version and known.get("source") != fingerprint(catalog):
            raise SourceChanged(
                "The source changed since this data version was made.",
                next_step="Ask the owner to run `discreet refresh`, which begins a new data version.",
            )
        if known is None or {key: known.get(key) for key in made_of} != made_of:
            _write(path, catalog, secret, {**made_of, "source": fingerprint(catalog)})
        config = {"memory_limit": catalog.memory, "access_mode": "READ_ONLY"}
        return Snapshot(_locked(duckdb.connect(str(path), config=config)), str(path))  # type: ignore[arg-type]
    except duckdb.Error:  # its text may quote a row
        raise BadCatalog(
            "The tables cannot be read as the catalog declares them.",
            next_step="Check that every declared column is in its source, and that the files are whole.",
        ) from None


def _meta(path: Path) -> dict[str, Any] | None:
    """What a snapshot says about itself; None if there is none that can be read."""
    if not path.is_file():
        return None
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            row = connection.execute('SELECT facts FROM "$snapshot"').fetchone()
    except duckdb.Error:
        return None
    return json.loads(row[0]) if row else None


def _write(path: Path, catalog: Catalog, secret: str, facts: Mapping[str, Any]) -> None:
    """Beside its place first, readable by its owner only, and then moved, so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    before = os.umask(0o077)
    try:
        with duckdb.connect(str(new), config={"memory_limit": catalog.memory}) as connection:
            _fill(connection, catalog, secret, {})
            connection.execute('CREATE TABLE "$snapshot" AS SELECT ? AS facts', [json.dumps(facts)])
        new.chmod(0o600)
        new.replace(path)
    finally:
        os.umask(before)
        for left in (new, Path(f"{new}.wal")):
            left.unlink(missing_ok=True)


def _locked(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    for setting in (
        "enable_external_access = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "allow_community_extensions = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def _digest(catalog: Catalog) -> str:
    """What of the catalog a snapshot depends on: a change there needs a new snapshot, not a new data version."""
    tables = [asdict(table) for table in catalog.tables.values()]
    return hashlib.sha256(json.dumps(tables, default=str, sort_keys=True).encode()).hexdigest()


def empty_tables(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """The snapshot's tables without a row, to bind questions against before anything is charged."""
    for table in catalog.tables.values():
        columns = [f"{quote(c.name)} {_SQL_TYPES[c.type]}" for c in table.columns.values()]
        if not table.is_public:
            columns += [
                f"{quote(steps_name(c.name))} {_steps_type(c)}" for c in table.columns.values() if c.is_bounded_number
            ]
            columns += [f"{quote(OWNER)} {_owner_type(catalog, table)}", f"{quote(RANK)} BIGINT"]
        connection.execute(f"CREATE TABLE {quote(table.name)} ({', '.join(columns)})")


def _fill(connection: duckdb.DuckDBPyConnection, catalog: Catalog, secret: str, frames: Mapping[str, Any]) -> None:
    attach(connection, catalog, frames)
    sources = {table.name: source_of(catalog, table, frames) for table in catalog.tables.values()}
    for table in catalog.tables.values():
        if table.is_public:
            sql = f"SELECT {_columns(table)} FROM {sources[table.name]}"
            connection.execute(f"CREATE TABLE {quote(table.name)} AS {sql}")
        else:
            connection.execute(_ranked(catalog, table, sources), {"salt": secret})


def _columns(table: Table) -> str:
    own = table.unit.column if table.unit is not None and not table.unit.path else None
    casts = [_person(c) if c.name == own else _cast(c) for c in table.columns.values()]
    return ", ".join(f"{cast} AS {quote(column)}" for cast, column in zip(casts, table.columns, strict=True))


def _person(column: Column) -> str:
    """Who a row belongs to. What would be cut or rounded is nobody: two people must never become one."""
    value = f"TRY_CAST(s.{quote(column.name)} AS {_SQL_TYPES[column.type]})"
    if column.type is Type.TEXT:
        return f"CASE WHEN length({value}) <= {column.max_length} THEN {value} END"
    return f"CASE WHEN TRY_CAST(s.{quote(column.name)} AS DOUBLE) = CAST({value} AS DOUBLE) THEN {value} END"


def _cast(column: Column) -> str:
    value = f"TRY_CAST(s.{quote(column.name)} AS {_SQL_TYPES[column.type]})"
    if column.type is Type.TEXT:
        return f"left({value}, {column.max_length})"
    if column.type is Type.REAL:
        return f"CASE WHEN isnan({value}) THEN NULL ELSE {value} END"
    return value


def _owner_type(catalog: Catalog, table: Table) -> str:
    assert table.unit is not None  # noqa: S101  asked of protected tables only
    last = catalog.tables[table.unit.path[-1].table] if table.unit.path else table
    return _SQL_TYPES[last.columns[table.unit.column].type]


def _steps_type(column: Column) -> str:
    low, high = column.steps
    return "INTEGER" if low >= -(2**31) and high < 2**31 else "BIGINT"


def _with_owner(catalog: Catalog, table: Table, sources: Mapping[str, str]) -> str:
    """The cast rows of a table, each with its owner; one copy for each person that a path of foreign keys reaches."""
    assert table.unit is not None  # noqa: S101
    rows = f"SELECT {_columns(table)} FROM {sources[table.name]}"
    if not table.unit.path:
        return f"SELECT *, {quote(table.unit.column)} AS {quote(OWNER)} FROM ({rows})"
    step = table.unit.path[0]
    further = _with_owner(catalog, catalog.tables[step.table], sources)
    people = (
        f"SELECT DISTINCT {quote(step.key)} AS k, {quote(OWNER)} AS o FROM ({further}) WHERE {quote(OWNER)} IS NOT NULL"
    )
    return f"SELECT r.*, p.o AS {quote(OWNER)} FROM ({rows}) AS r JOIN ({people}) AS p ON r.{quote(step.column)} = p.k"


def _ranked(catalog: Catalog, table: Table, sources: Mapping[str, str]) -> str:
    """Each person's rows by a salted hash of the whole row, ties by the row itself; the first max_rows of them."""
    names = [quote(name) for name in table.columns]
    row_text = ", '|', ".join(f"coalesce(CAST({name} AS VARCHAR), '\\N')" for name in names)
    steps = [f"{_steps(c)} AS {quote(steps_name(c.name))}" for c in table.columns.values() if c.is_bounded_number]
    rank = (
        f"row_number() OVER (PARTITION BY {quote(OWNER)} "
        f"ORDER BY md5_number_lower(concat($salt, '|', {row_text})), {', '.join(names)})"
    )
    kept = f" QUALIFY {quote(RANK)} <= {table.max_rows}" if table.is_bounded_once else ""
    return (
        f"CREATE TABLE {quote(table.name)} AS SELECT {', '.join([*names, *steps, quote(OWNER)])}, {rank} AS {quote(RANK)} "
        f"FROM ({_with_owner(catalog, table, sources)}) WHERE {quote(OWNER)} IS NOT NULL{kept}"
    )


def _steps(column: Column) -> str:
    """floor(x / step + 1/2), clamped before and after."""
    low, high = column.steps
    value = f"CAST({quote(column.name)} AS DOUBLE)"
    return f"CAST({rounded_text(value, column.grid_step, low, high)} AS {_steps_type(column)})"
