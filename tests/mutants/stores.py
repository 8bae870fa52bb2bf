"""Stores that do not wait for the disk, or lock too late; and the checks that catch them."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable

from discreet.errors import StoreUnavailable
from discreet.store.database import Store, Transaction
from discreet.store.sqlite import SQLiteStore, _SQLiteTransaction
from tests.ledger.asking import in_child, output_of


class UnsyncedStore(SQLiteStore):
    """The fsync left out: fast, and the last charges are gone after a power failure."""

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        connection.execute("PRAGMA synchronous = OFF")
        return connection


class DeferredStore(SQLiteStore):
    """BEGIN where BEGIN IMMEDIATE is right: the lock is taken at the first write, after the balance was read."""

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        connection.execute("PRAGMA busy_timeout = 0")
        return connection

    def _begin(self, connection: sqlite3.Connection) -> Transaction:
        connection.execute("BEGIN DEFERRED")
        return _SQLiteTransaction(connection)


def commits_reach_the_disk(store: SQLiteStore) -> None:
    """Ask the very connection that commits: in write-ahead mode SQLite syncs the log at every commit if synchronous is FULL."""
    with store.transaction() as t:
        synchronous, journal = t.run("PRAGMA synchronous")[0][0], t.run("PRAGMA journal_mode")[0][0]
    store.close()
    assert (synchronous, journal) == (2, "wal"), "a commit does not wait for the disk"


def no_charge_is_lost(make: Callable[[], Store], *, processes: int = 4, rounds: int = 50) -> None:
    """Processes that read a counter and write it back, one higher; none may fail or overwrite another's."""
    store = make()
    store.create_tables("check", "CREATE TABLE counter (n INTEGER)", version=1)
    with store.transaction() as t:
        t.run("INSERT INTO counter VALUES (0)")
    store.close()

    def work(write: Callable[[bytes], int]) -> None:
        own = make()
        for _ in range(rounds):
            try:
                with own.transaction() as t:
                    count = t.run("SELECT n FROM counter")[0][0]
                    threading.Event().wait(0.0005)
                    t.run("UPDATE counter SET n = ?", count + 1)
                write(b"g")
            except StoreUnavailable:
                write(b"x")
        os._exit(0)

    children = [in_child(work) for _ in range(processes)]
    written = b"".join(output_of(*child) for child in children)
    with store.transaction() as t:
        final = t.run("SELECT n FROM counter")[0][0]
    store.close()
    assert written == b"g" * (processes * rounds), "a writer was turned away"
    assert final == processes * rounds, "an increment was lost"
