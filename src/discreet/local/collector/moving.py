"""Collections of releases before, which were kept in the ledger's database, move to a database of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from discreet.local.collector.collection_records import insert_record
from discreet.local.collector.intake import DAY, add_refusals, remember
from discreet.local.collector.message_counting import Counts, write_counts
from discreet.local.tasks.messages import payload_of
from discreet.store import Row, Store, Transaction, open_store

_OLD = "collector"
_OLD_TABLES = ("tasks", "messages", "tallies", "refusals", "slots")
_AT_ONCE = 5000


def move_collections(ledger: str, store: Store, *, now: float) -> None:
    """Move every collection from a ledger's database to `store`; nothing happens where there is none.

    They are on disk in their new place before they leave the old one. A move that was cut short between the two is
    gone on with: a collection that is in its new place already is not counted again.
    """
    if "://" not in ledger and not Path(ledger).exists():
        return
    books = open_store(ledger)
    try:
        if not books.has(_OLD):
            return
        with books.transaction() as old:
            with store.transaction() as new:
                for task, name, spec in old.run("SELECT id, name, spec FROM collector_tasks"):
                    if not new.run("SELECT 1 FROM collection_tasks WHERE task = ?", task):
                        insert_record(new, task, name, spec, expires=None)
                        _move_messages(old, new, task, now=now)
                        _move_refusals(old, new, task)
            for table in _OLD_TABLES:
                old.run(f"DROP TABLE collector_{table}")
            old.run("DELETE FROM schema_versions WHERE component = ?", _OLD)
    finally:
        books.close()


def _move_messages(old: Transaction, new: Transaction, task: str, *, now: float) -> None:
    """Numbers and senders are remembered as of now; payloads that wait to be folded go on waiting."""
    last = waiting = waiting_bytes = 0
    for number, message, sender, reports, raw in _messages(old, task):
        remember(new, task, bytes(message), bytes(sender), reports, day=int(now // DAY))
        last = number
        if raw is not None:
            payload = payload_of(bytes(raw))
            new.run("INSERT INTO collection_waiting VALUES (?, ?, ?, ?)", task, number, reports, payload)
            waiting, waiting_bytes = waiting + 1, waiting_bytes + len(payload)
    tally_bytes = 0
    for number, reports, tally in old.run("SELECT number, reports, tally FROM collector_tallies WHERE task = ?", task):
        new.run("INSERT INTO collection_tallies VALUES (?, ?, ?, ?)", task, number, reports, bytes(tally))
        tally_bytes = len(tally)
    given = int(old.run("SELECT COUNT(*) FROM collector_slots WHERE task = ?", task)[0][0])
    write_counts(new, task, Counts(last, waiting, waiting_bytes, tally_bytes, given))


def _messages(old: Transaction, task: str) -> Iterator[Row]:
    """All of a task in their order, some at a time."""
    sql = (
        "SELECT number, message, sender, reports, payload FROM collector_messages "
        "WHERE task = ? AND number > ? ORDER BY number LIMIT ?"
    )
    number = 0
    while rows := old.run(sql, task, number, _AT_ONCE):
        yield from rows
        number = rows[-1][0]


def _move_refusals(old: Transaction, new: Transaction, task: str) -> None:
    for code, count in old.run("SELECT code, count FROM collector_refusals WHERE task = ?", task):
        add_refusals(new, task, code, count)
