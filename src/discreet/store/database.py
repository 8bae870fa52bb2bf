"""What the ledger, the keys and the collector need of a database: one writer at a time, and commits that last."""

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
_ROWS = 100
"""Of one statement: every database takes so many values."""


class Transaction(ABC):
    """Statements that happen together or not at all."""

    @abstractmethod
    def run(self, sql: str, *values: object) -> list[Row]:
        """Run one statement, with ? for each value, and fetch what it returns."""

    def insert(self, into: str, rows: Sequence[Sequence[object]], *, otherwise: str = "") -> None:
        """Write rows in as few statements as can be: `into` is a table and its columns, `otherwise` what is done where a row is there already."""
        for start in range(0, len(rows), _ROWS):
            part = rows[start : start + _ROWS]
            marks = f"({', '.join('?' * len(part[0]))})"
            several = ", ".join([marks] * len(part))
            self.run(f"INSERT INTO {into} VALUES {several} {otherwise}", *chain.from_iterable(part))  # noqa: S608

    @property
    @abstractmethod
    def changes(self) -> int:
        """A number that is another one after something was changed."""

    @abstractmethod
    def member(self, column: str, name: str) -> str:
        """How a member of a JSON column is said in SQL: as text, NULL where there is none."""


class _Line:
    """A connection, and the threads that queue for it."""

    def __init__(self) -> None:
        self.queue = threading.Lock()
        self.connection: Any = None


class Store(ABC):
    """A database, used from any number of threads and processes.

    A transaction has the database's one writer lock from its first statement to its commit, so that what it read is
    still true when it writes. (Reading first and locking later loses charges: with the default settings of the usual
    tools, 160 of 200.) As there is one writer at a time, a process needs only one connection to write; its threads queue
    for it. Whoever only looks has another, and neither waits for a writer nor keeps one waiting.
    """

    blob_type: str

    def __init__(self) -> None:
        self._inherited: list[_Line] = []
        self._begin_process()

    def _begin_process(self) -> None:
        """Open nothing yet. Connections that came over a fork are neither used nor closed: they are the parent's."""
        self._process, self._writers, self._readers = os.getpid(), _Line(), _Line()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Everything inside, or nothing; on disk when it returns."""
        self._see_to_process()
        with self._on(self._writers, self._begin) as t:
            yield t

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """All as it is at one moment, for a look: without the writer lock. What was committed before it begins is in it."""
        self._see_to_process()
        with self._on(self._readers, self._begin_reading) as t:
            yield t

    def _see_to_process(self) -> None:
        if self._process != os.getpid():
            self._inherited += [self._writers, self._readers]
            self._begin_process()

    @contextmanager
    def _on(self, line: _Line, begin: Callable[[Any], Transaction]) -> Iterator[Transaction]:
        with line.queue:
            try:
                line.connection = line.connection or self._connect()
                transaction = begin(line.connection)
            except self.errors():
                self._drop(line)
                raise unavailable() from None
            try:
                yield transaction
                transaction.run("COMMIT")
            except BaseException as error:
                with suppress(*self.errors()):
                    transaction.run("ROLLBACK")
                if isinstance(error, self.errors()):
                    self._drop(line)
                    raise unavailable() from None
                raise

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        """All as it is at one moment, for reading at length: on a connection of its own, which no writer waits for."""
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
        """Whether there is a database at all; a server answers for itself."""
        return True

    def scrub(self) -> None:
        """Leave nothing on disk of what was deleted, as far as nobody is reading it; the next call takes up the rest."""
        with self.transaction():
            pass  # so that there is a connection of this process
        with self._writers.queue:
            if self._writers.connection is not None:
                with suppress(*self.errors()):
                    self._scrub(self._writers.connection)

    @abstractmethod
    def _scrub(self, connection: Any) -> None:
        """Overwrite what was deleted, outside of any transaction."""

    @abstractmethod
    def _connect(self) -> Any:
        """A connection whose commits wait for the disk."""

    @abstractmethod
    def _begin(self, connection: Any) -> Transaction:
        """Begin a transaction that holds the database's writer lock."""

    @abstractmethod
    def _begin_reading(self, connection: Any) -> Transaction:
        """Begin a transaction that sees one moment and locks nothing."""

    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """What the driver raises."""

    def _drop(self, line: _Line) -> None:
        connection, line.connection = line.connection, None
        if connection is not None:
            with suppress(*self.errors()):
                connection.close()

    def __del__(self, own_process: Callable[[], int] = os.getpid) -> None:  # bound now: at exit `os` may be gone
        if getattr(self, "_process", None) == own_process():
            for line in (self._writers, self._readers):
                self._drop(line)

    @abstractmethod
    def copy_to(self, place: str) -> None:
        """A copy of the whole database at one moment, in a new file; refused where the database has tools of its own for it."""

    def close(self) -> None:
        """Let go of the connections; the next transaction opens another."""
        if self._process == os.getpid():
            for line in (self._readers, self._writers):
                with line.queue:
                    self._drop(line)

    def has(self, component: str) -> bool:
        """Whether a component's tables are here already."""
        with self.transaction() as t:
            try:
                return bool(t.run("SELECT version FROM schema_versions WHERE component = ?", component))
            except self.errors():
                t.run("ROLLBACK")
                t.run("BEGIN")
                return False

    def create_tables(self, component: str, script: str, *, version: int) -> None:
        """Create a component's tables, where there are none; refuse tables of another version.

        In the script `{blob}` is the type of bytes, and `{body[name]}` a member of a JSON column `body`.
        """
        with self.transaction() as t:
            t.run("CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL)")
            rows = t.run("SELECT version FROM schema_versions WHERE component = ?", component)
            if rows:
                if rows[0][0] != version:
                    raise WrongFormat(
                        "The tables of this database were made by another version of Discreet.",
                        next_step="Open it with that version.",
                    )
                return
            for statement in script.format(blob=self.blob_type, body=_Members(t)).split(";"):
                if statement.strip():
                    t.run(statement)
            t.run("INSERT INTO schema_versions VALUES (?, ?)", component, version)


class _Members:
    """Members of the JSON column `body`, by name."""

    def __init__(self, t: Transaction) -> None:
        self._t = t

    def __getitem__(self, name: str) -> str:
        return self._t.member("body", name)


def unavailable() -> StoreUnavailable:
    """One text for every failure of the database: its own message might quote what it could not write."""
    return StoreUnavailable(
        "The books cannot be read or written just now, so nothing was granted.",
        next_step="Check that the disk is writable and has room, then ask again with the same request id.",
    )
