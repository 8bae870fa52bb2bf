"""Ledgers with a race condition: they check, answer and then write, and others check in between."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np

_READING_SECONDS = 0.002
"""Time to read the data for an answer. Other queries run meanwhile."""


class ReadCheckWrite:
    """A budget in an SQLite file: read what is spent, check it, answer, write the new sum."""

    def __init__(self, path: Path, *, cap: int, rng: np.random.Generator) -> None:
        self._path, self._cap, self._rng = path, cap, rng
        with closing(self._open()) as connection:
            connection.execute("CREATE TABLE account (spent INTEGER)")
            connection.execute("CREATE TABLE seen (request TEXT)")
            connection.execute("INSERT INTO account VALUES (0)")

    def ask(self, request: str) -> float | None:
        """Return a noisy answer, or None if the budget is spent. A retry is free, and its noise is fresh."""
        with closing(self._open()) as connection:
            spent = self.spent()
            is_retry = connection.execute("SELECT 1 FROM seen WHERE request = ?", (request,)).fetchone() is not None
            if not is_retry and spent + 1 > self._cap:
                return None
            answer = self._answer()
            if not is_retry:
                connection.execute("INSERT INTO seen VALUES (?)", (request,))
                self._write(connection, spent)
            return answer

    def spent(self) -> int:
        """Return the recorded spending."""
        with closing(self._open()) as connection:
            return int(connection.execute("SELECT spent FROM account").fetchone()[0])

    def _write(self, connection: sqlite3.Connection, spent: int) -> None:
        connection.execute("UPDATE account SET spent = ?", (spent + 1,))

    def _answer(self) -> float:
        time.sleep(_READING_SECONDS)
        return float(self._rng.laplace())

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=60, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")  # waiting for the disk would only widen the window
        return connection


class CheckThenCharge(ReadCheckWrite):
    """The same, but each charge is added atomically, so none is lost. It is still added after the answer."""

    def _write(self, connection: sqlite3.Connection, _spent: int) -> None:
        connection.execute("UPDATE account SET spent = spent + 1")
