"""Charged and answered queries. Each is proved by a sealed entry: a table row alone grants nothing.

An entry cannot be hidden either: the ledger totals know every query without an answer, so every other query must have
one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from discreet.ledger.accounts.account_rows import analyst_account, is_shared, shared_account
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.entries import Entry
from discreet.ledger.charges.requests import Request
from discreet.ledger.charges.unit_of_work import UnitOfWork
from discreet.store import Transaction

REPEATS_A_DAY = 1_000
"""Entries of one analyst for free repeats in a day. Further repeats are answered without an entry."""
_NO_ENTRY = 0
_NOT_CHARGED = "A query is recorded as charged without an entry."


@dataclass(frozen=True, slots=True)
class QueryState:
    """Table rows of a query and an analyst (`None`: the data owner), before they are proved.

    `charged` is the number of the entry that charged the dataset and `asked` that of the analyst's first request, each
    `None` without a row; `requested` is the query of their request id.
    """

    query: str
    analyst: str | None
    charged: Any
    asked: Any
    requested: str | None
    answer: Any
    answers: int
    """Number of answer entries."""


def query_state(work: UnitOfWork, query: str, analyst: str | None, *, request: str = "") -> QueryState:
    """Read the state of a query with one statement: one for each table would be slower."""
    t, asker = work.for_keys(query, request), analyst or ""
    ((known, charged, answer, paid, asked, requested, answers),) = t.run(
        f"SELECT q.question, q.charged, q.answer, p.question, p.charged, r.question, {entry_chain.number_of_answers(t)} "  # noqa: S608
        "FROM (SELECT 1) AS here LEFT JOIN ledger_questions AS q ON q.question = ? "
        "LEFT JOIN ledger_paid AS p ON p.analyst = ? AND p.question = ? "
        "LEFT JOIN ledger_requests AS r ON r.analyst = ? AND r.request = ?",
        *(query, query, asker, query, asker, request),
    )
    return QueryState(
        query,
        analyst,
        charged=None if known is None else charged or _NO_ENTRY,
        asked=None if paid is None else asked or _NO_ENTRY,
        requested=requested,
        answer=answer,
        answers=int(answers),
    )


def unpaid_accounts(work: UnitOfWork, known: QueryState, *, edges: str | None = None) -> list[str]:
    """Return the accounts that were not charged for a query yet: of the dataset and of the analyst.

    A query about a table of `edges` charges the account of that table only: an analyst's account counts charges about
    persons.
    """
    shared = shared_account(edges)
    unpaid = [] if _is_charged(work, known, known.charged, shared) else [shared]
    if known.analyst is not None and edges is None:
        own = analyst_account(known.analyst)
        unpaid += [] if _is_charged(work, known, known.asked, own) else [own]
    return unpaid


def _is_charged(work: UnitOfWork, known: QueryState, number: Any, account: str) -> bool:
    if number is None:
        return False
    charge = _charge_at(work, known, number)
    if not entry_chain.is_linked(work.t, charge) or account not in charge.body["accounts"]:
        entry_chain.refuse_damaged(_NOT_CHARGED)
    return True


def _charge_at(work: UnitOfWork, known: QueryState, number: Any) -> Entry:
    """The entry that a row names, if it is the charge for this query."""
    charge = entry_chain.entry_at(work.t, number) if isinstance(number, int) else None
    if charge is None or work.seals.check(charge).kind != "charge" or charge.body["question"] != known.query:
        entry_chain.refuse_damaged(_NOT_CHARGED)
    return charge


def may_record_repeat(work: UnitOfWork, analyst: str | None) -> bool:
    """Return whether one more free repeat is recorded today: free queries must not fill the disk."""
    repeats = work.totals.repeats if work.totals.day == work.today else {}
    return repeats.get(analyst or "", 0) < REPEATS_A_DAY


def record_repeat(work: UnitOfWork, request: Request, known: QueryState) -> Entry:
    """Record a free repeat, with a reference to the entry that has text and cost."""
    first = _charge_at(work, known, known.charged if known.asked is None else known.asked)
    facts: dict[str, Any] = {"accounts": [], "analyst": request.analyst, "request": request.id, "question": request.key}
    facts |= unit_fields(request)
    entry = work.append("charge", {**facts, "format": request.format, "of": first.body.get("of", first.seq)})
    record_charge(work, entry)
    return entry


def unit_fields(request: Request) -> dict[str, Any]:
    """Return the fields of an entry whose privacy unit is an edge."""
    return {} if request.edges is None else {"unit": "edge", "edges": request.edges}


def entry_with_text(work: UnitOfWork, charge: Entry) -> Entry:
    """Return the entry with text and cost of a charge: itself, or the one that a repeat refers to."""
    if "of" not in charge.body:
        return charge
    first = entry_chain.entry_at(work.t, charge.body["of"])
    if first is None or work.seals.check(first).body.get("question") != charge.body["question"]:
        entry_chain.refuse_damaged("A repeat refers to a query that is missing.")
    return first


def original_text(work: UnitOfWork, known: QueryState) -> str:
    """Return the text of a query as it was first asked."""
    return str(entry_with_text(work, _charge_at(work, known, known.charged)).body["label"])


def record_charge(work: UnitOfWork, charge: Entry) -> None:
    """Write the table rows of a charge: query, analyst and request, with the number of its entry."""
    body, number = charge.body, charge.seq
    analyst, query, request = body["analyst"] or "", body["question"], body["request"]
    if any(map(is_shared, body["accounts"])):
        work.add("ledger_questions (question, charged)", (query, number), keys=(query,))
    asked = (analyst, query, number)
    work.add("ledger_paid (analyst, question, charged)", asked, keys=(query,), otherwise="ON CONFLICT DO NOTHING")
    work.add("ledger_requests", (analyst, request, query, charge.hash), keys=(request,))


def store_answer(work: UnitOfWork, query: str, answer: bytes) -> None:
    """Write the table row of an answer."""
    again = "ON CONFLICT (question) DO UPDATE SET answer = excluded.answer"
    work.add("ledger_questions (question, answer)", (query, answer), keys=(query,), otherwise=again)


def receipt_of(work: UnitOfWork, known: QueryState) -> str:
    """Return the receipt: the hash of the entry of the analyst's first request, the same for every repeat."""
    return _charge_at(work, known, known.asked).hash


def is_free(t: Transaction, query: str, analyst: str | None, *, edges: str | None = None) -> bool:
    """Return whether a query is answered and charged to the analyst (`None`: the data owner).

    Queries about `edges` charge no analyst.
    """
    answered = t.run("SELECT 1 FROM ledger_questions WHERE question = ? AND answer IS NOT NULL", query)
    paid = (
        analyst is None
        or edges is not None
        or t.run("SELECT 1 FROM ledger_paid WHERE analyst = ? AND question = ?", analyst, query)
    )
    return bool(answered) and bool(paid)


def stored_answer(work: UnitOfWork, known: QueryState) -> bytes | None:
    """Return the stored answer, `None` if it does not exist yet; refuse if it does not match its entry."""
    answer = answer_bytes(known.answer)
    outcomes = entry_chain.outcomes(work.t, known.query) if known.answers else []
    given = [work.seals.check(entry) for entry in outcomes if entry.kind == "answer"]
    if bool(given) == (known.query in work.totals.unanswered):
        work.seals.refuse("The entry of an answer is missing, or is one too many")
    digests = [] if answer is None else [hashlib.sha256(answer).hexdigest()]
    if digests != [entry.body["sha256"] for entry in given]:
        entry_chain.refuse_damaged("A stored answer does not match its entry.")
    return answer


def answer_bytes(answer: Any) -> bytes | None:
    """Return a stored answer as bytes. SQLite returns text if the row was edited: we write bytes only."""
    if isinstance(answer, str):
        entry_chain.refuse_damaged("A stored answer is not bytes.")
    return None if answer is None else bytes(answer)
