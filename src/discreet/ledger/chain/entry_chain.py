"""The chain as the database has it: entries by number, the last ones, and those about an analyst or a query."""

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
    """In order, read page by page: there may be millions."""
    while True:
        rows = t.run(f"{_SELECT} WHERE seq > ? ORDER BY seq LIMIT ?", seq, _PAGE)
        yield from map(_entry, rows)
        if len(rows) < _PAGE:
            return
        seq = rows[-1][0]


def last_entries(t: Transaction, count: int, *, before: int | None = None) -> list[Entry]:
    """The last few, or the last before a number, in order."""
    end = _NO_END if before is None else before
    return [_entry(row) for row in reversed(t.run(f"{_SELECT} WHERE seq < ? ORDER BY seq DESC LIMIT ?", end, count))]


def last_entry(t: Transaction) -> Entry | None:
    """The head of the chain."""
    entries = last_entries(t, 1)
    return entries[0] if entries else None


def entry_at(t: Transaction, seq: int) -> Entry | None:
    """One entry by its number."""
    rows = t.run(f"{_SELECT} WHERE seq = ?", seq)
    return _entry(rows[0]) if rows else None


def hash_at(t: Transaction, seq: int) -> str | None:
    """The hash of one entry by its number, as it is written there."""
    rows = t.run("SELECT hash FROM ledger_entries WHERE seq = ?", seq)
    return str(rows[0][0]) if rows else None


def is_linked(t: Transaction, entry: Entry) -> bool:
    """Whether an entry stands in the chain: it goes on from the entry before it, and the one behind it from it.

    Only the first has none before it, and only the last none behind it.
    """
    before, behind, last = entry_at(t, entry.seq - 1), entry_at(t, entry.seq + 1), last_entry(t)
    goes_on = entry.seq == 1 if before is None else entry.previous == before.hash
    is_gone_on_from = last is not None and entry.seq == last.seq if behind is None else behind.previous == entry.hash
    return goes_on and is_gone_on_from


def charges_before(t: Transaction, seq: int | None, *, analyst: str | None, limit: int) -> list[Entry]:
    """The last charges, newest first: below a number, or of all; of one analyst, or of everybody."""
    whose, values = ("", ()) if analyst is None else (f"AND {t.member('body', 'analyst')} = ?", (analyst,))
    rows = t.run(
        f"{_SELECT} WHERE kind = 'charge' {whose} AND seq < ? ORDER BY seq DESC LIMIT ?",
        *values,
        _NO_END if seq is None else seq,
        limit,
    )
    return [_entry(row) for row in rows]


def outcomes(t: Transaction, query: str) -> list[Entry]:
    """What was answered and what was watched, under the key that a query was paid under."""
    return [_entry(row) for row in t.run(f"{_SELECT} WHERE {_are_outcomes(t)} ORDER BY seq", query)]


def number_of_answers(t: Transaction) -> str:
    """How it is said in SQL how many answers were given under a key, which is ?."""
    return f"(SELECT COUNT(CASE WHEN kind = 'answer' THEN 1 END) FROM ledger_entries WHERE {_are_outcomes(t)})"  # noqa: S608


def _are_outcomes(t: Transaction) -> str:
    """As the index says it."""
    return f"kind IN ('answer', 'watch') AND {t.member('body', 'question')} = ?"


def refreshes(t: Transaction) -> list[int]:
    """The numbers of the entries that began data versions 2, 3 and so on."""
    return [int(seq) for (seq,) in t.run("SELECT seq FROM ledger_entries WHERE kind = 'refresh' ORDER BY seq")]


def entries_of(t: Transaction, kind: str, **members: str) -> list[Entry]:
    """All of a kind that is rare whose bodies have these members, in order."""
    such = "".join(f" AND {t.member('body', name)} = ?" for name in members)
    rows = t.run(
        f"SELECT {COLUMNS} FROM ledger_entries WHERE kind = ?{such} ORDER BY seq",  # noqa: S608
        kind,
        *members.values(),
    )
    return [_entry(row) for row in rows]


def with_receipt(t: Transaction, receipt: str) -> list[Entry]:
    """The charge that a receipt stands for: the entry with that hash."""
    rows = t.run(f"SELECT {COLUMNS} FROM ledger_entries WHERE kind = 'charge' AND hash = ?", receipt)  # noqa: S608
    return [_entry(row) for row in rows]


def row_of(entry: Entry) -> Row:
    """The row of an entry."""
    return entry.seq, entry.time, entry.kind, canonical(entry.body), entry.previous, entry.hash, entry.seal


def refuse_damaged(problem: str) -> NoReturn:
    """Refuse books that do not add up."""
    raise LedgerDamaged(problem, next_step="Ask the owner to verify the books.")


def _entry(row: Row) -> Entry:
    """SQLite gives back whatever somebody put into a column: bytes and numbers are not what we wrote, and count as nothing."""
    seq, *columns = row
    time, kind, text, previous, link, seal = (value if isinstance(value, str) else "" for value in columns)
    try:
        body = json.loads(text)
        if canonical(body) != text:
            body = {}
    except (ValueError, RecursionError):
        body = {}  # not the text that was written, so the hash must not fit either
    return Entry(int(seq), time, kind, body, previous, link, seal or None)
