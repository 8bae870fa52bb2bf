"""What counts as paid and as answered, each proved by the entry that says so: a row of a table alone grants nothing."""

from __future__ import annotations

import hashlib
from typing import Any

from discreet.ledger import chain
from discreet.ledger.accounts import DATASET, analyst_account
from discreet.ledger.entries import Entry
from discreet.store import Transaction


def unpaid_accounts(t: Transaction, question: str, analyst: str | None) -> list[str]:
    """The accounts that have not paid for a question yet: the dataset's, and the analyst's own."""
    dataset = t.run("SELECT charged FROM ledger_questions WHERE question = ?", question)
    unpaid = [] if _is_charged(t, dataset, question, DATASET) else [DATASET]
    if analyst is not None:
        own = t.run("SELECT charged FROM ledger_paid WHERE analyst = ? AND question = ?", analyst, question)
        unpaid += [] if _is_charged(t, own, question, analyst_account(analyst)) else [analyst_account(analyst)]
    return unpaid


def _is_charged(t: Transaction, rows: list[Any], question: str, account: str) -> bool:
    if not rows:
        return False
    charge = None if rows[0][0] is None else chain.entry_at(t, rows[0][0])
    proved = charge is not None and charge.kind == "charge" and charge.intact and chain.is_linked(t, charge)
    if charge is None or not proved or charge.body["question"] != question or account not in charge.body["accounts"]:
        chain.damaged("A question counts as paid without an entry that says so.")
    return True


def mark_paid(t: Transaction, charge: Entry) -> None:
    """Note who has paid, and for which request, by the entry that says so."""
    body = charge.body
    analyst, question = body["analyst"] or "", body["question"]
    if DATASET in body["accounts"]:
        t.run("INSERT INTO ledger_questions (question, charged) VALUES (?, ?)", question, charge.seq)
    t.run(
        "INSERT INTO ledger_paid (analyst, question, charged) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        analyst,
        question,
        charge.seq,
    )
    t.run("INSERT INTO ledger_requests VALUES (?, ?, ?, ?)", analyst, body["request"], question, charge.hash)


def receipt_of(t: Transaction, question: str, analyst: str | None) -> str:
    """The hash of the entry by which the analyst (None: the owner) first asked, the same for every repeat."""
    asked = t.run("SELECT charged FROM ledger_paid WHERE analyst = ? AND question = ?", analyst or "", question)
    entry = chain.entry_at(t, asked[0][0]) if asked and asked[0][0] is not None else None
    if entry is None:
        chain.damaged("A question counts as asked without an entry that says so.")
    return entry.hash


def is_free(t: Transaction, question: str, analyst: str | None) -> bool:
    """Whether a question is answered, and the analyst (None: the owner) has paid for it."""
    answered = t.run("SELECT 1 FROM ledger_questions WHERE question = ? AND answer IS NOT NULL", question)
    paid = analyst is None or t.run("SELECT 1 FROM ledger_paid WHERE analyst = ? AND question = ?", analyst, question)
    return bool(answered) and bool(paid)


def stored_answer(t: Transaction, question: str) -> bytes | None:
    """The answer that was given, None before there is one; refused where it is not the one that the entry is about."""
    rows = t.run("SELECT answer FROM ledger_questions WHERE question = ?", question)
    answer = answer_bytes(rows[0][0]) if rows else None
    given = [entry for entry in chain.outcomes(t, question) if entry.kind == "answer"]
    for entry in given:
        chain.check_intact(entry, "The entry of an answer was changed.")
    digests = [] if answer is None else [hashlib.sha256(answer).hexdigest()]
    if digests != [entry.body["sha256"] for entry in given]:
        chain.damaged("A stored answer is not the one that was given.")
    return answer


def answer_bytes(answer: Any) -> bytes | None:
    """A stored answer, whatever it means. SQLite gives text back as text if somebody put it there: we never did."""
    if isinstance(answer, str):
        chain.damaged("A stored answer is not bytes.")
    return None if answer is None else bytes(answer)
