"""SQLite: a file beside the data."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.store.base import Row, Store, Transaction, unavailable

_PATIENCE_SECONDS = 60.0


class SQLiteStore(Store):
    """One file. BEGIN IMMEDIATE takes the writer lock before reading; synchronous=FULL makes every commit wait for the disk."""

    blob_type = "BLOB"

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)
        super().__init__()

    @contextmanager
    def _exclusive(self) -> Iterator[Transaction]:
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            raise unavailable() from None
        try:
            yield _SQLiteTransaction(connection)
            connection.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):
                connection.rollback()
            if isinstance(error, sqlite3.Error):
                self.close()
                raise unavailable() from None
            raise

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._threads, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._path, timeout=_PATIENCE_SECONDS, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            self._threads.connection = connection
        return connection

    def close(self) -> None:
        connection = getattr(self._threads, "connection", None)
        if connection is not None:
            connection.close()
            self._threads.connection = None


class _SQLiteTransaction(Transaction):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, *values: object) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()
