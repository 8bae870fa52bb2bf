"""What the ledger, the keys and the collector need of a database: one writer at a time, and commits that last."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from discreet.errors import StoreUnavailable

Row: TypeAlias = tuple[Any, ...]


class Transaction(ABC):
    """Statements that happen together or not at all."""

    @abstractmethod
    def run(self, sql: str, *values: object) -> list[Row]:
        """Run one statement, with ? for each value, and fetch what it returns."""


class Store(ABC):
    """A database, used from any number of threads and processes.

    A transaction has the database's one writer lock from its first statement to its commit, so that what it read is
    still true when it writes. (Reading first and locking later loses charges: with the default settings of the usual
    tools, 160 of 200.)
    """

    blob_type: str

    def __init__(self) -> None:
        self._begin_process()

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._threads = threading.local()
        self._queue = threading.Lock()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Everything inside, or nothing; on disk when it returns."""
        if self._process != os.getpid():  # a connection must not cross a fork
            self._begin_process()
        with self._queue, self._exclusive() as transaction:
            yield transaction

    @abstractmethod
    def _exclusive(self) -> Any:
        """A context manager around one transaction that holds the database's writer lock."""

    @abstractmethod
    def close(self) -> None:
        """Let go of this thread's connection."""

    def migrate(self, component: str, versions: Sequence[str]) -> None:
        """Bring a component's tables to the newest version; each version is a script, never changed once released."""
        with self.transaction() as t:
            t.run("CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL)")
            found = t.run("SELECT version FROM schema_versions WHERE component = ?", component)
            current = found[0][0] if found else 0
            if current > len(versions):
                raise StoreUnavailable(
                    "This database was written by a newer version of Discreet.", next_step="Upgrade Discreet."
                )
            for script in versions[current:]:
                for statement in script.format(blob=self.blob_type).split(";"):
                    if statement.strip():
                        t.run(statement)
            if not found:
                t.run("INSERT INTO schema_versions VALUES (?, ?)", component, len(versions))
            elif current < len(versions):
                t.run("UPDATE schema_versions SET version = ? WHERE component = ?", len(versions), component)


def unavailable() -> StoreUnavailable:
    """One text for every failure of the database: its own message might quote what it could not write."""
    return StoreUnavailable(
        "The books cannot be read or written just now, so nothing was granted.",
        next_step="Check that the disk is writable and has room, then ask again with the same request id.",
    )
