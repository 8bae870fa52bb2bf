"""The chain in the database: read entries by number, analyst or query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NoReturn

from discreet.errors import LedgerDamaged
from discreet.ledger.chain.entries import Entry, canonical
from discreet.store import Row, Transaction

COLUMNS = "seq, time, kind, body, previous, hash, seal"
INTO = f"ledger_entries ({COLUMNS})"
_SELECT = f"SELECT {COLUMNS} FROM ledger_entries"  # noqa: S608
_PAGE = 2_000
_NO_END = 2**62


def entries_after(t: Transaction, seq: int) -> Iterator[Entry]:
    """Yield the entries after a number in order, read in pages: there may be millions."""
    while True:
        rows = t.run(f"{_SELECT} WHERE seq > ? ORDER BY seq LIMIT ?", seq, _PAGE)
        yield from map(_entry, rows)
        if len(rows) < _PAGE:
            return
        seq = rows[-1][0]


def last_entries(t: Transaction, count: int, *, before: int | None = None) -> list[Entry]:
    """Return the last entries, or the last before a number, in order."""
    end = _NO_END if before is None else before
    return [_entry(row) for row in reversed(t.run(f"{_SELECT} WHERE seq < ? ORDER BY seq DESC LIMIT ?", end, count))]


def last_entry(t: Transaction) -> Entry | None:
    """Return the head of the chain."""
    entries = last_entries(t, 1)
    return entries[0] if entries else None


def entry_at(t: Transaction, seq: int) -> Entry | None:
    """Return an entry by its number."""
    rows = t.run(f"{_SELECT} WHERE seq = ?", seq)
    return _entry(rows[0]) if rows else None


def hash_at(t: Transaction, seq: int) -> str | None:
    """Return the stored hash of an entry by its number, without checking it."""
    rows = t.run("SELECT hash FROM ledger_entries WHERE seq = ?", seq)
    return str(rows[0][0]) if rows else None


def is_linked(t: Transaction, entry: Entry) -> bool:
    """Return whether the hashes link an entry to the entries before and after it.

    Only the first has none before it, and only the last has none after it.
    """
    before, behind, last = entry_at(t, entry.seq - 1), entry_at(t, entry.seq + 1), last_entry(t)
    goes_on = entry.seq == 1 if before is None else entry.previous == before.hash
    is_gone_on_from = last is not None and entry.seq == last.seq if behind is None else behind.previous == entry.hash
    return goes_on and is_gone_on_from


def charges_before(t: Transaction, seq: int | None, *, analyst: str | None, limit: int) -> list[Entry]:
    """Return the last charges, newest first: before a number, and of one analyst, if given."""
    whose, values = ("", ()) if analyst is None else (f"AND {t.member('body', 'analyst')} = ?", (analyst,))
    rows = t.run(
        f"{_SELECT} WHERE kind = 'charge' {whose} AND seq < ? ORDER BY seq DESC LIMIT ?",
        *values,
        _NO_END if seq is None else seq,
        limit,
    )
    return [_entry(row) for row in rows]


def outcomes(t: Transaction, query: str) -> list[Entry]:
    """Return the answer and watch entries of a query key."""
    return [_entry(row) for row in t.run(f"{_SELECT} WHERE {_are_outcomes(t)} ORDER BY seq", query)]


def number_of_answers(t: Transaction) -> str:
    """Return SQL that counts the answers of the query key `?`."""
    return f"(SELECT COUNT(CASE WHEN kind = 'answer' THEN 1 END) FROM ledger_entries WHERE {_are_outcomes(t)})"  # noqa: S608


def _are_outcomes(t: Transaction) -> str:
    """Return the condition as the index has it, so that the index is used."""
    return f"kind IN ('answer', 'watch') AND {t.member('body', 'question')} = ?"


def refreshes(t: Transaction) -> list[int]:
    """Return the numbers of the entries that created data versions 2, 3 and so on."""
    return [int(seq) for (seq,) in t.run("SELECT seq FROM ledger_entries WHERE kind = 'refresh' ORDER BY seq")]


def entries_of(t: Transaction, kind: str, **members: str) -> list[Entry]:
    """Return all entries of a rare kind whose bodies have these members, in order."""
    such = "".join(f" AND {t.member('body', name)} = ?" for name in members)
    rows = t.run(
        f"SELECT {COLUMNS} FROM ledger_entries WHERE kind = ?{such} ORDER BY seq",  # noqa: S608
        kind,
        *members.values(),
    )
    return [_entry(row) for row in rows]


def with_receipt(t: Transaction, receipt: str) -> list[Entry]:
    """Return the charge of a receipt: the entry with that hash."""
    rows = t.run(f"SELECT {COLUMNS} FROM ledger_entries WHERE kind = 'charge' AND hash = ?", receipt)  # noqa: S608
    return [_entry(row) for row in rows]


def row_of(entry: Entry) -> Row:
    """Return the row of an entry."""
    return entry.seq, entry.time, entry.kind, canonical(entry.body), entry.previous, entry.hash, entry.seal


def refuse_damaged(problem: str) -> NoReturn:
    """Raise the error of a damaged ledger."""
    raise LedgerDamaged(problem, next_step="Ask the data owner to verify the ledger.")


def _entry(row: Row) -> Entry:
    """Read an entry from its row.

    SQLite columns may hold any type: a value that is not text was not written by us and reads as empty.
    """
    seq, *columns = row
    time, kind, text, previous, link, seal = (value if isinstance(value, str) else "" for value in columns)
    try:
        body = json.loads(text)
        if canonical(body) != text:
            body = {}
    except (ValueError, RecursionError):
        body = {}  # not the text that was written, so the hash must not match
    return Entry(int(seq), time, kind, body, previous, link, seal or None)
