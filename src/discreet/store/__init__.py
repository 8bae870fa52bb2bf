"""Databases for ledger, keys and reports: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

from pathlib import Path

from discreet.store.database import Row, Store, Transaction, unavailable
from discreet.store.group_commit import GroupCommit

__all__ = ["GroupCommit", "Row", "Store", "Transaction", "open_store", "unavailable"]


def open_store(where: str | Path, *, must_exist: bool = False) -> Store:
    """Open a store at a path or postgresql:// URL. With `must_exist`, a missing file is not created."""
    if str(where).startswith(("postgresql://", "postgres://")):
        from discreet.store.postgres import PostgresStore  # noqa: PLC0415  the driver is an extra

        return PostgresStore(str(where))
    from discreet.store.sqlite import SQLiteStore  # noqa: PLC0415

    return SQLiteStore(where, must_exist=must_exist)
