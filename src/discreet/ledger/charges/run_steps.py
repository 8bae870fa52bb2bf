"""Steps of a run: results under one charge, each stored before it is used or returned.

A run is a query whose budget is spent step by step. If two results are computed for one number, the first stored one is
the step. So after a crash, or with two processes, one transcript continues under one charge.

While a run reads data, its steps have no entries: the number of entries is public, and would show how long data is
read. Pending steps are rows with a seal over the cost of all steps so far. When the result is returned, at a time
chosen before the reading, they become entries; from then on the ledger totals count them, and none can be hidden.

An entry does not disclose the step: it has its cost and the hash of a secret salt and the body, so guesses cannot be
tested. Salt and body are stored together and can be verified against the entry.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from discreet.errors import BadInput, BudgetExceeded
from discreet.ledger.accounts.totals import LedgerTotals
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.entries import Entry, canonical
from discreet.ledger.chain.seals import Seals
from discreet.ledger.charges.open_runs import KIND, Run
from discreet.ledger.charges.stored_queries import answer_bytes
from discreet.ledger.charges.unit_of_work import UnitOfWork
from discreet.mechanisms import Mechanism
from discreet.store import Transaction

_SALT = 16
"""Bytes."""
_PENDING = 0
"""Stored instead of an entry number while a step has no entry."""
_NOT_STORED = "A stored step does not match its entry."


def store_step(work: UnitOfWork, query: str, number: int, body: bytes, *, paid: Mechanism | None) -> bytes:
    """Store a step, unless its number is taken, and return the stored one."""
    run = _run_with_pending(work, query)
    stored = _stored(work, query, number, run)
    if stored is not None:
        return stored
    if run is None or number != run.steps:
        raise BadInput(
            "This is not the next step of a charged and unfinished run.",
            next_step="Reserve an adaptive budget first, and number steps from 0.",
        )
    cost = run.cost_of(paid)
    further = run.after_step(cost)
    if not further.is_within_budget:
        raise BudgetExceeded(
            "This step costs more than the charged budget has left.", next_step="Spend at most what remains."
        )
    salted = os.urandom(_SALT) + body
    facts = {"question": query, "number": number, "salted": _hash(salted), "cost": str(cost)}
    note = canonical({**facts, "spent": str(further.spent)})
    row = (query, number, salted, _PENDING, note, work.seals.seal_text(note))
    work.t.run("INSERT INTO ledger_steps (question, number, body, written, note, seal) VALUES (?, ?, ?, ?, ?, ?)", *row)
    return body


def load_steps(work: UnitOfWork, query: str) -> list[bytes]:
    """Return all stored steps of a query, in order."""
    (count,) = work.t.run("SELECT COUNT(*) FROM ledger_steps WHERE question = ?", query)[0]
    run = _run_with_pending(work, query)
    steps = [_stored(work, query, number, run) for number in range(count)]
    if None in steps or (run is not None and count != run.steps):
        entry_chain.refuse_damaged(_NOT_STORED)
    return [step for step in steps if step is not None]


def write_entries(work: UnitOfWork, query: str, count: int | None = None) -> None:
    """Write the entries of all pending steps, or of those among the first `count`, whose results are returned now."""
    for number, note in list(pending_steps(work.t, work.seals, work.totals, query))[
        : _count_to_write(work, query, count)
    ]:
        facts = {name: value for name, value in note.items() if name != "spent"}
        entry = work.append(KIND, facts)
        work.t.run(
            "UPDATE ledger_steps SET written = ?, note = NULL, seal = NULL WHERE question = ? AND number = ?",
            *(entry.seq, query, number),
        )


def _count_to_write(work: UnitOfWork, query: str, count: int | None) -> int | None:
    """Return how many of the pending steps are among the first `count`."""
    run = work.totals.runs.get(query)
    return None if count is None or run is None else max(0, count - run.steps)


def pending_steps(
    t: Transaction, seals: Seals, totals: LedgerTotals, query: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield number and note of the steps without an entry, in order; refuse if one was edited or is missing."""
    run = totals.runs.get(query)
    rows = t.run(
        "SELECT number, body, note, seal FROM ledger_steps WHERE question = ? AND written = ? ORDER BY number",
        *(query, _PENDING),
    )
    for number, body, text, seal in rows:
        note = _read_note(seals, text, seal)
        run = None if run is None else run.after_step(int(note["cost"]))
        known = (query, number, _hash(answer_bytes(body) or b""))
        is_next = run is not None and number == run.steps - 1 and int(note["spent"]) == run.spent
        if not is_next or known != (note["question"], note["number"], note["salted"]):
            entry_chain.refuse_damaged(_NOT_STORED)
        yield number, note


def _run_with_pending(work: UnitOfWork, query: str) -> Run | None:
    """Return a run including its pending steps: the last of them has the total cost."""
    run = work.totals.runs.get(query)
    last = work.t.run(
        "SELECT number, note, seal FROM ledger_steps WHERE question = ? AND written = ? ORDER BY number DESC LIMIT 1",
        *(query, _PENDING),
    )
    if run is None or not last:
        return run
    number, *sealed = last[0]
    note = _read_note(work.seals, *sealed)
    if (note["question"], note["number"]) != (query, number) or number < run.steps:
        entry_chain.refuse_damaged(_NOT_STORED)
    return replace(run, steps=number + 1, spent=int(note["spent"]))


def _stored(work: UnitOfWork, query: str, number: int, run: Run | None) -> bytes | None:
    rows = work.t.run(
        "SELECT body, written, note, seal FROM ledger_steps WHERE question = ? AND number = ?", query, number
    )
    if run is not None and bool(rows) != (0 <= number < run.steps):
        entry_chain.refuse_damaged(_NOT_STORED)
    if not rows:
        return None
    body, seq, text, seal = rows[0]
    stored = answer_bytes(body) or b""
    facts = _read_note(work.seals, text, seal) if seq == _PENDING else _entry_body(work, seq)
    if not _is_about(facts, query, number, stored):
        entry_chain.refuse_damaged(_NOT_STORED)
    return stored[_SALT:]


def _entry_body(work: UnitOfWork, seq: Any) -> Mapping[str, Any]:
    """Return the body of a step's entry."""
    entry = entry_chain.entry_at(work.t, seq) if isinstance(seq, int) else None
    if entry is None or work.seals.check(entry).kind != KIND:
        entry_chain.refuse_damaged(_NOT_STORED)
    return entry.body


def _read_note(seals: Seals, text: Any, seal: Any) -> Mapping[str, Any]:
    """Return the note of a pending step, after a check of its seal."""
    if not isinstance(text, str) or not seals.text_fits(text, seal):
        entry_chain.refuse_damaged(_NOT_STORED)
    try:
        note = {**json.loads(text)}
        return {**note, "cost": str(int(note["cost"])), "spent": str(int(note["spent"]))}
    except (KeyError, TypeError, ValueError):  # without the secret the seal was not checked
        entry_chain.refuse_damaged(_NOT_STORED)


def is_about(entry: Entry, query: Any, number: Any, stored: bytes) -> bool:
    """Return whether an entry is about a stored step, with its salt."""
    return entry.kind == KIND and _is_about(entry.body, query, number, stored)


def _is_about(facts: Mapping[str, Any], query: Any, number: Any, stored: bytes) -> bool:
    return {"question": query, "number": number, "salted": _hash(stored)}.items() <= facts.items()


def _hash(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()
