"""The running books: what the chain adds up to, entry by entry, in memory that does not grow with its length.

Whoever writes to the books or verifies them follows the chain with this; there is no other arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from discreet.accounting.charge_units import PRICES, Charge
from discreet.core.loss import Neighbours
from discreet.errors import DiscreetError
from discreet.ledger.accounts import caps, catalog_binding, neighbour_relation, source_binding
from discreet.ledger.accounts.access_entries import Access
from discreet.ledger.accounts.account_rows import Account, is_edge_account, is_shared, new_account, shared_account
from discreet.ledger.chain import entry_clock, seals
from discreet.ledger.chain.entries import GENESIS, Entry
from discreet.ledger.charges import open_runs as runs
from discreet.ledger.charges.open_runs import Run
from discreet.ledger.charges.release_json import mechanism_from_json, mechanism_to_json
from discreet.mechanisms import Mechanism

NAME = "name"
"""The entry of a name that an analyst gave a release."""
PUBLISH = "publish"
"""The entry by which the owner shows a release to all."""
COMPARE = "compare"
"""The entry by which the owner looks at real numbers beside a release."""
LATEST = 20
"""How many of the last paid releases the card shows."""


@dataclass(frozen=True, slots=True)
class ReleaseTotal:
    """How often something was released, and what it cost in all."""

    times: int = 0
    cost: Charge = field(default_factory=Charge)


@dataclass(frozen=True, slots=True)
class QueryCounts:
    """How many queries were asked, and how many of them cost nothing because they were asked before."""

    queries: int = 0
    free: int = 0


@dataclass(frozen=True, slots=True)
class Published:
    """A release that the owner shows to all: the key that it was paid under, and since when."""

    query: str
    time: str


@dataclass(slots=True)
class LedgerTotals:
    """All that follows from the entries up to `head`, but for the queries themselves."""

    head: Entry | None = None
    day: date = date.min
    """The latest day of any entry: caps renew by it, and it does not go back when a clock does."""
    accounts: dict[str, Account] = field(default_factory=dict)
    neighbours: Neighbours | None = None
    version: int = 1
    begun: str | None = None
    """When the data version was begun."""
    formats: dict[int, int] = field(default_factory=dict)
    """In this data version: the number of the last charge in each format. Only the checkpoint has it."""
    asked: dict[str, QueryCounts] = field(default_factory=dict)
    """By analyst; the owner's under no name."""
    repeats: dict[str, int] = field(default_factory=dict)
    """On this day, by analyst: entries that charged nobody."""
    released: dict[tuple[str, ...], ReleaseTotal] = field(default_factory=dict)
    """By the mechanisms of a release, where somebody paid for it."""
    latest: tuple[int, ...] = ()
    """The numbers of the last charges that somebody paid."""
    access: Access = field(default_factory=Access)
    units: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of each protected table that was ever served: whom it protects, and how many rows of one count."""
    served: str | None = None
    """The SHA-256 of the catalog that was opened last."""
    declared: set[str] = field(default_factory=set)
    """Accounts of analysts whom the catalog lists."""
    closed: set[str] = field(default_factory=set)
    """Those whom it listed, and does not any more."""
    source: str | None = None
    """What this data version is read from, as a keyed hash."""
    unanswered: set[str] = field(default_factory=set)
    """Queries that were charged and have no answer: those under way, and those that failed. All others have one."""
    runs: dict[str, Run] = field(default_factory=dict)
    """Those of them that are spent step by step."""
    named: dict[str, dict[str, str]] = field(default_factory=dict)
    """By analyst (the owner's under no name) and by the name that they gave a release: the key that it was paid under."""
    published: dict[str, Published] = field(default_factory=dict)
    """By the names that all find them by."""
    caps: dict[str, int] = field(default_factory=dict)
    """How many entries set a cap, by account: so none can be hidden from who looks for them."""
    watch_entries: dict[str, int] = field(default_factory=dict)
    """How many entries a watch has, by the key that it was paid under."""
    checkpoint: int = 0
    """The number of the entry that the last known checkpoint is about."""

    def fork(self) -> LedgerTotals:
        """A copy that can go on by itself."""
        return replace(
            self,
            accounts=dict(self.accounts),
            formats=dict(self.formats),
            asked=dict(self.asked),
            repeats=dict(self.repeats),
            released=dict(self.released),
            units=dict(self.units),
            declared=set(self.declared),
            closed=set(self.closed),
            unanswered=set(self.unanswered),
            runs=dict(self.runs),
            named={analyst: dict(names) for analyst, names in self.named.items()},
            published=dict(self.published),
            caps=dict(self.caps),
            watch_entries=dict(self.watch_entries),
        )

    def follow(self, entry: Entry) -> list[str]:
        """Go on to the next entry; what is wrong with it. An entry that is not the next one counts for nothing."""
        return self.link_problems(entry) or self.apply_entry(entry)

    def apply_entry(self, entry: Entry) -> list[str]:
        """The same of an entry that is known to be the next."""
        self.head = entry
        self.begun = self.begun or entry.time
        try:
            if (day := entry_clock.day_of(entry.time)) > self.day:
                self.day, self.repeats = day, {}
            return list(self._apply(entry))
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, DiscreetError):
            return [f"entry {entry.seq} cannot be read"]

    def link_problems(self, entry: Entry) -> list[str]:
        """Why an entry is not the next of the chain."""
        last = self.head
        number = last.seq + 1 if last else 1
        if entry.seq != number:
            return [f"entry {number} is missing"]
        problems = [] if entry.intact else [f"entry {number} was changed"]
        if entry.previous != (last.hash if last else GENESIS):
            problems.append(f"entry {number} does not follow the one before")
        if last is not None and entry.time < entry_clock.earliest_after(last):
            problems.append(f"entry {number} is earlier than the one before")
        return problems

    def is_open(self, account: str) -> bool:
        """Whether there is an account under that name which was not closed."""
        return account in self.accounts and account not in self.closed

    def matches(self, account: Account) -> bool:
        """Whether an account is as the entries say: its cap, its state and its total."""
        known = self.accounts.get(account.name)
        same = known is not None and (known.filter, known.frozen) == (account.filter, account.frozen)
        return same and self.sums_match(account)

    def sums_match(self, account: Account) -> bool:
        """Whether an account's totals are the sums of its charges, in its period and before."""
        known = self.accounts.get(account.name)
        if known is None or known.begun != account.begun:
            return False
        return (account.total, account.earlier) == (known.total, known.earlier)

    def _account(self, name: str) -> Account:
        """An account on the day of the last entry."""
        return self.accounts[name].on(self.day)

    def _apply(self, entry: Entry) -> Iterable[str]:
        body = entry.body
        match entry.kind:
            case caps.KIND:
                self._cap(entry)
            case "charge":
                yield from self._charge(entry)
            case "answer" | "name" | "publish" | runs.KIND:
                yield from self._outcome(entry)
            case "watch":
                self.watch_entries[body["question"]] = self.watch_entries.get(body["question"], 0) + 1
            case "catalog" | "compare" | entry_clock.KIND | seals.KIND:
                pass  # nothing here follows from them
            case neighbour_relation.KIND | catalog_binding.UNITS | catalog_binding.SERVED | caps.LIST | caps.CLOSE:
                yield from self._declaration(entry)
            case "refresh" | source_binding.KIND:
                yield from self._data_version(entry)
            case "freeze" | "thaw":
                frozen = self._account(body["account"])
                self.accounts[frozen.name] = replace(frozen, frozen=entry.kind == "freeze")
            case "key" | "revoke" | "user":
                self.access = self.access.fork()
                yield from self.access.apply(entry)
            case _:
                yield f"entry {entry.seq} is of no known kind"

    def _cap(self, entry: Entry) -> None:
        name, cap = entry.body["account"], caps.cap_in(entry)
        known = self._account(name) if name in self.accounts else new_account(name, cap, self.day)
        self.accounts[known.name] = known.with_cap(cap, self.day, counts_all=caps.counts_all(entry))
        self.caps[known.name] = self.caps.get(known.name, 0) + 1
        self.closed.discard(known.name)
        if entry.body["by"] == caps.CATALOG and not is_shared(known.name):
            self.declared.add(known.name)

    def _declaration(self, entry: Entry) -> Iterable[str]:
        """What a catalog said, beside caps."""
        match entry.kind:
            case neighbour_relation.KIND:
                if self.neighbours is not None:
                    yield f"entry {entry.seq} names the neighbour relation a second time"
                self.neighbours = Neighbours(entry.body["relation"])
            case catalog_binding.UNITS:
                yield from self._units(entry)
            case catalog_binding.SERVED:
                self.served = entry.body["sha256"]
            case caps.LIST:
                self.declared.add(self.accounts[entry.body["account"]].name)
            case caps.CLOSE:
                self.closed.add(self.accounts[entry.body["account"]].name)
                self.declared.discard(entry.body["account"])

    def _units(self, entry: Entry) -> Iterable[str]:
        for name, promise in entry.body["tables"].items():
            if name in self.units and self.units[name]["unit"] != promise["unit"]:
                yield f"entry {entry.seq} names another privacy unit for a table"
            self.units[name] = promise

    def _outcome(self, entry: Entry) -> Iterable[str]:
        """A step of a run, an answer, a name for what was answered, or that all may see it."""
        if entry.kind != "answer":
            follow = {runs.KIND: self._step, NAME: self._name, PUBLISH: self._publish}[entry.kind]
            yield from follow(entry)
            return
        if entry.body["question"] not in self.unanswered:
            yield f"entry {entry.seq} answers a question that was not open"
        self.unanswered.discard(entry.body["question"])
        self.runs.pop(entry.body["question"], None)

    def _step(self, entry: Entry) -> Iterable[str]:
        body = entry.body
        run = self.runs.get(body["question"])
        if run is None or body["number"] != run.steps:
            yield f"entry {entry.seq} is not the next step of a run"
            return
        self.runs[body["question"]] = further = run.after_step(int(body["cost"]))
        if further.spent < run.spent or not further.is_within_budget:
            yield f"entry {entry.seq} was drawn beyond what was charged"

    def _data_version(self, entry: Entry) -> Iterable[str]:
        """A new one, or what this one is read from: the first to say so counts."""
        if entry.kind == source_binding.KIND:
            if entry.body["version"] == self.version and self.source is None:
                self.source = entry.body["source"]
            return
        self.version += 1
        self.begun, self.formats, self.source = entry.time, {}, None
        if entry.body["version"] != self.version:
            yield f"entry {entry.seq} begins a data version that is not the next"

    def _charge(self, entry: Entry) -> Iterable[str]:
        body = entry.body
        releases = [mechanism_from_json(release) for release in ([] if "of" in body else body["releases"])]
        if "of" not in body and body["prices"] != PRICES:
            yield f"entry {entry.seq} has prices of another list"
        if "of" in body and body["accounts"]:
            yield f"entry {entry.seq} charged for what it calls a repeat"
        for name in body["accounts"]:
            if name not in self.accounts:
                yield f"entry {entry.seq} charged an account that was not open"
                continue
            account = self._account(name)
            total = account.total + account.filter.price(releases)
            self.accounts[name] = replace(account, total=total)
            if not account.filter.allows(total):
                yield f"entry {entry.seq} was granted above a cap"
        if any(is_edge_account(name) and name != shared_account(body.get("edges")) for name in body["accounts"]) or (
            "edges" in body and not all(map(is_edge_account, body["accounts"]))
        ):
            yield f"entry {entry.seq} charged what is about edges to an account of people, or the other way round"
        if any(map(is_shared, body["accounts"])):
            self.unanswered.add(body["question"])
            for budget in runs.budgets_among(releases):
                self.runs[body["question"]] = Run(mechanism_to_json(budget))
        self._count(entry, releases)

    def _name(self, entry: Entry) -> Iterable[str]:
        body = entry.body
        names = self.named.setdefault(body["analyst"] or "", {})
        if names.setdefault(body["name"], body["question"]) != body["question"]:
            yield f"entry {entry.seq} gives a name that another release has"

    def _publish(self, entry: Entry) -> Iterable[str]:
        body = entry.body
        if not any(body["question"] in names.values() for names in self.named.values()):
            yield f"entry {entry.seq} publishes what is no release"
        known = self.published.setdefault(body["name"], Published(body["question"], entry.time))
        if known.query != body["question"]:
            yield f"entry {entry.seq} publishes under a name that another release has"

    def _count(self, entry: Entry, releases: list[Mechanism]) -> None:
        """What the card and the bill tell."""
        body, free = entry.body, not entry.body["accounts"]
        self.formats[body["format"]] = entry.seq
        asked = self.asked.get(body["analyst"] or "", QueryCounts())
        self.asked[body["analyst"] or ""] = QueryCounts(asked.queries + 1, asked.free + free)
        if free:
            self.repeats[body["analyst"] or ""] = self.repeats.get(body["analyst"] or "", 0) + 1
            return
        self.latest = (*self.latest, entry.seq)[-LATEST:]
        if "edges" not in body:  # what was spent on edges is told by their own account
            names = tuple(sorted({release["mechanism"] for release in body["releases"]}))
            known = self.released.get(names, ReleaseTotal())
            self.released[names] = ReleaseTotal(known.times + 1, known.cost + Charge.of(releases))
