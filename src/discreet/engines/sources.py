"""Where rows come from: a DuckDB file, Parquet and CSV files, or data frames."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb

from discreet.catalog import Catalog, Table
from discreet.errors import BadCatalog, BadInput
from discreet.sql.scope import quote

_DATABASES = (".duckdb", ".db")
_READERS = {".parquet": "read_parquet({})", ".csv": "read_csv({}, all_varchar = true, header = true)"}


def attach(connection: duckdb.DuckDBPyConnection, catalog: Catalog, frames: Mapping[str, Any]) -> None:
    """Make the source visible to the connection that fills a snapshot."""
    for name, frame in frames.items():
        if name not in catalog.tables:
            raise BadInput(
                "A frame has a name that the catalog does not declare.",
                next_step="Name frames as the catalog names tables.",
            )
        try:
            connection.register(f"frame {name}", frame)
        except duckdb.Error:
            raise BadInput("A frame is of no known kind.", next_step="Give a pandas, polars or Arrow table.") from None
    if not frames and _is_database(catalog):
        connection.execute(f"ATTACH {_text(catalog.source)} AS source (READ_ONLY)")


def source_of(catalog: Catalog, table: Table, frames: Mapping[str, Any]) -> str:
    """What stands behind FROM for a table's rows."""
    if table.name in frames:
        return f"{quote(f'frame {table.name}')} AS s"
    if frames:
        raise BadInput("A table of the catalog has no frame.", next_step="Give a frame for every declared table.")
    if table.path is None and _is_database(catalog):
        return f"source.{quote(table.name)} AS s"
    file = _file(catalog, table)
    return f"{_READERS[file.suffix].format(_text(str(file)))} AS s"


def fingerprint(catalog: Catalog) -> str:
    """Sizes and times of the source's files: kept with the snapshot, to notice that the source changed."""
    facts = [f"{file.name}:{file.stat().st_size}:{file.stat().st_mtime_ns}" for file in _files(catalog)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


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
