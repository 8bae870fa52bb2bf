"""Verification: the books read from the first entry on, by somebody who trusts only the hashes and the arithmetic."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from discreet.accounting.filters import Charge, Filter, open_filter
from discreet.ledger.entries import GENESIS, Entry
from discreet.ledger.ledger import Ledger
from discreet.ledger.releases import fraction, rebuild


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found. Problems name entries by number and carry nothing else."""

    entries: int
    head: str
    problems: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not self.problems


def verify(ledger: Ledger, *, anchor: str | None = None) -> Verification:
    """Recompute the chain, every price, every account's total and every answer's hash.

    `anchor` is a head noted earlier, "number:hash"; without one a cut-off tail cannot be seen.
    """
    entries = ledger.history()
    problems = list(_chain_problems(entries))
    if not problems:  # entries that were changed cannot be priced again
        problems += _book_problems(ledger, entries)
    head = entries[-1].hash if entries else GENESIS
    if anchor is not None:
        seq, _, noted = anchor.partition(":")
        if not any(entry.seq == int(seq) and entry.hash == noted for entry in entries):
            problems.append("the head that was noted is not in the books: entries are missing or changed")
    return Verification(len(entries), head, tuple(problems))


def _chain_problems(entries: list[Entry]) -> Iterable[str]:
    previous: Entry | None = None
    for number, entry in enumerate(entries, start=1):
        if entry.seq != number:
            yield f"entry {number} is missing"
            return
        if not entry.intact:
            yield f"entry {number} was changed"
        if entry.previous != (previous.hash if previous else GENESIS):
            yield f"entry {number} does not follow the one before"
        if previous is not None and entry.time < previous.time:
            yield f"entry {number} is earlier than the one before"
        previous = entry


def _book_problems(ledger: Ledger, entries: list[Entry]) -> Iterable[str]:
    yield from _account_problems(ledger, entries)
    questions = {entry.body["question"] for entry in entries if entry.kind == "charge"}
    given = {entry.body["question"]: entry.body["sha256"] for entry in entries if entry.kind == "answer"}
    stored = ledger.answers()
    if set(stored) != questions:
        yield "the questions are not those that were charged"
    for question, answer in stored.items():
        digest = None if answer is None else hashlib.sha256(answer).hexdigest()
        if digest != given.get(question):
            yield "a stored answer is not the one that was given"


def _account_problems(ledger: Ledger, entries: list[Entry]) -> Iterable[str]:
    """Every charge is priced again from its releases and held against the cap in force when it was made."""
    caps: dict[str, Filter] = {}
    totals: dict[str, Charge] = {}
    for entry in entries:
        if entry.kind == "cap":
            name = entry.body["account"]
            caps[name] = open_filter(
                fraction(entry.body["epsilon"]), fraction(entry.body["delta"]), kind=entry.body["kind"]
            )
            totals.setdefault(name, Charge())
        elif entry.kind == "charge":
            price = Charge.of([rebuild(release) for release in entry.body["releases"]])
            for name in entry.body["accounts"]:
                totals[name] = totals.get(name, Charge()) + price
                if name not in caps or not caps[name].allows(totals[name]):
                    yield f"entry {entry.seq} was granted above a cap"
    accounts = ledger.accounts()
    if {account.name: account.filter for account in accounts} != caps:
        yield "the accounts are not those that were opened"
    if any(account.total != totals.get(account.name) for account in accounts):
        yield "an account's total is not the sum of its charges"
