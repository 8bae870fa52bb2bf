"""Bind statements against empty tables, so that type errors are found before anything is charged."""

from __future__ import annotations

import hashlib
import re
import threading
from contextlib import ExitStack, suppress
from functools import partial

import duckdb

from discreet.catalog import Catalog
from discreet.concurrency.lru_cache import LruCache
from discreet.concurrency.refcounted_cache import RefcountedCache
from discreet.engines.duckdb.snapshot import UNSAFE_OPTIMIZERS, empty_tables
from discreet.engines.duckdb.watchdog import Watchdog
from discreet.engines.sqlgen.kernel import Statement
from discreet.errors import NotAllowed, TooLarge

_REMEMBERED = 1024
_TABLES = 256
_CONSTANT = re.compile(r"""("(?:[^"]|"")*")|'(?:[^']|'')*'|(?<=CAST\()-?\d+(?= AS BIGINT\))""")
"""Constants, which may differ between two statements of one shape. Quoted names are matched first and kept: they may hold an apostrophe."""


class Binder:
    """Empty copies of the snapshot's tables, and the statements that were bound to them recently."""

    def __init__(self, catalog: Catalog, watch: Watchdog) -> None:
        self._watch = watch
        self._connection = duckdb.connect(":memory:")
        empty_tables(self._connection, catalog)
        self._connection.execute(f"SET disabled_optimizers = '{UNSAFE_OPTIMIZERS}'")
        self._bound: LruCache[bytes, bool] = LruCache(_REMEMBERED)
        self._tables: RefcountedCache[None] = RefcountedCache(
            _TABLES, most_weight=0, weigh=lambda _: 0, drop=self._drop
        )
        self._lock = threading.Lock()

    def close(self) -> None:
        self._connection.close()

    def bind(self, statement: Statement) -> None:
        """Refuse a statement whose types do not fit. A statement of a known shape fits, whatever its constants are."""
        digest = hashlib.sha256(_CONSTANT.sub(r"\1?", statement.sql).encode()).digest()
        if not self._bound.get(digest):
            try:
                self._try(statement)
            except duckdb.InterruptException:
                raise TooLarge(
                    "The query takes too long to prepare.", next_step="Use fewer subqueries or joins."
                ) from None
            except duckdb.Error:
                raise NotAllowed(
                    "The types in this query do not match.",
                    next_step="Compare and add values of the same type, or use CAST.",
                ) from None
            self._bound.put(digest, True)

    def _try(self, statement: Statement) -> None:
        """Bind on a cursor of its own, so that a slow statement does not block the others."""
        with ExitStack() as held:
            cursor = held.enter_context(self._connection.cursor())
            held.enter_context(self._watch.reading(cursor, self._watch.asked()))
            for table in statement.tables:
                create = f"CREATE OR REPLACE TABLE {table.name} AS {table.sql}"
                held.enter_context(
                    self._tables.acquire(table.name, partial(self._run, cursor, create), check=self._check_cancelled)
                )
            # It is run, too: optimizers refuse things that were bound.
            cursor.execute(statement.sql, dict(statement.values) or None).fetchall()

    def _check_cancelled(self) -> None:
        if self._watch.is_over():
            raise duckdb.InterruptException

    @staticmethod
    def _run(cursor: duckdb.DuckDBPyConnection, sql: str) -> None:
        cursor.execute(sql)

    def _drop(self, name: str) -> None:
        with suppress(duckdb.Error), self._connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
