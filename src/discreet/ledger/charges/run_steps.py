"""Steps: what a run drew along the way under one charge, each stored before anything uses or shows it.

A run is a query whose price is a budget that is spent step by step. Of two that are drawn for one number the first stored is the step, so
after a crash, or with two processes, one transcript goes on under one charge.

While a run reads, its steps stay out of the chain: how many entries there are is public, and would tell how long data is read. They wait in their
table, each row under the ledger's seal with what all steps so far have cost. When their outcome leaves, at a time that was chosen before the
reading, they become entries; from then on the running books know them, and none can be hidden.

Whoever reads the books learns neither what was drawn nor of what: an entry has the hash of a secret salt and the body, which cannot be searched for,
and what the step cost. Salt and body are stored together; who holds both can verify them against the entry.
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
"""In place of the number of an entry: there is none yet."""
_NOT_STORED = "A stored step is not the one that was drawn."


def store_step(work: UnitOfWork, query: str, number: int, body: bytes, *, paid: Mechanism | None) -> bytes:
    """Store a step, unless there is one of that number; the stored one."""
    run = _run_with_pending(work, query)
    stored = _stored(work, query, number, run)
    if stored is not None:
        return stored
    if run is None or number != run.steps:
        raise BadInput(
            "This is not the next step of a run that is paid for and not finished.",
            next_step="Reserve first, with a budget that is spent along the way, and number steps from 0 on.",
        )
    cost = run.cost_of(paid)
    further = run.after_step(cost)
    if not further.is_within_budget:
        raise BudgetExceeded("This step is beyond what was charged.", next_step="Spend at most what is left.")
    salted = os.urandom(_SALT) + body
    facts = {"question": query, "number": number, "salted": _hash(salted), "cost": str(cost)}
    note = canonical({**facts, "spent": str(further.spent)})
    row = (query, number, salted, _PENDING, note, work.seals.seal_text(note))
    work.t.run("INSERT INTO ledger_steps (question, number, body, written, note, seal) VALUES (?, ?, ?, ?, ?, ?)", *row)
    return body


def load_steps(work: UnitOfWork, query: str) -> list[bytes]:
    """All steps that are stored for a query, in order."""
    (count,) = work.t.run("SELECT COUNT(*) FROM ledger_steps WHERE question = ?", query)[0]
    run = _run_with_pending(work, query)
    steps = [_stored(work, query, number, run) for number in range(count)]
    if None in steps or (run is not None and count != run.steps):
        entry_chain.refuse_damaged(_NOT_STORED)
    return [step for step in steps if step is not None]


def write_entries(work: UnitOfWork, query: str, count: int | None = None) -> None:
    """Write the entries of all steps that wait for it, or of those among the first so many: what they brought about may leave now."""
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
    """How many of those that wait are among the first so many."""
    run = work.totals.runs.get(query)
    return None if count is None or run is None else max(0, count - run.steps)


def pending_steps(
    t: Transaction, seals: Seals, totals: LedgerTotals, query: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The steps of a run that have no entry yet, in order, each with what its note says; refused where one was edited or is missing."""
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
    """A run with the steps that wait: the last of them says how many there are, and what all of them cost."""
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
    """What the entry of a step says."""
    entry = entry_chain.entry_at(work.t, seq) if isinstance(seq, int) else None
    if entry is None or work.seals.check(entry).kind != KIND:
        entry_chain.refuse_damaged(_NOT_STORED)
    return entry.body


def _read_note(seals: Seals, text: Any, seal: Any) -> Mapping[str, Any]:
    """What the note of a step says that waits, if it was written by somebody who holds the secret."""
    if not isinstance(text, str) or not seals.text_fits(text, seal):
        entry_chain.refuse_damaged(_NOT_STORED)
    try:
        note = {**json.loads(text)}
        return {**note, "cost": str(int(note["cost"])), "spent": str(int(note["spent"]))}
    except (KeyError, TypeError, ValueError):  # where nobody has the secret, anybody may have written it
        entry_chain.refuse_damaged(_NOT_STORED)


def is_about(entry: Entry, query: Any, number: Any, stored: bytes) -> bool:
    """Whether an entry is the one of a stored step, with its salt."""
    return entry.kind == KIND and _is_about(entry.body, query, number, stored)


def _is_about(facts: Mapping[str, Any], query: Any, number: Any, stored: bytes) -> bool:
    return {"question": query, "number": number, "salted": _hash(stored)}.items() <= facts.items()


def _hash(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()
