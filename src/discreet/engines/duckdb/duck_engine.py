"""The DuckDB engine: queries to exact integers, on a snapshot."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.algebra.expressions import Expression
from discreet.algebra.identity_cache import IdentityCache
from discreet.algebra.query import MeasureKind, Query
from discreet.algebra.relations import Relation
from discreet.algebra.value_properties import Value
from discreet.catalog import Catalog, Network, Table, Type
from discreet.engines.duckdb.binding import Binder
from discreet.engines.duckdb.public_tables import PublicTables
from discreet.engines.duckdb.snapshot import DATA, ReportProgress, Snapshot, open_snapshot
from discreet.engines.duckdb.watchdog import Watchdog
from discreet.engines.engine import Points
from discreet.engines.exact_rows import ExactRows, Histogram, from_rows, whole
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.engines.graphs.snapshot_networks import number_of_nodes, read_network
from discreet.engines.sources.source_fingerprint import SourceFingerprint
from discreet.engines.sqlgen.dialects.duckdb import quoted
from discreet.engines.sqlgen.kernel import Grouping, Statement, coded_rows, groupings
from discreet.engines.tables.coded_tables import CodedRows
from discreet.engines.tables.exact_tables import ExactTables, PartedTables
from discreet.errors import BadInput, Cancelled, EngineFailure, TooLarge

_REMEMBERED = 512
_FEW = 2_000
"""A result with fewer groups is read row by row."""


class DuckEngine:
    """Answers queries with exact integers. It never sees the text of a query, only its checked tree.

    `source` is the fingerprint of the source of the data version. If the source has changed, opening is refused.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        salt: str | None = None,
        version: int = 1,
        source: SourceFingerprint | None = None,
        frames: Mapping[str, Any] | None = None,
        tell: ReportProgress = lambda *_: None,
    ) -> None:
        self._watch = Watchdog(seconds=catalog.seconds)
        self._binder = Binder(catalog, self._watch)
        try:
            self._snapshot: Snapshot = open_snapshot(
                catalog, salt=salt, version=version, source=source, frames=frames, tell=tell
            )
        except BaseException:
            self._binder.close()
            raise
        self._data = self._snapshot.connection
        self._catalog = catalog
        self._people = _number_of_people(self._data, catalog)
        self._public = PublicTables(self._data, self._watch)
        self._cursors: list[duckdb.DuckDBPyConnection] = []
        salt = self._snapshot.salt
        self._groupings: IdentityCache[Query, list[Grouping]] = IdentityCache(lambda asked: groupings(asked, salt=salt))
        self._parsed = lru_cache(maxsize=_REMEMBERED)(self._data.extract_statements)
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            for cursor in self._cursors:
                cursor.close()
            self._cursors.clear()
        self._watch.close()
        self._snapshot.close()
        self._binder.close()

    def bind(self, query: Query) -> None:
        """Refuse, before any charge, what the engine would refuse: bind it against empty tables."""
        for statement in _statements(self._groupings(query)):
            with self._public.holding(statement.tables):
                self._binder.bind(statement)

    def run(self, query: Query, *, cancelled: threading.Event | None = None) -> list[ExactRows]:
        """Return the exact integers of each grouping set. Called after the charge; a failure gives one fixed message.

        `cancel` sets `cancelled` from another thread.
        """
        asked = cancelled or threading.Event()
        if query.is_public_size:  # free, so that nothing may be read for it: how long it takes would be free, too
            everybody = ExactRows((), tuple(self._people.copy() for _ in query.measures), None, {})
            return [everybody] * len(query.sets)
        try:
            with self._watch.one_limit(asked), self._cursor() as cursor:
                return [self._grouping(cursor, query, grouping, asked) for grouping in self._groupings(query)]
        except (duckdb.Error, MemoryError, TooLarge, Cancelled):
            if asked.is_set():
                raise _cancellation_error() from None
            raise EngineFailure(
                "The engine could not answer. The query was charged.", next_step="Report this to the owner of the data."
            ) from None

    def bind_rows(self, query: Query) -> None:
        """Refuse, before any charge, rows that the engine could not code."""
        statement = coded_rows(query, salt=self._snapshot.salt)
        with self._public.holding(statement.tables):
            self._binder.bind(statement)

    @contextmanager
    def tables(self, rows: Query, *, cancelled: threading.Event, sharing: int = 1) -> Iterator[ExactTables]:
        """Hold exact tables over the keys of `rows`, by their index. Called after the charge.

        Rows are coded once and stay in the engine. A failure may depend on a person's row, so the caller reports one fixed message.
        """
        with self._coding(rows, cancelled, sharing) as (coded, statement, sizes):
            yield coded.of(statement, sizes)

    @contextmanager
    def parted_tables(self, rows: Query, *, cancelled: threading.Event, sharing: int = 1) -> Iterator[PartedTables]:
        """Hold the same of all rows, of a training part, and of a held-out part. For the data owner: nothing of it may be returned."""
        with self._coding(rows, cancelled, sharing) as (coded, statement, sizes):
            yield coded.parted(statement, sizes)

    @contextmanager
    def _coding(
        self, rows: Query, cancelled: threading.Event, sharing: int
    ) -> Iterator[tuple[CodedRows, Statement, tuple[int, ...]]]:
        """Return a cursor for coded rows, the statement that selects them, and the number of codes of each column."""
        statement = coded_rows(rows, salt=self._snapshot.salt)
        cursor = self._data.cursor()

        @contextmanager
        def reading() -> Iterator[None]:
            with self._watch.one_limit(cancelled, sharing=sharing), self._reading(cursor, statement, cancelled):
                yield

        try:
            yield CodedRows(cursor, reading), statement, tuple(len(key.values or ()) for key in rows.keys)
        finally:
            cursor.close()

    def network(
        self, graph: Network, *, attribute: str | None, cancelled: threading.Event, sharing: int = 1
    ) -> ExactGraph:
        """Return a network as integers. Called after the charge."""
        cursor = self._data.cursor()
        try:
            with self._watch.one_limit(cancelled, sharing=sharing), self._watch.reading(cursor, cancelled):
                if cancelled.is_set():
                    raise _cancellation_error()
                return read_network(cursor, self._catalog, graph, data=DATA, attribute=attribute)
        finally:
            cursor.close()

    def nodes_of(self, graph: Network) -> int:
        if not self._catalog.tables[graph.nodes].is_public:
            raise BadInput("How many people there are is private.", next_step="Ask the network how many edges it has.")
        return number_of_nodes(self._data.cursor(), graph, data=DATA)

    def cancel(self, query: threading.Event) -> None:
        """Stop reading for a query, now or when its turn comes. Other queries are not disturbed."""
        self._watch.cancel(query)

    def one_limit(self, query: threading.Event | None = None, *, sharing: int = 1) -> AbstractContextManager[float]:
        return self._watch.one_limit(query, sharing=sharing)

    def holding(self, queries: Sequence[Query]) -> AbstractContextManager[None]:
        """Hold the public relations that these queries read; prepare those that are missing."""
        written = [self._groupings(query) for query in queries if not query.is_public_size]
        return self._public.holding([table for each in written for one in _statements(each) for table in one.tables])

    # Public tables

    def truths(self, condition: Expression, points: Mapping[int, Points]) -> NDArray[np.bool_]:
        return self._public.truths(condition, points)

    def rows(self, table: Table) -> int:
        return self._public.rows(table)

    def listed(self, table: Table, columns: tuple[str, ...]) -> list[tuple[Value | None, ...]]:
        return self._public.listed(table, columns)

    def largest_multiplicity(self, relation: Relation, keys: tuple[int, ...]) -> int:
        return self._public.largest_multiplicity(relation, keys)

    def distinct_values(self, relation: Relation, expression: Expression, *, outer: bool) -> tuple[Value | None, ...]:
        return self._public.distinct_values(relation, expression, outer=outer)

    def ends(self, relation: Relation, expression: Expression) -> tuple[Fraction, Fraction] | None:
        return self._public.ends(relation, expression)

    # How

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Hold a cursor. A cursor on which something failed is not used again."""
        with self._lock:
            cursor = self._cursors.pop() if self._cursors else self._data.cursor()
        try:
            yield cursor
        except BaseException:
            cursor.close()
            raise
        with self._lock:
            self._cursors.append(cursor)

    def _grouping(
        self, cursor: duckdb.DuckDBPyConnection, query: Query, grouping: Grouping, asked: threading.Event
    ) -> ExactRows:
        kinds = [query.keys[index].expression.properties.type for index in grouping.keys]
        count = query.groups_in(grouping.keys)
        with self._reading(cursor, grouping.integers, asked):
            integers = self._integers(
                cursor, grouping.integers, kinds, is_small=count is not None and count < _FEW // 2
            )
        histograms = {}
        for index, statement in grouping.histograms.items():
            with self._reading(cursor, statement, asked):
                histograms[index] = _histogram(_table(cursor, statement))
        keys, numbers = integers[: len(kinds)], iter(integers[len(kinds) :])
        zeros = np.zeros(len(integers[0]), dtype=np.int64) if integers else np.zeros(1, dtype=np.int64)
        measures = tuple(zeros if measure.kind is MeasureKind.QUANTILE else next(numbers) for measure in query.measures)
        return ExactRows(tuple(keys), measures, next(numbers) if grouping.counts_people else None, histograms)

    @contextmanager
    def _reading(
        self, cursor: duckdb.DuckDBPyConnection, statement: Statement, asked: threading.Event
    ) -> Iterator[None]:
        with self._public.holding(statement.tables), self._watch.reading(cursor, asked):
            if asked.is_set():
                raise _cancellation_error()
            yield

    def _integers(
        self, cursor: duckdb.DuckDBPyConnection, statement: Statement, kinds: list[Type], *, is_small: bool
    ) -> list[Any]:
        """Read keys as Arrow arrays, then integers. Reading through a relation binds twice and parses once more, which is slow for a small result."""
        if is_small:
            (parsed,) = self._parsed(statement.sql)
            rows = cursor.execute(parsed, _values(statement)).fetchmany(_FEW)
            if len(rows) < _FEW:
                return from_rows(rows, kinds, width=len(cursor.description))
            cursor.abort()  # there are many undeclared groups
        table = _table(cursor, statement)
        columns = [_column(table, at) for at in range(table.num_columns)]
        return [*columns[: len(kinds)], *map(whole, columns[len(kinds) :])]


def _number_of_people(data: duckdb.DuckDBPyConnection, catalog: Catalog) -> NDArray[np.int64]:
    """Count the table that lists all people; 0 if there is none, since then no query asks."""
    listing = [table.name for table in catalog.tables.values() if table.lists_people]
    counts = [data.execute(f"SELECT count(*) FROM {DATA}.{quoted(name)}").fetchall()[0][0] for name in listing]
    return np.array([sum(counts)], np.int64)


def _statements(several: list[Grouping]) -> Iterator[Statement]:
    for grouping in several:
        yield grouping.integers
        yield from grouping.histograms.values()


def _table(cursor: duckdb.DuckDBPyConnection, statement: Statement) -> pa.Table:
    return cursor.sql(statement.sql, params=_values(statement)).to_arrow_table()


def _values(statement: Statement) -> dict[str, Any] | None:
    return dict(statement.values) or None


def _column(table: pa.Table, at: int) -> pa.Array:
    column = table.column(at)
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks)
        if column.num_chunks
        else pa.array([], column.type)
    )


def _histogram(table: pa.Table) -> Histogram:
    group, place, count = (_column(table, at).to_numpy(zero_copy_only=False).astype(np.int64) for at in range(3))
    return group, place, count


def _cancellation_error() -> Cancelled:
    return Cancelled("The query was cancelled.", next_step="Run it again: a query is charged once.")
