"""Where rows come from: a DuckDB file, Parquet and CSV files, or data frames."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.catalog import Catalog, Column, Table, Type
from discreet.engines.dialects.duckdb import quoted
from discreet.engines.frames import as_arrow
from discreet.errors import BadCatalog, BadInput

_DATABASES = (".duckdb", ".db")
_READERS = (".parquet", ".csv")
_DELIMITERS = (",", ";", "\t", "|")
_LONGEST_HEADER = 1_000_000


def attach(connection: duckdb.DuckDBPyConnection, catalog: Catalog, frames: Mapping[str, Any]) -> None:
    """Make the source visible to the connection that fills a snapshot."""
    for name, frame in frames.items():
        if name not in catalog.tables:
            raise BadInput(
                "A frame has a name that the catalog does not declare.",
                next_step="Name frames as the catalog names tables.",
            )
        try:
            connection.register(f"frame {name}", as_arrow(frame, catalog.tables[name]))
        except (duckdb.Error, pa.ArrowException, ValueError, TypeError):  # their texts quote cells
            raise BadInput("A frame is of no known kind.", next_step="Give a pandas, polars or Arrow table.") from None
    if not frames and _is_database(catalog):
        connection.execute(f"ATTACH {_text(catalog.source)} AS source (READ_ONLY)")


def detach(connection: duckdb.DuckDBPyConnection, catalog: Catalog, frames: Mapping[str, Any]) -> None:
    """Let go of the source: from here on there is nothing but the snapshot."""
    for name in frames:
        connection.unregister(f"frame {name}")
    if not frames and _is_database(catalog):
        connection.execute("DETACH source")


def types_of(connection: duckdb.DuckDBPyConnection, source: str) -> dict[str, str]:
    """The engine's types of a source's columns, by their names in small letters."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {name.lower(): kind for name, kind, *_ in rows}


def source_of(catalog: Catalog, table: Table, frames: Mapping[str, Any]) -> str:
    """What stands behind FROM for a table's rows."""
    if table.name in frames:
        return f"{quoted(f'frame {table.name}')} AS s"
    if frames:
        raise BadInput("A table of the catalog has no frame.", next_step="Give a frame for every declared table.")
    if table.path is None and _is_database(catalog):
        return f"source.{quoted(table.name)} AS s"
    return _read(_file(catalog, table))


def _read(file: Path) -> str:
    return f"{_csv(file) if file.suffix == '.csv' else f'read_parquet({_text(str(file))})'} AS s"


def _csv(file: Path) -> str:
    """A CSV file, read by its header line and by nothing else: guessed from the rows, one row could change what all others mean.

    The delimiter is the one that the header has most of; quotes are doubled within quotes; a row that does not fit is left out, and so are
    cells beyond the header's. Lines may end in any way: to be strict about it, DuckDB would fail as a whole.
    """
    with file.open("rb") as lines:
        first = lines.readline(_LONGEST_HEADER)
    try:
        header = first.partition(b"\r")[0].decode("utf-8-sig").rstrip("\n")
    except UnicodeDecodeError:
        raise BadCatalog("A CSV file's header is not UTF-8.", next_step="Save the file as UTF-8.") from None
    delimiter = max(_DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))
    names = next(csv.reader([header], delimiter=delimiter), [])
    columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({_text(str(file))}, auto_detect = false, header = true, delim = {_text(delimiter)}, quote = '\"', escape = '\"', "
        f"nullstr = '', ignore_errors = true, strict_mode = false, parallel = false, columns = {{{columns}}})"
    )


def fingerprint(catalog: Catalog) -> str:
    """Sizes and times of the source's files: kept in the ledger and with the snapshot, to notice that the source changed."""
    facts = [f"{file.name}:{file.stat().st_size}:{file.stat().st_mtime_ns}" for file in _files(catalog)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def with_public_columns(catalog: Catalog, frames: Mapping[str, Any] | None = None) -> Catalog:
    """The same catalog, with the columns of public tables that declare none: they are public, so they are looked up."""
    unknown = [table for table in catalog.tables.values() if table.is_public and not table.columns]
    if not unknown:
        return catalog
    tables = dict(catalog.tables)
    with duckdb.connect() as connection, _told_by_us():
        attach(connection, catalog, frames or {})
        for table in unknown:
            types = _schema(connection, source_of(catalog, table, frames or {}))
            columns = {name: Column(name=name, type=kind) for name, kind in types.items() if "$" not in name}
            tables[table.name] = replace(table, columns=columns)
    return replace(catalog, tables=tables)


def schemas_at(place: Path) -> tuple[str, dict[str, dict[str, Type]]]:
    """Where the tables of a file or folder are, and their columns' names and types; never a value."""
    with duckdb.connect() as connection, _told_by_us():
        if place.suffix in _DATABASES and place.is_file():
            connection.execute(f"ATTACH {_text(str(place))} AS source (READ_ONLY)")
            names = connection.execute(
                "SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' ORDER BY 1"
            )
            found = {name: f"source.{quoted(name)} AS s" for (name,) in names.fetchall()}
            return str(place), {name: _schema(connection, source) for name, source in found.items()}
        files = sorted(place.iterdir()) if place.is_dir() else [place]
        known = [file for file in files if file.is_file() and file.suffix in _READERS]
        if not known:
            raise BadCatalog(
                "There is no DuckDB, Parquet or CSV file there.", next_step="Give a file, or a folder that holds some."
            )
        schemas = {file.stem: _schema(connection, _read(file)) for file in known}
        return str(place if place.is_dir() else place.parent), schemas


@contextmanager
def _told_by_us() -> Iterator[None]:
    """An error of the engine quotes what it read; ours does not."""
    try:
        yield
    except duckdb.Error:
        raise BadCatalog("The source cannot be read.", next_step="Check that its files are whole.") from None


def _schema(connection: duckdb.DuckDBPyConnection, source: str) -> dict[str, Type]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {name: _type(kind) for name, kind, *_ in rows}


def _type(kind: str) -> Type:
    known = {"BOOLEAN": Type.BOOLEAN, "DOUBLE": Type.REAL, "FLOAT": Type.REAL, "DATE": Type.DATE}
    if kind in known:
        return known[kind]
    if kind.startswith("DECIMAL"):
        return Type.REAL
    return Type.DATE if kind.startswith("TIMESTAMP") else Type.INTEGER if "INT" in kind else Type.TEXT


def _files(catalog: Catalog) -> Iterator[Path]:
    if _is_database(catalog):
        yield Path(catalog.source)
    for table in catalog.tables.values():
        if table.path is not None or not _is_database(catalog):
            yield _file(catalog, table)


def _is_database(catalog: Catalog) -> bool:
    source = Path(catalog.source)
    return source.suffix in _DATABASES and source.is_file()


def _file(catalog: Catalog, table: Table) -> Path:
    base = Path(table.path) if table.path else Path(catalog.source)
    for candidate in (base, *(base / f"{table.name}{suffix}" for suffix in _READERS)):
        if candidate.is_file() and candidate.suffix in _READERS:
            return candidate
    raise BadCatalog(
        f"There is no DuckDB, Parquet or CSV file for the table {table.name}.",
        next_step="Put NAME.parquet or NAME.csv into the source folder, or give the table a path.",
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
