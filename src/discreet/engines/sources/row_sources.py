"""The sources of rows: a DuckDB file, Parquet and CSV files, or data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.catalog import EACH_ROW, Catalog, Column, Table, Type
from discreet.engines.sources.cell_reading import INTEGERS
from discreet.engines.sources.csv_files import read_csv
from discreet.engines.sources.data_frames import as_arrow
from discreet.engines.sources.scratch_database import scratch_connection
from discreet.engines.sqlgen.dialects.duckdb import quoted, string
from discreet.errors import BadCatalog, BadInput

DATABASES = (".duckdb", ".db")
READABLE = (".parquet", ".csv", ".tsv")


@contextmanager
def attached(connection: duckdb.DuckDBPyConnection, catalog: Catalog, frames: Mapping[str, Any]) -> Iterator[None]:
    """Make the source visible to a connection within a `with` block."""
    for name, frame in frames.items():
        if name not in catalog.all_tables:
            raise BadInput(
                "A frame has a name that the catalog does not declare.",
                next_step="Name frames as the catalog names tables.",
            )
        try:
            connection.register(f"frame {name}", as_arrow(frame, catalog.all_tables[name]))
        except (duckdb.Error, pa.ArrowException, ValueError, TypeError):  # their texts quote cells
            raise BadInput("A frame is of no known kind.", next_step="Give a pandas, polars or Arrow table.") from None
    has_database = not frames and _is_database(catalog)
    if has_database:
        connection.execute(f"ATTACH {string(catalog.source)} AS source (READ_ONLY)")
    try:
        yield
    finally:
        for name in frames:
            connection.unregister(f"frame {name}")
        if has_database:
            connection.execute("DETACH source")


def types_of(connection: duckdb.DuckDBPyConnection, source: str) -> dict[str, str]:
    """Return the engine's types of a source's columns, by lower-case name."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {name.lower(): kind for name, kind, *_ in rows}


def check_columns(table: Table, types: Mapping[str, str]) -> None:
    """Refuse a source that lacks a declared column. `types` are those of the source."""
    missing = [name for name in table.columns if name.lower() not in types]
    if missing:
        near = get_close_matches(missing[0].lower(), types, n=1)
        raise BadCatalog(
            f"The source of {table.name} has no column {', '.join(missing)}.",
            next_step=f"Did you mean {near[0]}?"
            if near
            else "Take it out of the catalog, or give the table its right path.",
        )
    if table.has_row_people and EACH_ROW.column in types:
        raise BadCatalog(
            f"{table.name}: each row is a person, but the source has a column called row.",
            next_step="Declare columns.row if it names the person; else rename it in the source.",
        )


def source_of(catalog: Catalog, table: Table, frames: Mapping[str, Any]) -> str:
    """Build the FROM item for a table's rows."""
    if table.name in frames:
        return f"{quoted(f'frame {table.name}')} AS s"
    if frames:
        raise BadInput("A table of the catalog has no frame.", next_step="Give a frame for every declared table.")
    if table.path is None and _is_database(catalog):
        return f"source.{quoted(table.name)} AS s"
    return read_file(_file(catalog, table))


def read_file(file: Path) -> str:
    """Build the FROM item for the rows of one file."""
    return f"{f'read_parquet({string(str(file))})' if file.suffix.lower() == '.parquet' else read_csv(file)} AS s"


def left_out_lines(connection: duckdb.DuckDBPyConnection, catalog: Catalog, table: Table) -> list[int]:
    """Return the line numbers of a CSV file that do not fit its header. For the data owner only."""
    if (table.path is None and _is_database(catalog)) or (file := _file(catalog, table)).suffix.lower() == ".parquet":
        return []
    rejects = ", store_rejects = true, rejects_table = 'lines', rejects_scan = 'scans'"
    connection.execute("DROP TABLE IF EXISTS lines")
    connection.execute("DROP TABLE IF EXISTS scans")
    connection.execute(f"SELECT count(*) FROM (SELECT * FROM {read_csv(file, options=rejects)} OFFSET 0)").fetchall()
    return [line for (line,) in connection.execute("SELECT DISTINCT line FROM lines ORDER BY 1").fetchall()]


def with_public_columns(catalog: Catalog, frames: Mapping[str, Any] | None = None) -> Catalog:
    """Fill in the columns of public tables that declare none: they are public, so they are looked up."""
    unknown = [table for table in catalog.tables.values() if table.is_public and not table.columns]
    if not unknown:
        return catalog
    tables = dict(catalog.tables)
    with scratch_connection() as connection, wrap_source_errors(), attached(connection, catalog, frames or {}):
        for table in unknown:
            with wrap_source_errors(f"The source of {table.name}"):
                types = _schema(connection, source_of(catalog, table, frames or {}))
            columns = {name: Column(name=name, type=kind) for name, kind in types.items() if "$" not in name}
            tables[table.name] = replace(table, columns=columns)
    return replace(catalog, tables=tables)


@contextmanager
def wrap_source_errors(what: str = "The source") -> Iterator[None]:
    """Replace errors of the engine, which quote cells, by one that does not."""
    try:
        yield
    except duckdb.Error:
        raise BadCatalog(
            f"{what} cannot be read.",
            next_step="Check that it is complete, and that its file extension matches its format.",
        ) from None


def _schema(connection: duckdb.DuckDBPyConnection, source: str) -> dict[str, Type]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {name: nearest_type(kind) for name, kind, *_ in rows}


def nearest_type(kind: str) -> Type:
    """Return the catalog's type for a type of the engine."""
    known = {"BOOLEAN": Type.BOOLEAN, "DOUBLE": Type.REAL, "FLOAT": Type.REAL, "DATE": Type.DATE}
    if kind in known:
        return known[kind]
    if kind.startswith("DECIMAL"):
        return Type.REAL
    return Type.TIMESTAMP if kind.startswith("TIMESTAMP") else Type.INTEGER if kind in INTEGERS else Type.TEXT


def files_of(catalog: Catalog) -> Iterator[tuple[str, Path]]:
    """Return everything that rows are read from: pairs of table name and file. The name is empty for a database."""
    if _is_database(catalog):
        yield "", Path(catalog.source)
    for table in catalog.all_tables.values():
        if table.path is not None or not _is_database(catalog):
            yield table.name, _file(catalog, table)


def _is_database(catalog: Catalog) -> bool:
    source = Path(catalog.source)
    return source.suffix in DATABASES and source.is_file()


def _file(catalog: Catalog, table: Table) -> Path:
    base = Path(table.path) if table.path else Path(catalog.source)
    for candidate in (base, *(base / f"{table.name}{suffix}" for suffix in READABLE)):
        if candidate.is_file() and candidate.suffix.lower() in READABLE:
            return candidate
    raise BadCatalog(
        f"There is no DuckDB, Parquet or CSV file for the table {table.name}.",
        next_step="Put NAME.parquet or NAME.csv into the source folder, or give the table a path.",
    )
