"""Statements are tried on tables without a row, before anything is charged."""

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
from discreet.engines.duckdb.watchdog import Watch
from discreet.engines.sqlgen.kernel import Statement
from discreet.errors import NotAllowed, TooLarge

_REMEMBERED = 1024
_TABLES = 256
_CONSTANT = re.compile(r"""("(?:[^"]|"")*")|'(?:[^']|'')*'|(?<=CAST\()-?\d+(?= AS BIGINT\))""")
"""What may differ between two statements of one shape. A quoted name is matched first, and kept: it may hold an apostrophe."""


class Binder:
    """The snapshot's tables, empty, and what was bound to them lately."""

    def __init__(self, catalog: Catalog, watch: Watch) -> None:
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
        """Refuse what the engine would refuse by types. What was bound before is known to fit, whatever its constants are."""
        digest = hashlib.sha256(_CONSTANT.sub(r"\1?", statement.sql).encode()).digest()
        if not self._bound.get(digest):
            try:
                self._try(statement)
            except duckdb.InterruptException:
                raise TooLarge("The question takes too long to prepare.", next_step="Say it in fewer steps.") from None
            except duckdb.Error:
                raise NotAllowed(
                    "The types of the question do not fit together.", next_step="Compare and add like with like."
                ) from None
            self._bound.put(digest, True)

    def _try(self, statement: Statement) -> None:
        """On a cursor of its own: nobody waits for a statement that takes long to prepare."""
        with ExitStack() as held:
            cursor = held.enter_context(self._connection.cursor())
            held.enter_context(self._watch.reading(cursor, self._watch.asked()))
            for table in statement.tables:
                create = f"CREATE OR REPLACE TABLE {table.name} AS {table.sql}"
                held.enter_context(
                    self._tables.acquire(table.name, partial(self._run, cursor, create), check=self._check_wanted)
                )
            # It is run, too: optimizers refuse things that were bound.
            cursor.execute(statement.sql, dict(statement.values) or None).fetchall()

    def _check_wanted(self) -> None:
        if self._watch.is_over():
            raise duckdb.InterruptException

    @staticmethod
    def _run(cursor: duckdb.DuckDBPyConnection, sql: str) -> None:
        cursor.execute(sql)

    def _drop(self, name: str) -> None:
        with suppress(duckdb.Error), self._connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
