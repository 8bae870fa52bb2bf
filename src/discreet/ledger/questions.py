"""What counts as paid and as answered, each proved by the sealed entry that says so: a row of a table alone grants nothing.

Nor can an entry be hidden: the running books know every question that is without an answer, so that of all others the
answer must be there.
"""

from __future__ import annotations

import hashlib
from typing import Any

from discreet.ledger import chain
from discreet.ledger.accounts import DATASET, analyst_account
from discreet.ledger.draft import Draft
from discreet.ledger.entries import Entry
from discreet.store import Row, Transaction

_NOT_CHARGED = "A question counts as paid without an entry that says so."


def unpaid_accounts(draft: Draft, question: str, analyst: str | None) -> list[str]:
    """The accounts that have not paid for a question yet: the dataset's, and the analyst's own."""
    dataset = draft.t.run("SELECT charged FROM ledger_questions WHERE question = ?", question)
    unpaid = [] if _is_charged(draft, dataset, question, DATASET) else [DATASET]
    if analyst is not None:
        own = _asked(draft, question, analyst)
        unpaid += [] if _is_charged(draft, own, question, analyst_account(analyst)) else [analyst_account(analyst)]
    return unpaid


def _asked(draft: Draft, question: str, analyst: str | None) -> list[Row]:
    """The number of the entry by which an analyst (None: the owner) first asked, as the row has it."""
    return draft.t.run("SELECT charged FROM ledger_paid WHERE analyst = ? AND question = ?", analyst or "", question)


def _is_charged(draft: Draft, rows: list[Row], question: str, account: str) -> bool:
    if not rows:
        return False
    charge = _charge_of(draft, rows, question)
    if not chain.is_linked(draft.t, charge) or account not in charge.body["accounts"]:
        chain.damaged(_NOT_CHARGED)
    return True


def _charge_of(draft: Draft, rows: list[Row], question: str) -> Entry:
    """The entry that a row names, if it is the charge for this question."""
    charge = chain.entry_at(draft.t, rows[0][0]) if rows and isinstance(rows[0][0], int) else None
    if charge is None or draft.seals.check(charge).kind != "charge" or charge.body["question"] != question:
        chain.damaged(_NOT_CHARGED)
    return charge


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


def has_asked(draft: Draft, question: str, analyst: str | None) -> bool:
    """Whether the analyst has asked; of the owner (None), who pays nothing for what others paid for, it is not the same as that it is paid."""
    return bool(_asked(draft, question, analyst))


def receipt_of(draft: Draft, question: str, analyst: str | None) -> str:
    """The hash of the entry by which the analyst (None: the owner) first asked, the same for every repeat."""
    return _charge_of(draft, _asked(draft, question, analyst), question).hash


def is_free(t: Transaction, question: str, analyst: str | None) -> bool:
    """Whether a question is answered, and the analyst (None: the owner) has paid for it."""
    answered = t.run("SELECT 1 FROM ledger_questions WHERE question = ? AND answer IS NOT NULL", question)
    paid = analyst is None or t.run("SELECT 1 FROM ledger_paid WHERE analyst = ? AND question = ?", analyst, question)
    return bool(answered) and bool(paid)


def stored_answer(draft: Draft, question: str) -> bytes | None:
    """The answer that was given, None before there is one; refused where it is not the one that the entry is about."""
    rows = draft.t.run("SELECT answer FROM ledger_questions WHERE question = ?", question)
    answer = answer_bytes(rows[0][0]) if rows else None
    outcomes = chain.outcomes(draft.t, question)
    given = [draft.seals.check(entry) for entry in outcomes if entry.kind == "answer"]
    if bool(given) == (question in draft.running.unanswered):
        draft.seals.refuse("The entry of an answer is missing, or is one too many")
    digests = [] if answer is None else [hashlib.sha256(answer).hexdigest()]
    if digests != [entry.body["sha256"] for entry in given]:
        chain.damaged("A stored answer is not the one that was given.")
    return answer


def answer_bytes(answer: Any) -> bytes | None:
    """A stored answer, whatever it means. SQLite gives text back as text if somebody put it there: we never did."""
    if isinstance(answer, str):
        chain.damaged("A stored answer is not bytes.")
    return None if answer is None else bytes(answer)
