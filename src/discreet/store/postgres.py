"""PostgreSQL, by URL: where the service has one already, or several machines share the books."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg

from discreet.store.base import Row, Store, Transaction, unavailable

_LOCK = 0x6469736372656574  # "discreet": one advisory lock for all our writers in a database


class PostgresStore(Store):
    """Every transaction takes an advisory lock first, so that READ COMMITTED reads what the last writer committed."""

    blob_type = "BYTEA"

    def __init__(self, url: str) -> None:
        self._url = url
        super().__init__()

    @contextmanager
    def _exclusive(self) -> Iterator[Transaction]:
        try:
            connection = self._connection()
            connection.execute("BEGIN")
            connection.execute("SET LOCAL synchronous_commit = on")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        except psycopg.Error:
            self.close()
            raise unavailable() from None
        try:
            yield _PostgresTransaction(connection)
            connection.execute("COMMIT")
        except BaseException as error:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
            if isinstance(error, psycopg.Error):
                self.close()
                raise unavailable() from None
            raise

    def _connection(self) -> psycopg.Connection:
        connection: psycopg.Connection | None = getattr(self._threads, "connection", None)
        if connection is None:
            connection = psycopg.connect(self._url, autocommit=True)
            self._threads.connection = connection
        return connection

    def close(self) -> None:
        connection = getattr(self._threads, "connection", None)
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()
            self._threads.connection = None


class _PostgresTransaction(Transaction):
    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, *values: object) -> list[Row]:
        cursor = self._connection.execute(sql.replace("?", "%s").encode(), values or None)
        return cursor.fetchall() if cursor.description else []
