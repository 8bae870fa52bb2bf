"""The database interface of ledger, keys and collector: one writer at a time, and durable commits."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any, TypeAlias

from discreet.errors import StoreUnavailable, WrongFormat

Row: TypeAlias = tuple[Any, ...]
_ROWS_PER_INSERT = 100
"""Rows of one INSERT: every database accepts that many values."""


class Transaction(ABC):
    """Statements that happen together or not at all."""

    @abstractmethod
    def run(self, sql: str, *values: object) -> list[Row]:
        """Run one statement, with ? for each value, and fetch what it returns."""

    def insert(self, into: str, rows: Sequence[Sequence[object]], *, otherwise: str = "") -> None:
        """Insert rows in few statements.

        `into` is a table with its columns, `otherwise` the SQL for rows that exist (`ON CONFLICT …`).
        """
        for start in range(0, len(rows), _ROWS_PER_INSERT):
            part = rows[start : start + _ROWS_PER_INSERT]
            marks = f"({', '.join('?' * len(part[0]))})"
            several = ", ".join([marks] * len(part))
            self.run(f"INSERT INTO {into} VALUES {several} {otherwise}", *chain.from_iterable(part))  # noqa: S608

    @property
    @abstractmethod
    def changes(self) -> int:
        """A number that differs after every change."""

    @abstractmethod
    def member(self, column: str, name: str) -> str:
        """Return SQL for a member of a JSON column as text, NULL if it is missing."""


class _ConnectionQueue:
    """A connection and the lock that threads queue for."""

    def __init__(self) -> None:
        self.queue = threading.Lock()
        self.connection: Any = None


class Store(ABC):
    """A database, used from any number of threads and processes.

    A transaction has the database's one writer lock from its first statement to its commit, so what it read is still
    true when it writes. (Reading first and locking later loses charges: 160 of 200 in a test with default settings.) As
    there is one writer at a time, a process needs one connection for writing, and its threads queue for it. Reads have
    another connection: they neither wait for a writer nor block one.
    """

    blob_type: str

    def __init__(self) -> None:
        self._inherited: list[_ConnectionQueue] = []
        self._begin_process()

    def _begin_process(self) -> None:
        """Start without connections.

        Those inherited by a fork belong to the parent: they are neither used nor closed.
        """
        self._process, self._writers, self._readers = os.getpid(), _ConnectionQueue(), _ConnectionQueue()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Run a transaction: all of it or nothing, and on disk when the block ends."""
        self._reset_after_fork()
        with self._on(self._writers, self._begin) as t:
            yield t

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Read the database at one moment, without the writer lock. It includes everything committed before."""
        self._reset_after_fork()
        with self._on(self._readers, self._begin_reading) as t:
            yield t

    def _reset_after_fork(self) -> None:
        if self._process != os.getpid():
            self._inherited += [self._writers, self._readers]
            self._begin_process()

    @contextmanager
    def _on(self, slot: _ConnectionQueue, begin: Callable[[Any], Transaction]) -> Iterator[Transaction]:
        with slot.queue:
            try:
                slot.connection = slot.connection or self._connect()
                transaction = begin(slot.connection)
            except self.errors():
                self._drop(slot)
                raise unavailable() from None
            try:
                yield transaction
                transaction.run("COMMIT")
            except BaseException as error:
                with suppress(*self.errors()):
                    transaction.run("ROLLBACK")
                if isinstance(error, self.errors()):
                    self._drop(slot)
                    raise unavailable() from None
                raise

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        """Read the database at one moment for as long as needed, on a separate connection that blocks no writer."""
        try:
            connection = self._connect()
        except self.errors():
            raise unavailable() from None
        try:
            transaction = self._begin_reading(connection)
            yield transaction
            transaction.run("COMMIT")
        except self.errors():
            raise unavailable() from None
        finally:
            with suppress(*self.errors()):
                connection.close()

    def exists(self) -> bool:
        """Return whether the database exists; always true for a database server."""
        return True

    def scrub(self) -> None:
        """Remove deleted data from the disk. Data that a reader still uses is removed by a later call."""
        with self.transaction():
            pass  # opens a connection of this process
        with self._writers.queue:
            if self._writers.connection is not None:
                with suppress(*self.errors()):
                    self._scrub(self._writers.connection)

    @abstractmethod
    def _scrub(self, connection: Any) -> None:
        """Overwrite deleted data, outside of any transaction."""

    @abstractmethod
    def _connect(self) -> Any:
        """Open a connection whose commits wait for the disk."""

    @abstractmethod
    def _begin(self, connection: Any) -> Transaction:
        """Start a transaction that holds the database's writer lock."""

    @abstractmethod
    def _begin_reading(self, connection: Any) -> Transaction:
        """Start a transaction that reads one moment and locks nothing."""

    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """Return the exceptions of the driver."""

    def _drop(self, slot: _ConnectionQueue) -> None:
        connection, slot.connection = slot.connection, None
        if connection is not None:
            with suppress(*self.errors()):
                connection.close()

    def __del__(self, own_process: Callable[[], int] = os.getpid) -> None:  # bound now: at exit `os` may be unloaded
        if getattr(self, "_process", None) == own_process():
            for slot in (self._writers, self._readers):
                self._drop(slot)

    @abstractmethod
    def copy_to(self, path: str) -> None:
        """Copy the whole database at one moment to a new file; refused for PostgreSQL, which has its own tools."""

    def close(self) -> None:
        """Close the connections. The next transaction opens a new one."""
        if self._process == os.getpid():
            for slot in (self._readers, self._writers):
                with slot.queue:
                    self._drop(slot)

    def has(self, component: str) -> bool:
        """Return whether the tables of a component exist."""
        with self.transaction() as t:
            try:
                return bool(t.run("SELECT version FROM schema_versions WHERE component = ?", component))
            except self.errors():
                t.run("ROLLBACK")
                t.run("BEGIN")
                return False

    def create_tables(self, component: str, script: str, *, version: int) -> None:
        """Create the tables of a component if they do not exist; refuse tables of another version.

        In the script `{blob}` is the type of bytes, and `{body[name]}` a member of a JSON column `body`.
        """
        with self.transaction() as t:
            t.run("CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL)")
            rows = t.run("SELECT version FROM schema_versions WHERE component = ?", component)
            if rows:
                if rows[0][0] != version:
                    raise WrongFormat(
                        "The tables of this database were written by another version of Discreet.",
                        next_step="Open it with that version.",
                    )
                return
            for statement in script.format(blob=self.blob_type, body=_Members(t)).split(";"):
                if statement.strip():
                    t.run(statement)
            t.run("INSERT INTO schema_versions VALUES (?, ?)", component, version)


class _Members:
    """SQL for the members of the JSON column `body`, by name."""

    def __init__(self, t: Transaction) -> None:
        self._t = t

    def __getitem__(self, name: str) -> str:
        return self._t.member("body", name)


def unavailable() -> StoreUnavailable:
    """Return the error for any failure of the database. The text is fixed: the driver's message may quote data."""
    return StoreUnavailable(
        "The database cannot be read or written now, so nothing was granted.",
        next_step="Check that the disk is writable and has free space, then repeat the query with the same request id.",
    )
