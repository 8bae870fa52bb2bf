"""What counts as paid and as answered, each proved by the sealed entry that says so: a row of a table alone grants nothing.

Nor can an entry be hidden: the running books know every query that is without an answer, so that of all others the
answer must be there.
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
"""Entries of one analyst that charge nobody. Beyond them what is paid for is answered without one."""
_NO_ENTRY = 0
_NOT_CHARGED = "A question counts as paid without an entry that says so."


@dataclass(frozen=True, slots=True)
class QueryState:
    """What the tables say of a query, and of somebody who asks it (None: the owner), before any of it is proved.

    `charged` and `asked` are the numbers of the entries by which the dataset paid and by which they first asked, each None where there is no
    row; `requested` is the query that their request id was used for.
    """

    query: str
    analyst: str | None
    charged: Any
    asked: Any
    requested: str | None
    answer: Any
    answers: int
    """How many entries say that it was answered."""


def query_state(work: UnitOfWork, query: str, analyst: str | None, *, request: str = "") -> QueryState:
    """Looked up at once: a statement for each table would take longer than what it finds."""
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
    """The accounts that have not paid for a query yet: the dataset's, and the analyst's own.

    For a query about a table of `edges` its own account alone: an analyst's counts what was spent on people.
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
    """Whether one more repeat is written down today; what costs nothing must not fill a disk."""
    repeats = work.totals.repeats if work.totals.day == work.today else {}
    return repeats.get(analyst or "", 0) < REPEATS_A_DAY


def record_repeat(work: UnitOfWork, request: Request, known: QueryState) -> Entry:
    """Write down that somebody asked what is paid for: words and price are in the entry that it refers to."""
    first = _charge_at(work, known, known.charged if known.asked is None else known.asked)
    facts: dict[str, Any] = {"accounts": [], "analyst": request.analyst, "request": request.id, "question": request.key}
    facts |= unit_fields(request)
    entry = work.append("charge", {**facts, "format": request.format, "of": first.body.get("of", first.seq)})
    record_charge(work, entry)
    return entry


def unit_fields(request: Request) -> dict[str, Any]:
    """What an entry says of whom its price is about, where that is not a person."""
    return {} if request.edges is None else {"unit": "edge", "edges": request.edges}


def entry_with_text(work: UnitOfWork, charge: Entry) -> Entry:
    """The entry that has the words and the price of a charge: itself, or the one that a repeat refers to."""
    if "of" not in charge.body:
        return charge
    first = entry_chain.entry_at(work.t, charge.body["of"])
    if first is None or work.seals.check(first).body.get("question") != charge.body["question"]:
        entry_chain.refuse_damaged("A question was asked again that is not there any more.")
    return first


def original_text(work: UnitOfWork, known: QueryState) -> str:
    """In which words a query was first asked."""
    return str(entry_with_text(work, _charge_at(work, known, known.charged)).body["label"])


def record_charge(work: UnitOfWork, charge: Entry) -> None:
    """Note who has paid, and for which request, by the entry that says so."""
    body, number = charge.body, charge.seq
    analyst, query, request = body["analyst"] or "", body["question"], body["request"]
    if any(map(is_shared, body["accounts"])):
        work.add("ledger_questions (question, charged)", (query, number), keys=(query,))
    asked = (analyst, query, number)
    work.add("ledger_paid (analyst, question, charged)", asked, keys=(query,), otherwise="ON CONFLICT DO NOTHING")
    work.add("ledger_requests", (analyst, request, query, charge.hash), keys=(request,))


def store_answer(work: UnitOfWork, query: str, answer: bytes) -> None:
    """Note what was answered, beside the entry that says so."""
    again = "ON CONFLICT (question) DO UPDATE SET answer = excluded.answer"
    work.add("ledger_questions (question, answer)", (query, answer), keys=(query,), otherwise=again)


def receipt_of(work: UnitOfWork, known: QueryState) -> str:
    """The hash of the entry by which the analyst (None: the owner) first asked, the same for every repeat."""
    return _charge_at(work, known, known.asked).hash


def is_free(t: Transaction, query: str, analyst: str | None, *, edges: str | None = None) -> bool:
    """Whether a query is answered, and the analyst (None: the owner) has paid for it; nobody's own account pays for `edges`."""
    answered = t.run("SELECT 1 FROM ledger_questions WHERE question = ? AND answer IS NOT NULL", query)
    paid = (
        analyst is None
        or edges is not None
        or t.run("SELECT 1 FROM ledger_paid WHERE analyst = ? AND question = ?", analyst, query)
    )
    return bool(answered) and bool(paid)


def stored_answer(work: UnitOfWork, known: QueryState) -> bytes | None:
    """The answer that was given, None before there is one; refused where it is not the one that the entry is about."""
    answer = answer_bytes(known.answer)
    outcomes = entry_chain.outcomes(work.t, known.query) if known.answers else []
    given = [work.seals.check(entry) for entry in outcomes if entry.kind == "answer"]
    if bool(given) == (known.query in work.totals.unanswered):
        work.seals.refuse("The entry of an answer is missing, or is one too many")
    digests = [] if answer is None else [hashlib.sha256(answer).hexdigest()]
    if digests != [entry.body["sha256"] for entry in given]:
        entry_chain.refuse_damaged("A stored answer is not the one that was given.")
    return answer


def answer_bytes(answer: Any) -> bytes | None:
    """A stored answer, whatever it means. SQLite gives text back as text if somebody put it there: we never did."""
    if isinstance(answer, str):
        entry_chain.refuse_damaged("A stored answer is not bytes.")
    return None if answer is None else bytes(answer)
