"""SQLite: a file beside the data."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.store.base import Row, Store, Transaction

_PATIENCE_SECONDS = 60.0


class SQLiteStore(Store):
    """One file. BEGIN IMMEDIATE locks out other writers before it reads; synchronous=FULL makes commits last."""

    blob_type = "BLOB"

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)
        super().__init__()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
        )
        for patience in range(100):  # the switch itself does not wait for another process that is switching
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if patience == 99 or error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                time.sleep(0.05)
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _begin(self, connection: sqlite3.Connection) -> Transaction:
        connection.execute("BEGIN IMMEDIATE")
        return _SQLiteTransaction(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        """As everywhere; books in memory have no second connection, so they are read on the only one."""
        with self.transaction() if self._path == ":memory:" else super().snapshot() as t:
            yield t

    def _begin_reading(self, connection: sqlite3.Connection) -> Transaction:
        connection.execute("BEGIN")
        return _SQLiteTransaction(connection)

    def errors(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error,)


class _SQLiteTransaction(Transaction):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, *values: object) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def member(self, column: str, name: str) -> str:
        return f"json_extract({column}, '$.{name}')"
