"""Check the query tables against the entries: each entry has its rows, and there are no others."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

from discreet.errors import LedgerDamaged
from discreet.ledger.accounts.account_rows import analyst_account, shared_account
from discreet.ledger.accounts.totals import LedgerTotals
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.entries import Entry
from discreet.ledger.chain.seals import Seals
from discreet.ledger.charges import open_runs, run_steps
from discreet.ledger.charges.stored_queries import answer_bytes
from discreet.store import Transaction

_NOT_CHARGED = "the table of charged queries does not match the entries"
_NOT_MADE = "the table of requests does not match the entries"
_NOT_DRAWN = "a stored step does not match its entry"
_NOT_GIVEN = "a stored answer does not match its entry"


class Tables:
    """Look up the rows of each entry, and count them."""

    def __init__(self, t: Transaction) -> None:
        self._t = t
        self._counted: Counter[str] = Counter()

    def problems(self, entry: Entry, totals: LedgerTotals) -> Iterable[str]:
        """Return the problems with the rows of one entry; `totals` are those after it."""
        match entry.kind:
            case "charge":
                return self._charge(entry)
            case "answer":
                return self._answer(entry)
            case open_runs.KIND:
                return self._step(entry)
            case "watch":
                return self._watch(entry, totals.version)
        return ()

    def surplus(self, totals: LedgerTotals, seals: Seals) -> Iterable[str]:
        """Yield problems if there are rows without an entry, once all entries were looked up.

        Pending steps have a seal instead of an entry.
        """
        for query in totals.runs:
            try:
                pending = sum(1 for _ in run_steps.pending_steps(self._t, seals, totals, query))
            except LedgerDamaged:
                pending = 0
            self._counted["COUNT(*) FROM ledger_steps"] += pending
        for what, problem in (
            ("COUNT(*) FROM ledger_questions", _NOT_CHARGED),
            ("COUNT(*) FROM ledger_paid", _NOT_CHARGED),
            ("COUNT(*) FROM ledger_requests", _NOT_MADE),
            ("COUNT(answer) FROM ledger_questions", _NOT_GIVEN),
            ("COUNT(*) FROM ledger_steps", _NOT_DRAWN),
        ):
            if int(self._t.run(f"SELECT {what}")[0][0]) != self._counted[what]:
                yield problem

    def _charge(self, entry: Entry) -> Iterable[str]:
        body, seq = entry.body, entry.seq
        query, analyst = body["question"], body["analyst"] or ""
        dataset = self._first("SELECT charged FROM ledger_questions WHERE question = ?", query)
        own = self._first("SELECT charged FROM ledger_paid WHERE analyst = ? AND question = ?", analyst, query)
        if dataset is None or own is None or dataset > seq or own > seq:
            yield _NOT_CHARGED
        due = [shared_account(body.get("edges"))] if dataset == seq else []
        if body["analyst"] is not None and own == seq and "edges" not in body:
            due.append(analyst_account(analyst))
        if body["accounts"] != due:
            yield f"entry {seq} did not charge the right accounts"
        if "of" in body and not self._has_words(body["of"], query):
            yield f"entry {seq} repeats a query that was not asked"
        made = self._t.run(
            "SELECT question, receipt FROM ledger_requests WHERE analyst = ? AND request = ?", analyst, body["request"]
        )
        if [tuple(row) for row in made] != [(query, entry.hash)]:
            yield _NOT_MADE
        self._counted["COUNT(*) FROM ledger_questions"] += dataset == seq
        self._counted["COUNT(*) FROM ledger_paid"] += own == seq
        self._counted["COUNT(*) FROM ledger_requests"] += 1

    def _has_words(self, number: Any, query: str) -> bool:
        """Return whether an entry is a charge with the text of a query."""
        first = entry_chain.entry_at(self._t, number) if isinstance(number, int) else None
        return (
            first is not None and first.kind == "charge" and first.body["question"] == query and "label" in first.body
        )

    def _answer(self, entry: Entry) -> Iterable[str]:
        try:
            answer = answer_bytes(
                self._first("SELECT answer FROM ledger_questions WHERE question = ?", entry.body["question"])
            )
        except LedgerDamaged:
            answer = None
        if answer is None or hashlib.sha256(answer).hexdigest() != entry.body["sha256"]:
            yield _NOT_GIVEN
        self._counted["COUNT(answer) FROM ledger_questions"] += 1

    def _step(self, entry: Entry) -> Iterable[str]:
        query, number = entry.body["question"], entry.body["number"]
        rows = self._t.run("SELECT body, written FROM ledger_steps WHERE question = ? AND number = ?", query, number)
        is_there = len(rows) == 1 and not isinstance(rows[0][0], str) and rows[0][1] == entry.seq
        if not is_there or not run_steps.is_about(entry, query, number, bytes(rows[0][0])):
            yield _NOT_DRAWN
        self._counted["COUNT(*) FROM ledger_steps"] += 1

    def _watch(self, entry: Entry, version: int) -> Iterable[str]:
        """Check a watch: one bit for each data version, after its threshold and up to the first `above` or failure."""
        body = entry.body
        earlier = [outcome for outcome in entry_chain.outcomes(self._t, body["question"]) if outcome.seq < entry.seq]
        bits = [outcome.body for outcome in earlier if outcome.kind == "watch"]
        if len(bits) == len(earlier):
            yield f"entry {entry.seq} evaluates a watch that has no threshold"
        if body["version"] > version:
            yield f"entry {entry.seq} evaluates a watch on a data version that does not exist"
        if any(bit.get("above") or "failed" in bit for bit in bits):
            yield f"entry {entry.seq} evaluates a watch that has ended"
        if "above" in body and any(bit["version"] == body["version"] for bit in bits):
            yield f"entry {entry.seq} evaluates a watch twice on one data version"

    def _first(self, sql: str, *values: object) -> Any:
        rows = self._t.run(sql, *values)
        return rows[0][0] if rows else None
