"""Verification: the books replayed from the first entry on, by somebody who trusts only hashes and arithmetic."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from discreet.accounting.charges import PRICES, Charge
from discreet.accounting.filters import Filter, open_filter
from discreet.errors import BadInput, LedgerDamaged
from discreet.ledger import relation
from discreet.ledger.access import Access
from discreet.ledger.accounts import DATASET, analyst_account
from discreet.ledger.entries import GENESIS, Entry
from discreet.ledger.ledger import Contents, Ledger
from discreet.ledger.releases import fraction, rebuild
from discreet.mechanisms import Mechanism


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
    """Recompute the chain, and from it alone every price, total, payment, freeze, receipt and answer's hash.

    `anchor` is a head noted earlier, "number:hash"; without one a cut-off tail cannot be seen.
    """
    noted = None if anchor is None else _parsed(anchor)
    try:
        contents = ledger.contents()
    except LedgerDamaged as damage:
        return Verification(0, GENESIS, (damage.problem.rstrip(".").lower(),))
    entries = contents.entries
    problems = list(_chain_problems(entries))
    if not problems:  # entries that were changed cannot be replayed
        problems += _Replay().problems(contents)
    if noted is not None and noted[0] > 0 and not any((e.seq, e.hash) == noted for e in entries):
        problems.append("the head that was noted is not in the books: entries are missing or changed")
    return Verification(len(entries), entries[-1].hash if entries else GENESIS, tuple(problems))


def _parsed(anchor: str) -> tuple[int, str]:
    number, colon, noted = anchor.partition(":")
    if not number.isdecimal() or not colon:
        raise BadInput("A noted head is number:hash.", next_step="Give it as it was noted, such as 7:9f86d08…")
    return int(number), noted


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


@dataclass(slots=True)
class _Replay:
    """What the tables must hold if the entries are true."""

    caps: dict[str, Filter] = field(default_factory=dict)
    totals: dict[str, Charge] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)
    questions: set[str] = field(default_factory=set)
    paid: set[tuple[str, str]] = field(default_factory=set)
    requests: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    version: int = 1
    neighbours: str | None = None
    evaluated: set[tuple[str, int]] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    access: Access = field(default_factory=Access)
    priced_before: set[str] = field(default_factory=set)
    """Rényi accounts with charges of the first price list, whose divergences were rounded up in another way."""

    def problems(self, contents: Contents) -> Iterable[str]:
        for entry in contents.entries:
            yield from self._apply(entry)
        accounts = contents.accounts
        if {name: account.filter for name, account in accounts.items()} != self.caps:
            yield "the accounts are not those that were opened"
        if not all(self._adds_up(name, account.total) for name, account in accounts.items()):
            yield "an account's total is not the sum of its charges"
        if {name for name, account in accounts.items() if account.frozen} != self.frozen:
            yield "an account is frozen or free without an entry that says so"
        if set(contents.answers) != self.questions or contents.paid != self.paid:
            yield "the questions that count as paid are not those that were charged"
        if contents.requests != self.requests:
            yield "the requests are not those that were made"
        digests = {
            q: hashlib.sha256(answer).hexdigest() for q, answer in contents.answers.items() if answer is not None
        }
        if digests != self.answers:
            yield "a stored answer is not the one that was given"

    def _apply(self, entry: Entry) -> Iterable[str]:
        body = entry.body
        match entry.kind:
            case "cap":
                cap = open_filter(fraction(body["epsilon"]), fraction(body["delta"]), kind=body["kind"])
                self.caps[body["account"]] = cap
                self.totals[body["account"]] = cap.kept(self.totals.get(body["account"], Charge()))
            case "charge":
                yield from self._charge(entry)
            case "answer":
                self.answers[body["question"]] = body["sha256"]
            case "watch":
                yield from self._watch(entry)
            case relation.KIND:
                if self.neighbours is not None:
                    yield f"entry {entry.seq} names the neighbour relation a second time"
                self.neighbours = body["relation"]
            case "refresh":
                yield from self._refresh(entry)
            case "freeze" | "thaw":
                (self.frozen.add if entry.kind == "freeze" else self.frozen.discard)(body["account"])
            case "key" | "revoke" | "user" | "catalog":  # nothing follows from a catalog's hash
                yield from self.access.apply(entry)
            case _:
                yield f"entry {entry.seq} is of no known kind"

    def _refresh(self, entry: Entry) -> Iterable[str]:
        self.version += 1
        if entry.body["version"] != self.version:
            yield f"entry {entry.seq} begins a data version that is not the next"

    def _charge(self, entry: Entry) -> Iterable[str]:
        body = entry.body
        question, analyst = body["question"], body["analyst"] or ""
        due = [] if question in self.questions else [DATASET]
        if body["analyst"] is not None and (analyst, question) not in self.paid:
            due.append(analyst_account(analyst))
        if body["accounts"] != due:
            yield f"entry {entry.seq} did not charge the accounts that had to pay"
        releases = [rebuild(release) for release in body["releases"]]
        for name in due:
            if name not in self.caps:
                yield f"entry {entry.seq} charged an account that was not open"
                continue
            self.totals[name] = self.totals[name] + self._price(name, releases, body.get("prices", 1))
            if not self.caps[name].allows(self.totals[name]):
                yield f"entry {entry.seq} was granted above a cap"
        self.questions.add(question)
        self.paid.add((analyst, question))
        self.requests[analyst, body["request"]] = (question, entry.hash)

    def _watch(self, entry: Entry) -> Iterable[str]:
        """One bit for each data version, of a threshold that was stored before; the first above or failure is the last."""
        body = entry.body
        question, version = body["question"], body["version"]
        if question not in self.answers:
            yield f"entry {entry.seq} evaluates a watch that has no threshold"
        if version > self.version:
            yield f"entry {entry.seq} evaluates a watch on a data version that was not begun"
        if question in self.ended:
            yield f"entry {entry.seq} evaluates a watch that has ended"
        if "above" in body and (question, version) in self.evaluated:
            yield f"entry {entry.seq} evaluates a watch twice on one data version"
        if body.get("above") or "failed" in body:
            self.ended.add(question)
        self.evaluated.add((question, version))

    def _price(self, account: str, releases: list[Mechanism], prices: int) -> Charge:
        """By the list that the entry was priced by."""
        today = self.caps[account].price(releases)
        if prices == PRICES:
            return today
        if today.renyi is not None:
            self.priced_before.add(account)
        return replace(Charge.at_first_prices(releases), renyi=today.renyi)

    def _adds_up(self, account: str, total: Charge) -> bool:
        replayed = self.totals.get(account)
        if replayed is None or account not in self.priced_before:
            return total == replayed
        covers = all(had >= has for had, has in zip(total.orders, replayed.orders, strict=True))
        return covers and replace(total, renyi=None) == replace(replayed, renyi=None)
