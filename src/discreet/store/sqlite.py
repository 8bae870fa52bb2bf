"""SQLite: a file beside the data."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from discreet.errors import BadInput
from discreet.store.database import Row, Store, Transaction

_LOCK_TIMEOUT_SECONDS = 60.0
_MEMORY = ":memory:"
_STATEMENTS = 1024
"""Cached prepared statements: an INSERT is a different statement for each number of rows."""


class SQLiteStore(Store):
    """One file. BEGIN IMMEDIATE locks out other writers before it reads; synchronous=FULL makes commits last."""

    blob_type = "BLOB"

    def __init__(self, path: str | Path, *, must_exist: bool = False) -> None:
        self._path, self._must_exist = str(path), must_exist
        super().__init__()

    def exists(self) -> bool:
        return self._path == _MEMORY or os.path.exists(self._path)  # noqa: PTH110  Path.exists may raise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._address(),
            uri=True,
            timeout=_LOCK_TIMEOUT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
        )
        for attempt in range(100):  # the switch itself does not wait for another process that switches
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if attempt == 99 or error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                time.sleep(0.05)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # overwrite deleted data
        return connection

    def _address(self) -> str:
        """Return the URI of the file, which only its owner may read from its creation on.

        SQLite's other files get the same mode.

        An existing file is not opened here: closing it would drop the locks of this process's other connections.
        """
        if self._path == _MEMORY:
            return "file::memory:"
        try:
            if not self._must_exist:
                with suppress(FileExistsError):
                    os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))
            with suppress(PermissionError):  # another user's file, shared on purpose
                Path(self._path).chmod(Path(self._path).stat().st_mode & 0o700)
        except OSError:
            raise sqlite3.OperationalError from None
        return f"{Path(self._path).absolute().as_uri()}?mode=rw"

    def copy_to(self, path: str) -> None:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        except OSError:
            raise BadInput(
                "The copy cannot be written there.", next_step="Name a new file in a writable folder."
            ) from None
        with self.transaction(), closing(sqlite3.connect(self._path)) as ours, closing(sqlite3.connect(path)) as copy:
            ours.backup(copy)

    def _begin(self, connection: sqlite3.Connection) -> Transaction:
        connection.execute("BEGIN IMMEDIATE")
        return _SQLiteTransaction(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        """Read at one moment. A database in memory has one connection only, which is used for reading too."""
        with self.transaction() if self._path == _MEMORY else super().snapshot() as t:
            yield t

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Read at one moment, as `snapshot` does."""
        with self.transaction() if self._path == _MEMORY else super().reading() as t:
            yield t

    def _begin_reading(self, connection: sqlite3.Connection) -> Transaction:
        connection.execute("BEGIN")
        return _SQLiteTransaction(connection)

    def _scrub(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA busy_timeout = 1000")  # a long read must not block writers
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.execute(f"PRAGMA busy_timeout = {round(_LOCK_TIMEOUT_SECONDS * 1000)}")

    def errors(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error,)


class _SQLiteTransaction(Transaction):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, *values: object) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    @property
    def changes(self) -> int:
        return self._connection.total_changes

    def member(self, column: str, name: str) -> str:
        return f"json_extract({column}, '$.{name}')"
