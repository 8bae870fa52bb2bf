"""Steps: what a run drew along the way under one charge, each stored before anything uses or shows it.

A run is a question whose price is a budget that is spent step by step. Of two that are drawn for one number the first stored is the step, so
after a crash, or with two processes, one transcript goes on under one charge. The running books know how many steps an open run has and what
they cost: none can be hidden, and none is beyond what was charged.

Whoever reads the books learns neither what was drawn nor of what: an entry has the hash of a secret salt and the body, which cannot be searched for,
what the step cost, and no time of its own. Salt and body are stored together; who holds both can verify them against the entry.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

from discreet.errors import BadInput, BudgetExceeded
from discreet.ledger import chain
from discreet.ledger.draft import Draft
from discreet.ledger.entries import Entry
from discreet.ledger.questions import answer_bytes
from discreet.ledger.runs import KIND
from discreet.mechanisms import Mechanism

_SALT = 16
"""Bytes."""
_NOT_STORED = "A stored step is not the one that was drawn."


def keep(draft: Draft, question: str, number: int, body: bytes, *, paid: Mechanism | None) -> bytes:
    """Store a step, unless there is one of that number; the stored one."""
    stored = _stored(draft, question, number)
    if stored is not None:
        return stored
    run = draft.running.runs.get(question)
    if run is None or number != run.steps:
        raise BadInput(
            "This is not the next step of a run that is paid for and not finished.",
            next_step="Reserve first, with a budget that is spent along the way, and number steps from 0 on.",
        )
    cost = run.cost_of(paid)
    if not run.further(cost).is_within_budget:
        raise BudgetExceeded("This step is beyond what was charged.", next_step="Spend at most what is left.")
    salted = os.urandom(_SALT) + body
    facts = {"question": question, "number": number, "salted": _hash(salted), "cost": str(cost)}
    entry = draft.append_unstamped(KIND, facts)
    draft.t.run("INSERT INTO ledger_steps VALUES (?, ?, ?, ?)", question, number, salted, entry.seq)
    return body


def kept(draft: Draft, question: str) -> list[bytes]:
    """All steps that are stored for a question, in order."""
    (count,) = draft.t.run("SELECT COUNT(*) FROM ledger_steps WHERE question = ?", question)[0]
    run = draft.running.runs.get(question)
    steps = [_stored(draft, question, number) for number in range(count if run is None else run.steps)]
    if None in steps:
        chain.damaged(_NOT_STORED)
    return [step for step in steps if step is not None]


def _stored(draft: Draft, question: str, number: int) -> bytes | None:
    rows = draft.t.run("SELECT body, written FROM ledger_steps WHERE question = ? AND number = ?", question, number)
    run = draft.running.runs.get(question)
    if run is not None and bool(rows) != (0 <= number < run.steps):
        chain.damaged(_NOT_STORED)
    if not rows:
        return None
    stored, seq = answer_bytes(rows[0][0]), rows[0][1]
    entry = chain.entry_at(draft.t, seq) if isinstance(seq, int) else None
    if entry is None or stored is None or not is_about(draft.seals.check(entry), question, number, stored):
        chain.damaged(_NOT_STORED)
    return stored[_SALT:] if "salted" in entry.body else stored


def is_about(entry: Entry, question: Any, number: Any, stored: bytes) -> bool:
    """Whether an entry is the one of a stored step, with its salt; the first steps had none."""
    hashed = "salted" if "salted" in entry.body else "sha256"
    about = {"question": question, "number": number, hashed: _hash(stored)}
    return entry.kind == KIND and about.items() <= entry.body.items()


def _hash(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()
