"""The chain as the database has it: entries by number, the last one, and those of a kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NoReturn

from discreet.errors import LedgerDamaged
from discreet.ledger.entries import Entry, canonical
from discreet.store import Row, Transaction

COLUMNS = "seq, time, kind, body, previous, hash"


def all_entries(t: Transaction) -> list[Entry]:
    """From the first to the last."""
    return [_entry(row) for row in t.run(f"SELECT {COLUMNS} FROM ledger_entries ORDER BY seq")]  # noqa: S608


def last_entries(t: Transaction, count: int) -> list[Entry]:
    """The last few, in order."""
    rows = t.run(f"SELECT {COLUMNS} FROM ledger_entries ORDER BY seq DESC LIMIT ?", count)  # noqa: S608
    return [_entry(row) for row in reversed(rows)]


def last_entry(t: Transaction) -> Entry | None:
    """The head of the chain."""
    entries = last_entries(t, 1)
    return entries[0] if entries else None


def entry_at(t: Transaction, seq: int) -> Entry | None:
    """One entry by its number."""
    rows = t.run(f"SELECT {COLUMNS} FROM ledger_entries WHERE seq = ?", seq)  # noqa: S608
    return _entry(rows[0]) if rows else None


def first_of_kind(t: Transaction, kind: str) -> Entry | None:
    """The first entry of a kind."""
    rows = t.run(f"SELECT {COLUMNS} FROM ledger_entries WHERE kind = ? ORDER BY seq LIMIT 1", kind)  # noqa: S608
    return _entry(rows[0]) if rows else None


def entries_of(t: Transaction, kinds: Sequence[str], *, after: int = 0) -> list[Entry]:
    """The entries of some kinds that came after another, in order."""
    marks = ", ".join("?" * len(kinds))
    rows = t.run(
        f"SELECT {COLUMNS} FROM ledger_entries WHERE kind IN ({marks}) AND seq > ? ORDER BY seq",  # noqa: S608
        *kinds,
        after,
    )
    return [_entry(row) for row in rows]


def other_charges(t: Transaction, question_format: int) -> list[Entry]:
    """Charges in any format but this one, and the refreshes between them."""
    rows = t.run(
        f"SELECT {COLUMNS} FROM ledger_entries "  # noqa: S608
        "WHERE kind = 'refresh' OR (kind = 'charge' AND body NOT LIKE ?) ORDER BY seq",
        f'%"format":{question_format},%',
    )
    return [_entry(row) for row in rows]


def data_version(t: Transaction) -> int:
    """1, and one more for each refresh."""
    rows = t.run("SELECT COUNT(*) FROM ledger_entries WHERE kind = 'refresh'")
    return 1 + int(rows[0][0])


def append(t: Transaction, entry: Entry) -> None:
    """Write the entry that follows the last one."""
    values = (entry.seq, entry.time, entry.kind, canonical(entry.body), entry.previous, entry.hash)
    t.run(f"INSERT INTO ledger_entries ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", *values)  # noqa: S608


def check_intact(entry: Entry, problem: str) -> None:
    """Refuse to go on from an entry that was changed."""
    if not entry.intact:
        damaged(problem)


def damaged(problem: str) -> NoReturn:
    """Refuse books that do not add up."""
    raise LedgerDamaged(problem, next_step="Ask the owner to verify the books.")


def _entry(row: Row) -> Entry:
    seq, time, kind, text, previous, link = row
    try:
        body = json.loads(text)
        if canonical(body) != text:
            body = {}
    except ValueError:
        body = {}  # not the text that was written, so the hash must not fit either
    return Entry(int(seq), time, kind, body, previous, link)
