"""A DuckDB snapshot of the tables, with every declaration of the catalog enforced on the rows.

Types are cast (what does not fit becomes NULL), values made canonical, text truncated, numbers and dates clamped, and rows
without a person dropped. Each person's rows are ranked by a salted hash of the row's own content, and at most `rows_kept` are
kept. So what one person contributes depends on no other person.

Columns have names of our own: `o` the person, `r` the rank (in a public table, the row number), `c1 …` the columns, `s1 …` their
grid steps if they are bounded, `u1 …` the number of a row among the person's rows with the same value, if other tables refer to
the column.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import duckdb

from discreet.algebra.grids import Grid
from discreet.catalog import Catalog, Column, Network, Table, Type
from discreet.engines.duckdb.spill_folder import Spill
from discreet.engines.graphs.snapshot_networks import copied
from discreet.engines.sources.cell_reading import canonical_as_read, cast, exactly, person, within_bounds
from discreet.engines.sources.row_sources import attached, check_columns, source_of, types_of, wrap_source_errors
from discreet.engines.sources.scratch_database import scratch_connection
from discreet.engines.sources.source_fingerprint import SourceFingerprint, check_steady, standing_of
from discreet.engines.sqlgen.dialects.duckdb import TYPES, clamped, content, hashed, quoted, steps_of, string
from discreet.errors import BadCatalog, WrongFormat

DATA, WORK = "data", "work"
"""The databases of a connection: the snapshot, and public tables prepared for queries."""
UNSAFE_OPTIMIZERS = "statistics_propagation"
"""Statistics propagation rewrites conditions by the minimum and maximum of columns, and fails on some: `CASE WHEN age > 99 THEN
'a' END = 'b'` fails in DuckDB 2.0 exactly if no row has a larger age. Whether a query fails must not depend on the data."""
_FORMAT = 6
ReportProgress: TypeAlias = Callable[[str, int, int], None]
"""Called when a table is read: its name, its index, and the number of tables."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A database that only this process reads, with external access disabled. `salt` orders a person's rows."""

    connection: duckdb.DuckDBPyConnection
    path: str | None
    salt: str
    spill: Spill

    def close(self) -> None:
        """Close the database and delete what it spilled."""
        self.connection.close()
        self.spill.close()


def open_snapshot(
    catalog: Catalog,
    *,
    salt: str | None,
    version: int,
    source: SourceFingerprint | None = None,
    frames: Mapping[str, Any] | None = None,
    tell: ReportProgress = lambda *_: None,
) -> Snapshot:
    """Open the snapshot of a data version: the file beside the ledger, or a new copy; in memory for frames.

    `source` is the fingerprint of the version's source (default: as it is now). If it changes while it is copied, opening is refused.
    """
    standing = None if frames is not None else source or fingerprint_source(catalog)
    secret = salt or os.urandom(16).hex()
    path = (
        None if frames is not None or salt is None or catalog.snapshot in (None, ":memory:") else Path(catalog.snapshot)
    )
    connection = duckdb.connect(":memory:", config={"memory_limit": catalog.memory})
    spill = Spill(path)
    try:
        connection.execute(f"SET temp_directory = {string(str(spill.path))}")
        if path is None:
            connection.execute(f"ATTACH ':memory:' AS {DATA}")
            _fill(connection, catalog, secret, frames or {}, tell)
        else:
            assert standing is not None  # noqa: S101  frames have no file
            facts = {"format": _FORMAT, "version": version, "salt": secret, "catalog": _digest(catalog)}
            _bring_up_to_date(connection, path, catalog, {**facts, "source": asdict(standing)}, tell)
            connection.execute(f"ATTACH {string(str(path))} AS {DATA} (READ_ONLY)")
        if standing is not None:
            check_steady(catalog, standing)
        return Snapshot(_locked(connection), None if path is None else str(path), secret, spill)
    except duckdb.Error:  # its text may quote a row
        connection.close()
        spill.close()
        raise BadCatalog(
            "The tables cannot be read as the catalog declares them.",
            next_step="Check that every declared column is in its source, and that the files are whole.",
        ) from None
    except BaseException:
        connection.close()
        spill.close()
        raise


def fingerprint_source(catalog: Catalog) -> SourceFingerprint:
    """Return the fingerprint of the source. Files are read only if they are not those of the snapshot."""
    if catalog.snapshot in (None, ":memory:"):
        return standing_of(catalog, None)
    with scratch_connection() as connection:
        known = _meta(Path(catalog.snapshot), connection)
    return standing_of(catalog, SourceFingerprint(**known["source"]) if known else None)


def _bring_up_to_date(
    connection: duckdb.DuckDBPyConnection, path: Path, catalog: Catalog, facts: Mapping[str, Any], tell: ReportProgress
) -> None:
    """Write the file again unless it has this version, salt, source and catalog."""
    known = _meta(path, connection)
    if known is None and path.exists():
        raise BadCatalog(
            "The file at the snapshot's path is not a snapshot, so it is not overwritten.",
            next_step="Choose another [source] snapshot, or remove the file.",
        )
    if known != facts:
        _write(connection, path, catalog, facts, tell)


def _meta(path: Path, connection: duckdb.DuckDBPyConnection) -> dict[str, Any] | None:
    """Read the header of a snapshot; None if there is no readable one. Another format is refused."""
    if not path.is_file():
        return None
    try:
        connection.execute(f"ATTACH {string(str(path))} AS {DATA} (READ_ONLY)")
        row = connection.execute(f'SELECT facts FROM {DATA}."$snapshot"').fetchone()
    except duckdb.Error:
        return None
    finally:
        connection.execute(f"DETACH DATABASE IF EXISTS {DATA}")
    facts: dict[str, Any] | None = json.loads(row[0]) if row else None
    if facts is not None and facts["format"] != _FORMAT:
        raise WrongFormat(
            "The snapshot was written by another version of Discreet.",
            next_step="Remove its file: it is made again from the source. Or use that version.",
        )
    return facts


def _write(
    connection: duckdb.DuckDBPyConnection, path: Path, catalog: Catalog, facts: Mapping[str, Any], tell: ReportProgress
) -> None:
    """Write a temporary file, readable by its owner only, and move it into place, so that no partial snapshot is ever visible."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    before = os.umask(0o077)
    try:
        connection.execute(f"ATTACH {string(str(new))} AS {DATA}")
        _fill(connection, catalog, facts["salt"], {}, tell)
        check_steady(catalog, SourceFingerprint(**facts["source"]))
        connection.execute(f'CREATE TABLE {DATA}."$snapshot" AS SELECT ? AS facts', [json.dumps(facts)])
        connection.execute(f"DETACH {DATA}")
        new.chmod(0o600)
        new.replace(path)
    finally:
        os.umask(before)
        for left in (new, Path(f"{new}.wal")):
            left.unlink(missing_ok=True)


def _locked(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    connection.execute(f"ATTACH ':memory:' AS {WORK}")
    for setting in (
        "enable_external_access = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "allow_community_extensions = false",
        "python_enable_replacements = false",
        "arrow_large_buffer_size = true",
        f"disabled_optimizers = '{UNSAFE_OPTIMIZERS}'",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def _digest(catalog: Catalog) -> str:
    """The parts of the catalog that a snapshot depends on. A change needs a new snapshot, but not a new data version."""
    tables = [asdict(table) for table in catalog.tables.values()]
    tables += [
        {"graph": graph.name, "nodes": [graph.nodes, graph.key], "ends": graph.ends, "edges": asdict(graph.edges)}
        for graph in catalog.graphs.values()
    ]
    for table in tables:
        table.get("edges", table).pop("rows_about")
    return hashlib.sha256(json.dumps(tables, default=str, sort_keys=True).encode()).hexdigest()


def empty_tables(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Create the snapshot's tables without rows, to bind queries before anything is charged."""
    for database in (DATA, WORK):
        connection.execute(f"ATTACH ':memory:' AS {database}")
    for table in catalog.tables.values():
        columns = [f"c{at} {TYPES[column.type]}" for at, column in _numbered(table)]
        if not table.is_public:
            columns += [f"s{at} {_steps_type(column)}" for at, column in _numbered(table) if column.is_bounded_number]
            columns += [f"u{at} BIGINT" for at in _unique(catalog, table)]
            columns += [f"o {TYPES[_owner_type(catalog, table)]}"]
        connection.execute(f"CREATE TABLE {DATA}.{quoted(table.name)} ({', '.join([*columns, 'r BIGINT'])})")


def _fill(
    connection: duckdb.DuckDBPyConnection,
    catalog: Catalog,
    secret: str,
    frames: Mapping[str, Any],
    tell: ReportProgress,
) -> None:
    connection.execute("SET TimeZone = 'UTC'")  # so that the date of an instant is the same everywhere
    connection.execute(f"SET disabled_optimizers = '{UNSAFE_OPTIMIZERS}'")
    with attached(connection, catalog, frames):
        door = SourceReader(connection, catalog, frames)
        # Who is listed decides who is there.
        for at, table in enumerate(sorted(catalog.tables.values(), key=lambda table: not table.lists_people), start=1):
            tell(table.name, at, len(catalog.tables))
            with wrap_source_errors(f"The source of {table.name}"):
                _copy(connection, door, table, secret)
        for graph in catalog.graphs.values():
            with wrap_source_errors(f"The source of {graph.edges.name}"):
                for statement in door.network(graph):
                    connection.execute(statement, {"salt": secret} if "$salt" in statement else None)


def _copy(connection: duckdb.DuckDBPyConnection, door: SourceReader, table: Table, secret: str) -> None:
    rows = door.public_rows(table) if table.is_public else door.ranked_rows(table)
    made = f"CREATE TABLE {DATA}.{quoted(table.name)} AS {rows}"
    connection.execute(made, {"salt": secret} if "$salt" in rows else None)


class SourceReader:
    """Builds the statements that read the source."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, catalog: Catalog, frames: Mapping[str, Any]) -> None:
        self._catalog = catalog
        self._sources = {table.name: source_of(catalog, table, frames) for table in catalog.all_tables.values()}
        self._types = {}
        for name, source in self._sources.items():
            with wrap_source_errors(f"The source of {name}"):
                self._types[name] = types_of(connection, source)
            check_columns(catalog.all_tables[name], self._types[name])

    def public_rows(self, table: Table) -> str:
        rows = self._canonical(table, self._cast(table, {}), ())
        order = ", ".join(f"c{at} NULLS LAST" for at, _ in _numbered(table))
        return f"SELECT *, row_number() OVER (ORDER BY {order}) AS r FROM ({rows})"

    def ranked_rows(self, table: Table) -> str:
        """Rank each person's rows by a salted hash of the row, ties by the row itself; the first ones are kept."""
        names = [f"c{at}" for at, _ in _numbered(table)]
        steps = [
            f"CAST({_steps(at, column)} AS {_steps_type(column)}) AS s{at}"
            for at, column in _numbered(table)
            if column.is_bounded_number
        ]
        whole = f"SELECT {', '.join(['o', *names, *steps])} FROM ({self._canonical(table, self.owned(table), ('o',))}) WHERE o IS NOT NULL{self._listed(table)}"
        if table.has_row_people:
            return f"SELECT *, CAST(1 AS BIGINT) AS r FROM ({whole})"
        row = hashed(["$salt", *(_content(at, column) for at, column in _numbered(table))])
        order = ", ".join([row, *(f"{name} NULLS LAST" for name in names)])
        ranked = f"SELECT *, row_number() OVER (PARTITION BY o ORDER BY {order}) AS r FROM ({whole}) QUALIFY r <= {table.rows_kept}"
        numbers = [
            f", CASE WHEN c{at} IS NOT NULL THEN row_number() OVER (PARTITION BY o, c{at} ORDER BY r) END AS u{at}"
            for at in _unique(self._catalog, table)
        ]
        return f"SELECT *{''.join(numbers)} FROM ({ranked})" if numbers else ranked

    def network(self, graph: Network) -> list[str]:
        """Build the statements that copy a network, after the table of its nodes."""
        name = graph.edges.name
        return copied(self._catalog, graph, data=DATA, source=self._sources[name], types=self._types[name])

    def _listed(self, table: Table) -> str:
        """Keep only people in the table that lists all people, if there is one."""
        everybody = next((other for other in self._catalog.tables.values() if other.lists_people), None)
        if everybody is None or everybody is table:
            return ""
        return f" AND o IN (SELECT o FROM {DATA}.{quoted(everybody.name)})"

    def _cast(self, table: Table, further: Mapping[str, str]) -> str:
        parts = [f"{cast(column, self._types[table.name])} AS c{at}" for at, column in _numbered(table)]
        parts += [f"{value} AS {name}" for name, value in further.items()]
        return f"SELECT {', '.join(parts)} FROM {self._sources[table.name]}"

    def _canonical(self, table: Table, rows: str, further: tuple[str, ...]) -> str:
        """Make cast rows canonical, then clamp them. The columns that name the person were read exactly already."""
        own = None if table.unit is None or table.unit.path else table.own_column
        read = [
            f"{'o' if column.name == own else canonical_as_read(f'c{at}', column)} AS c{at}"
            for at, column in _numbered(table)
        ]
        inside = [f"{within_bounds(f'c{at}', column)} AS c{at}" for at, column in _numbered(table)]
        return f"SELECT {', '.join([*inside, *further])} FROM (SELECT {', '.join([*read, *further])} FROM ({rows}))"

    def owned(self, table: Table) -> str:
        """The cast rows of a table with their person; one copy for each person that a path of foreign keys reaches."""
        assert table.unit is not None  # noqa: S101  asked of protected tables only
        if (
            table.unit.is_row
        ):  # a number that is compared and shown to nobody: it may change with other rows, answers do not
            return self._cast(table, {"o": "row_number() OVER ()"})
        if not table.unit.path:
            return self._cast(table, {"o": person(table.columns[table.unit.column], self._types[table.name])})
        rows = self._cast(table, {"k": self._reference(table)})
        return f"SELECT t1.*, t2.o FROM ({rows}) AS t1 JOIN ({self._people(table)}) AS t2 ON t1.k = t2.k"

    def _reference(self, table: Table) -> str:
        """The column on the path to the person, in the type of the column it refers to."""
        assert table.unit is not None  # noqa: S101
        step = table.unit.path[0]
        key = self._catalog.tables[step.table].columns[step.key]
        return exactly(table.columns[step.column], self._types[table.name], as_column=key)

    def _people(self, table: Table) -> str:
        """Which person each referenced value belongs to: distinct pairs `k`, `o`."""
        assert table.unit is not None  # noqa: S101
        step = table.unit.path[0]
        following = self._catalog.tables[step.table]
        assert following.unit is not None  # noqa: S101  the catalog's reader follows paths to the end
        types, source = self._types[following.name], self._sources[following.name]
        key = exactly(following.columns[step.key], types, as_column=following.columns[step.key])
        if not following.unit.path:
            pairs = f"SELECT {key} AS k, {person(following.columns[following.unit.column], types)} AS o FROM {source}"
        else:
            rows = f"SELECT {key} AS k, {self._reference(following)} AS j FROM {source}"
            pairs = f"SELECT t1.k, t2.o FROM ({rows}) AS t1 JOIN ({self._people(following)}) AS t2 ON t1.j = t2.k"
        return f"SELECT DISTINCT k, o FROM ({pairs}) WHERE k IS NOT NULL AND o IS NOT NULL"


def _numbered(table: Table) -> list[tuple[int, Column]]:
    return list(enumerate(table.columns.values(), start=1))


def _owner_type(catalog: Catalog, table: Table) -> Type:
    assert table.unit is not None  # noqa: S101  asked of protected tables only
    if table.unit.is_row:
        return Type.INTEGER
    last = catalog.tables[table.unit.path[-1].table] if table.unit.path else table
    return last.columns[table.unit.column].type


def _unique(catalog: Catalog, table: Table) -> list[int]:
    """Return the indexes of the columns that paths of other tables refer to."""
    units = [other.unit for other in catalog.tables.values() if other.unit is not None]
    keys = {step.key for unit in units for step in unit.path if step.table == table.name}
    return [at for at, column in _numbered(table) if column.name in keys]


def _steps(at: int, column: Column) -> str:
    low, high = column.steps
    return clamped(steps_of(f"c{at}", column.type, Grid(column.grid_step, low, high)), low, high)


def _steps_type(column: Column) -> str:
    low, high = column.steps
    return "INTEGER" if low >= -(2**31) and high < 2**31 else "BIGINT"


def _content(at: int, column: Column) -> str:
    """The part of a value that enters the hash of its row: its grid step, if it has one."""
    return f"coalesce(CAST(s{at} AS VARCHAR), '\\N')" if column.is_bounded_number else content(f"c{at}", column.type)
