"""PostgreSQL by URL, for services that run one, or that share a ledger between machines."""

from __future__ import annotations

import psycopg

from discreet.errors import BadInput
from discreet.store.database import Row, Store, Transaction
from discreet.store.env_secrets import read_secret

_LOCK = 0x6469736372656574  # "discreet": one advisory lock for all our writers in a database


class PostgresStore(Store):
    """Every transaction takes an advisory lock first, so READ COMMITTED reads what the last writer committed."""

    blob_type = "BYTEA"

    def __init__(self, url: str) -> None:
        self._url = url
        super().__init__()

    def _connect(self) -> psycopg.Connection:
        connection = psycopg.connect(self._url, autocommit=True, password=read_secret("PGPASSWORD"))
        connection.execute("SET synchronous_commit = on")
        connection.execute("SET lock_timeout = '60s'")  # as long as SQLite waits
        return connection

    def copy_to(self, path: str) -> None:
        raise BadInput(f"A PostgreSQL database cannot be copied to {path}.", next_step="Use pg_dump.")

    def _begin(self, connection: psycopg.Connection) -> Transaction:
        connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        return _PostgresTransaction(connection)

    def _begin_reading(self, connection: psycopg.Connection) -> Transaction:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return _PostgresTransaction(connection)

    def _scrub(self, connection: psycopg.Connection) -> None:
        """Do nothing: the database server manages its own files."""

    def errors(self) -> tuple[type[Exception], ...]:
        return (psycopg.Error,)


class _PostgresTransaction(Transaction):
    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection, self._changes = connection, 0

    def run(self, sql: str, *values: object) -> list[Row]:
        cursor = self._connection.execute(sql.replace("?", "%s").encode(), values or None)
        if cursor.description:
            return cursor.fetchall()
        self._changes += 1
        return []

    @property
    def changes(self) -> int:
        return self._changes

    def member(self, column: str, name: str) -> str:
        return f"({column}::json ->> '{name}')"
