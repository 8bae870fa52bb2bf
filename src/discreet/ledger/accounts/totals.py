"""Ledger totals: what the entries of the chain add up to, in memory that does not grow with the number of entries.

Writing and verification use the same arithmetic: this module.
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
"""The entry by which the data owner publishes a release."""
COMPARE = "compare"
"""The entry by which the data owner compares a release with the exact numbers."""
LATEST = 20
"""Number of recent charges that the privacy card shows."""


@dataclass(frozen=True, slots=True)
class ReleaseTotal:
    """Number of releases and their total cost."""

    times: int = 0
    cost: Charge = field(default_factory=Charge)


@dataclass(frozen=True, slots=True)
class QueryCounts:
    """Number of queries, and how many of them were free repeats."""

    queries: int = 0
    free: int = 0


@dataclass(frozen=True, slots=True)
class Published:
    """A published release: the key of its query, and the time of publication."""

    query: str
    time: str


@dataclass(slots=True)
class LedgerTotals:
    """Everything that follows from the entries up to `head`, except the queries themselves."""

    head: Entry | None = None
    day: date = date.min
    """Latest day of any entry. Caps renew by it; it never goes back, even if a clock does."""
    accounts: dict[str, Account] = field(default_factory=dict)
    neighbours: Neighbours | None = None
    version: int = 1
    begun: str | None = None
    """Time when the current data version was created."""
    formats: dict[int, int] = field(default_factory=dict)
    """Last charge (entry number) in each format within this data version. Only the checkpoint uses it."""
    asked: dict[str, QueryCounts] = field(default_factory=dict)
    """By analyst; the data owner has the empty name."""
    repeats: dict[str, int] = field(default_factory=dict)
    """Number of free repeats on this day, by analyst."""
    released: dict[tuple[str, ...], ReleaseTotal] = field(default_factory=dict)
    """By the mechanisms of a release; free repeats do not count."""
    latest: tuple[int, ...] = ()
    """Entry numbers of the last charges that were not free."""
    access: Access = field(default_factory=Access)
    units: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By protected table: its privacy unit and row bound."""
    served: str | None = None
    """SHA-256 of the catalog that was opened last."""
    declared: set[str] = field(default_factory=set)
    """Accounts of the analysts in the catalog."""
    closed: set[str] = field(default_factory=set)
    """Accounts of analysts who are no longer in the catalog."""
    source: str | None = None
    """Source of this data version, as a keyed hash."""
    unanswered: set[str] = field(default_factory=set)
    """Charged queries without an answer: running or failed. Every other charged query has one."""
    runs: dict[str, Run] = field(default_factory=dict)
    """Unanswered runs, whose budget is spent step by step."""
    named: dict[str, dict[str, str]] = field(default_factory=dict)
    """Query key by analyst (the data owner has the empty name) and by the name they gave the release."""
    published: dict[str, Published] = field(default_factory=dict)
    """By public name."""
    caps: dict[str, int] = field(default_factory=dict)
    """Number of cap entries by account, so that a hidden entry is noticed."""
    watch_entries: dict[str, int] = field(default_factory=dict)
    """Number of entries of each watch, by query key."""
    checkpoint: int = 0
    """Number of the entry of the last known checkpoint."""

    def fork(self) -> LedgerTotals:
        """Return an independent copy."""
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
        """Check that an entry is the next one, apply it and return its problems. Any other entry is not applied."""
        return self.link_problems(entry) or self.apply_entry(entry)

    def apply_entry(self, entry: Entry) -> list[str]:
        """Apply an entry that is known to be the next one and return its problems."""
        self.head = entry
        self.begun = self.begun or entry.time
        try:
            if (day := entry_clock.day_of(entry.time)) > self.day:
                self.day, self.repeats = day, {}
            return list(self._apply(entry))
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, DiscreetError):
            return [f"entry {entry.seq} cannot be read"]

    def link_problems(self, entry: Entry) -> list[str]:
        """Return why an entry is not the next one of the chain."""
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
        """Return whether an account exists and was not closed."""
        return account in self.accounts and account not in self.closed

    def matches(self, account: Account) -> bool:
        """Return whether cap, state and totals of an account are those that the entries give."""
        known = self.accounts.get(account.name)
        same = known is not None and (known.filter, known.frozen) == (account.filter, account.frozen)
        return same and self.sums_match(account)

    def sums_match(self, account: Account) -> bool:
        """Return whether an account's totals are the sums of its charges, in the current period and before."""
        known = self.accounts.get(account.name)
        if known is None or known.begun != account.begun:
            return False
        return (account.total, account.earlier) == (known.total, known.earlier)

    def _account(self, name: str) -> Account:
        """Return an account on the day of the last entry."""
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
                pass  # these entries change no total
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
        """Apply what a catalog declares besides caps."""
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
        """Apply a step of a run, an answer, a name of a release, or a publication."""
        if entry.kind != "answer":
            follow = {runs.KIND: self._step, NAME: self._name, PUBLISH: self._publish}[entry.kind]
            yield from follow(entry)
            return
        if entry.body["question"] not in self.unanswered:
            yield f"entry {entry.seq} answers a query that was not open"
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
            yield f"entry {entry.seq} costs more than was charged"

    def _data_version(self, entry: Entry) -> Iterable[str]:
        """Apply a new data version, or the source of the current one: the first source counts."""
        if entry.kind == source_binding.KIND:
            if entry.body["version"] == self.version and self.source is None:
                self.source = entry.body["source"]
            return
        self.version += 1
        self.begun, self.formats, self.source = entry.time, {}, None
        if entry.body["version"] != self.version:
            yield f"entry {entry.seq} creates a data version that is not the next"

    def _charge(self, entry: Entry) -> Iterable[str]:
        body = entry.body
        releases = [mechanism_from_json(release) for release in ([] if "of" in body else body["releases"])]
        if "of" not in body and body["prices"] != PRICES:
            yield f"entry {entry.seq} uses another price list"
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
            yield f"entry {entry.seq} charged a query about edges to an account of persons, or the reverse"
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
            yield f"entry {entry.seq} publishes a query that has no release"
        known = self.published.setdefault(body["name"], Published(body["question"], entry.time))
        if known.query != body["question"]:
            yield f"entry {entry.seq} publishes under a name that another release has"

    def _count(self, entry: Entry, releases: list[Mechanism]) -> None:
        """Update the numbers that the privacy card and the list of charges show."""
        body, free = entry.body, not entry.body["accounts"]
        self.formats[body["format"]] = entry.seq
        asked = self.asked.get(body["analyst"] or "", QueryCounts())
        self.asked[body["analyst"] or ""] = QueryCounts(asked.queries + 1, asked.free + free)
        if free:
            self.repeats[body["analyst"] or ""] = self.repeats.get(body["analyst"] or "", 0) + 1
            return
        self.latest = (*self.latest, entry.seq)[-LATEST:]
        if "edges" not in body:  # charges about edges are shown by their own account
            names = tuple(sorted({release["mechanism"] for release in body["releases"]}))
            known = self.released.get(names, ReleaseTotal())
            self.released[names] = ReleaseTotal(known.times + 1, known.cost + Charge.of(releases))
