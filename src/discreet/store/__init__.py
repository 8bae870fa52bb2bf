"""Databases for our own books: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

from pathlib import Path

from discreet.store.database import Row, Store, Transaction, unavailable
from discreet.store.group_commit import GroupCommit

__all__ = ["GroupCommit", "Row", "Store", "Transaction", "open_store", "unavailable"]


def open_store(where: str | Path, *, must_exist: bool = False) -> Store:
    """A store at a path, or at a postgresql:// URL; with `must_exist`, a file that is missing is not made."""
    if str(where).startswith(("postgresql://", "postgres://")):
        from discreet.store.postgres import PostgresStore  # noqa: PLC0415  the driver is an extra

        return PostgresStore(str(where))
    from discreet.store.sqlite import SQLiteStore  # noqa: PLC0415

    return SQLiteStore(where, must_exist=must_exist)
