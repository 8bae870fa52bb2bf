"""Budgets that can be raced: they look, then answer, then write, and others look in between."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np

_READING_SECONDS = 0.002
"""What it takes to read the data for an answer, during which others are served."""


class ReadCheckWrite:
    """A budget in an SQLite file: read what is spent, check it, answer, write the new sum."""

    def __init__(self, path: Path, *, cap: int, rng: np.random.Generator) -> None:
        self._path, self._cap, self._rng = path, cap, rng
        with closing(self._open()) as books:
            books.execute("CREATE TABLE account (spent INTEGER)")
            books.execute("CREATE TABLE seen (request TEXT)")
            books.execute("INSERT INTO account VALUES (0)")

    def ask(self, request: str) -> float | None:
        """A noisy answer, or None when the budget is spent. A retry is free, and its noise is fresh."""
        with closing(self._open()) as books:
            spent = self.spent()
            is_retry = books.execute("SELECT 1 FROM seen WHERE request = ?", (request,)).fetchone() is not None
            if not is_retry and spent + 1 > self._cap:
                return None
            answer = self._answer()
            if not is_retry:
                books.execute("INSERT INTO seen VALUES (?)", (request,))
                self._write(books, spent)
            return answer

    def spent(self) -> int:
        """What the books say."""
        with closing(self._open()) as books:
            return int(books.execute("SELECT spent FROM account").fetchone()[0])

    def _write(self, books: sqlite3.Connection, spent: int) -> None:
        books.execute("UPDATE account SET spent = ?", (spent + 1,))

    def _answer(self) -> float:
        time.sleep(_READING_SECONDS)
        return float(self._rng.laplace())

    def _open(self) -> sqlite3.Connection:
        books = sqlite3.connect(self._path, timeout=60, isolation_level=None)
        books.execute("PRAGMA synchronous = OFF")  # waiting for the disk would only widen the window
        return books


class CheckThenCharge(ReadCheckWrite):
    """The same, but no charge is lost: the sum is raised in one step. It is still raised after the answer."""

    def _write(self, books: sqlite3.Connection, _spent: int) -> None:
        books.execute("UPDATE account SET spent = spent + 1")
