"""Profile files for a first catalog: tables, column names and types, and how cells read in a sample that the owner allows.

For the data owner only. What the sample shows is suggested to the owner, and never becomes a bound or a declared value.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from discreet.catalog import Type
from discreet.catalog.person_columns import SeenColumn, SeenTable
from discreet.engines.sources.row_sources import DATABASES, READABLE, nearest_type, read_file, wrap_source_errors
from discreet.engines.sqlgen.dialects.duckdb import quoted, string
from discreet.errors import BadCatalog

_MOSTLY = 0.9
"""The share of a column's cells that must read as a type before it is suggested."""
_READS_AS: dict[Type, re.Pattern[str]] = {
    Type.BOOLEAN: re.compile(r"true|false|yes|no", re.IGNORECASE),
    Type.INTEGER: re.compile(r" *([+-]?[1-9]\d{0,17}|[+-]?0) *"),
    Type.DATE: re.compile(r" *\d{4}-\d{1,2}-\d{1,2}([ T]0{1,2}:00(:00([.]0+)?)?)? *"),
    Type.TIMESTAMP: re.compile(
        r" *\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}([.]\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)? *"
    ),
    Type.REAL: re.compile(r" *[+-]?(0|[1-9]\d*|(?=\.))(\.\d*)?([eE][+-]?\d+)? *"),
}
_ZONE = re.compile(r":\d{2}([.]\d+)?(Z|[+-]\d{2}(:?\d{2})?) *$")
_IN_UTC = "times with a zone are stored in UTC"


@dataclass(frozen=True, slots=True)
class SourceProfile:
    """Where the tables are, in the form of `[source] path`, and the profile of each."""

    source: str
    tables: tuple[SeenTable, ...]


def profile_files(paths: Sequence[Path], *, rows: int, beside: Path) -> SourceProfile:
    """Profile the tables of files, of a folder or of a DuckDB file, by their first `rows` rows. Paths are relative to `beside`."""
    with duckdb.connect() as connection:
        if len(paths) == 1 and paths[0].suffix in DATABASES and paths[0].is_file():
            with wrap_source_errors(paths[0].name):
                return _database(connection, paths[0], rows=rows, beside=beside)
        files = [file for path in paths for file in _files(path)]
        folder = files[0].parent
        tables: dict[str, SeenTable] = {}
        for file in files:
            name = _table_name(file, tables)
            is_plain = file.parent == folder and name == file.stem and name not in tables
            with wrap_source_errors(file.name):
                columns = _columns(connection, read_file(file), rows=rows, is_text=file.suffix.lower() != ".parquet")
            tables[name] = SeenTable(name=name, columns=columns, path="" if is_plain else _relative(file, beside))
        return SourceProfile(_relative(folder, beside), tuple(tables.values()))


def _database(connection: duckdb.DuckDBPyConnection, path: Path, *, rows: int, beside: Path) -> SourceProfile:
    connection.execute(f"ATTACH {string(str(path))} AS source (READ_ONLY)")
    names = connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' ORDER BY 1")
    tables = [
        SeenTable(name=name, columns=_columns(connection, f"source.{quoted(name)} AS s", rows=rows, is_text=False))
        for (name,) in names.fetchall()
    ]
    return SourceProfile(_relative(path, beside), tuple(tables))


def _files(path: Path) -> list[Path]:
    inside = sorted(path.iterdir()) if path.is_dir() else [path]
    known = [file for file in inside if file.is_file() and file.suffix.lower() in READABLE]
    if not known:
        raise BadCatalog(
            f"There is no DuckDB, Parquet or CSV file at {path.name or path}.",
            next_step="Give files, or a folder that holds some.",
        )
    return known


def _table_name(file: Path, taken: dict[str, SeenTable]) -> str:
    """A table name that SQL accepts without quotes: the file name, with its kind appended if another file has that name."""
    plain = re.sub(r"\W+", "_", file.stem).strip("_") or "rows"
    name = plain if not plain[0].isdigit() else f"t_{plain}"
    return name if name.lower() not in map(str.lower, taken) else f"{name}_{len(taken) + 1}"


def _relative(path: Path, beside: Path) -> str:
    return Path(os.path.relpath(path.resolve(), beside.resolve())).as_posix()


def _columns(connection: duckdb.DuckDBPyConnection, source: str, *, rows: int, is_text: bool) -> dict[str, SeenColumn]:
    """The columns with their types: those of the source, or for text the type that its cells read as."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    sample = connection.execute(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {source} LIMIT {rows}").fetchall()
    columns = {}
    for at, (name, kind, *_) in enumerate(described):
        cells = [row[at] for row in sample if row[at] is not None]
        note = _IN_UTC if kind == "TIMESTAMP WITH TIME ZONE" else ""
        own = SeenColumn(name=name, type=nearest_type(kind), note=note, cells=len(cells), values=frozenset(cells))
        columns[name] = _read_from_text(own, cells) if is_text else own
    return columns


def _read_from_text(column: SeenColumn, cells: Sequence[str]) -> SeenColumn:
    """Suggest the type that nearly all cells of a text column read as; codes such as 007 stay text."""
    fits = {kind: sum(bool(pattern.fullmatch(cell)) for cell in cells) for kind, pattern in _READS_AS.items()}
    kind = max(fits, key=lambda kind: fits[kind])
    if not cells or fits[kind] < _MOSTLY * len(cells):
        is_mixed = 2 * fits[kind] > len(cells) and kind is not Type.BOOLEAN
        return (
            replace(column, note=f"most cells read as {kind.value}: so typed, others are NULL") if is_mixed else column
        )
    note = _IN_UTC if kind is Type.TIMESTAMP and any(map(_ZONE.search, cells)) else ""
    return replace(column, type=kind, note=note, misfits=len(cells) - fits[kind])
