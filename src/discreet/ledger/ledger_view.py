"""Read access to a ledger: accounts, queries and the chain."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date, datetime

from discreet.core.loss import Neighbours
from discreet.errors import NotAnswered, StoreUnavailable
from discreet.ledger.accounts.account_rows import DATASET, Account, analyst_account, is_edge_account
from discreet.ledger.accounts.totals import LedgerTotals
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.anchor import Anchor
from discreet.ledger.chain.entries import Entry
from discreet.ledger.chain.entry_clock import Clock
from discreet.ledger.charges import release_names, run_steps, stored_queries, watch_rows
from discreet.ledger.charges.ledger_writer import Writer
from discreet.ledger.charges.requests import Request, Reservation
from discreet.ledger.charges.unit_of_work import UnitOfWork
from discreet.ledger.charges.watch_rows import WatchState
from discreet.store import Store, unavailable

_PULSE_SECONDS = 1.0


class LedgerView:
    """Read access to the ledger of one dataset. Accounts, charges and single entries are checked against the seals."""

    def __init__(self, store: Store, *, anchor: Anchor, secret: bytes | None, now: Callable[[], datetime]) -> None:
        self._store, self._clock = store, Clock(now)
        self.writer = Writer(store, anchor=anchor, secret=secret, clock=self._clock)
        self._pulse = (float("-inf"), True)

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def copy_to(self, path: str) -> None:
        """Copy the ledger at one moment to a new file. Later charges are not in the copy."""
        self._store.copy_to(path)

    def name(self) -> str:
        """Return the identity of this ledger, whatever its path: the hash of its first entry, which is salted.

        Empty for an empty ledger.
        """
        with self._store.reading() as t:
            first = entry_chain.entry_at(t, 1)
        return self.writer.seals.check(first).hash if first else ""

    def neighbours(self) -> Neighbours | None:
        """Return the neighbour relation; `None` if none is recorded yet."""
        return self.totals().neighbours

    def account(self, analyst: str | None = None) -> Account:
        """Return the account of the dataset or of an analyst."""
        with self.writer.reading() as work:
            return work.account(DATASET if analyst is None else analyst_account(analyst))

    def accounts(self, *, analyst: str | None = None) -> list[Account]:
        """Return the dataset's account, then those of edges, then the analyst's or all analysts'."""
        with self.writer.reading() as work:
            of_edges = filter(is_edge_account, work.totals.accounts)
            rows = work.accounts(*(() if analyst is None else (DATASET, *of_edges, analyst_account(analyst))))
        return sorted(
            rows, key=lambda account: (account.name != DATASET, not is_edge_account(account.name), account.name)
        )

    # Data versions

    def data_version(self) -> int:
        """Return the number of the data version: 1, plus one for each refresh."""
        return self.totals().version

    def data_day(self) -> date:
        """Return the day when the data version was created, which is the value of CURRENT_DATE in its queries."""
        begun = self.totals().begun
        return self._clock.now().date() if begun is None else datetime.fromisoformat(begun).date()

    # Queries and watches

    def would_be_free(self, request: Request) -> bool:
        """Return whether a query is free for its analyst: it is answered, and charged to them."""
        with self._store.reading() as t:
            return stored_queries.is_free(t, request.key, request.analyst, edges=request.edges)

    def would_charge(self, request: Request) -> dict[str, bool]:
        """Return the accounts that a query would charge, each with whether its cap allows it now. Charges nothing."""
        with self.writer.reading() as work:
            state = stored_queries.query_state(work, request.key, request.analyst)
            unpaid = stored_queries.unpaid_accounts(work, state, edges=request.edges)
            known = {account.name: account for account in work.accounts(*unpaid)} if unpaid else {}
            return {name: name in known and known[name].allows(request.releases) for name in unpaid}

    def stored_reservation(self, request: Request) -> Reservation | None:
        """Return the stored answer of a query that was charged to the analyst, without recording a repeat."""
        with self.writer.reading() as work:
            work.check_open(request.analyst)
            state = stored_queries.query_state(work, request.key, request.analyst)
            unpaid = stored_queries.unpaid_accounts(work, state, edges=request.edges)
            is_theirs = (
                not unpaid and state.asked is not None
            )  # for the data owner nothing is unpaid once any analyst was charged
            answer = stored_queries.stored_answer(work, state) if is_theirs else None
            if answer is None:
                return None
            return Reservation(request, stored_queries.receipt_of(work, state), (), answer)

    def watch_state(self, query: str, *, analyst: str | None) -> WatchState:
        """Return the state of a watch by its query key."""
        with self.writer.reading() as work:
            work.check_open(analyst)
            return watch_rows.watch_state(work, query)

    def check_open(self, analyst: str | None) -> None:
        """Refuse an analyst whose account is frozen, closed or missing."""
        with self.writer.reading() as work:
            work.check_open(analyst)

    def steps(self, reservation: Reservation) -> list[bytes]:
        """Return the stored steps of a run, in order."""
        with self.writer.reading() as work:
            work.check_open(reservation.request.analyst)
            return run_steps.load_steps(work, reservation.request.key)

    def named_releases(self, *, analyst: str | None) -> list[str]:
        """Return the names of stored releases: the analyst's own, or all for the data owner, and the published ones."""
        with self.writer.reading() as work:
            work.check_open(analyst)
            named = release_names.names_of(work, analyst).items()
            stored = {name for name, query in named if stored_queries.is_free(work.t, query, analyst)}
            return sorted(stored | release_names.published(work).keys())

    def listed_releases(self, *, analyst: str | None) -> list[release_names.NamedRelease]:
        """Return the named releases, each with its author if the analyst may know it, and whether it is published."""
        with self.writer.reading() as work:
            work.check_open(analyst)
            return [
                each
                for each in release_names.listed(work, analyst)
                if each.is_published or stored_queries.is_free(work.t, each.query, analyst)
            ]

    def named_answer(self, name: str, *, analyst: str | None) -> bytes:
        """Return the release that an analyst named, or else the published one.

        For the data owner it is their own, or else that of the first analyst by name.
        """
        with self.writer.reading() as work:
            work.check_open(analyst)
            query = release_names.names_of(work, analyst).get(name)
            known = None if query is None else stored_queries.query_state(work, query, analyst)
            is_theirs = known is not None and not (analyst and stored_queries.unpaid_accounts(work, known))
            answer = stored_queries.stored_answer(work, known) if known is not None and is_theirs else None
            return _published_answer(work, name) if answer is None else answer

    def visible_releases(self, *, analyst: str | None) -> dict[str, str]:
        """Return names by key of the finished releases that are published or charged to the analyst, without proof.

        For the data owner these are all releases.
        """
        with self.writer.reading() as work:
            work.check_open(analyst)
            seen = release_names.visible(work, analyst)
            published = set(release_names.published(work).values())
            return {
                key: name
                for key, name in seen.items()
                if stored_queries.is_free(work.t, key, None if key in published else analyst)
            }

    def visible_answer(self, query: str, *, analyst: str | None) -> bytes:
        """Return a finished release by its key, if it is published or charged to the analyst, or for the data owner."""
        with self.writer.reading() as work:
            work.check_open(analyst)
            payer = None if query in release_names.published(work).values() else analyst
            known = stored_queries.query_state(work, query, payer)
            is_theirs = payer is None or not stored_queries.unpaid_accounts(work, known)
            answer = stored_queries.stored_answer(work, known) if is_theirs else None
            return _needed(answer)

    def named_run(self, name: str, *, analyst: str | None) -> tuple[bytes, str]:
        """Return a release by its name and the text of its query, for the data owner.

        An `analyst` of `None` stands for the data owner or any analyst.
        """
        with self.writer.reading() as work:
            known = stored_queries.query_state(work, release_names.key_of(work, name, analyst), None)
            return _needed(stored_queries.stored_answer(work, known)), stored_queries.original_text(work, known)

    def published_answer(self, name: str) -> bytes:
        """Return the release that is published under a name."""
        with self.writer.reading() as work:
            return _published_answer(work, name)

    def check_name(self, request: Request) -> None:
        """Refuse a name that another release of this analyst has. Charges and writes nothing."""
        with self.writer.reading() as work:
            release_names.check_name(work, request)

    # The chain

    def check_writable(self) -> None:
        """Refuse if nothing can be committed now: tested with a tiny write at most once a second."""
        tried, fine = self._pulse
        if time.monotonic() - tried >= _PULSE_SECONDS:
            try:
                self.writer.beat()
                fine = True
            except StoreUnavailable:
                fine = False
            self._pulse = (time.monotonic(), fine)
        if not fine:
            raise unavailable()

    def head(self) -> Entry | None:
        """Return the last entry. Its number and hash, stored elsewhere, make a later truncation visible."""
        with self._store.reading() as t:
            return entry_chain.last_entry(t)

    @property
    def known_head(self) -> Entry | None:
        """The last entry that this process has read, without reading the database."""
        known = self.writer.known
        return None if known is None else known.head

    def entry(self, seq: int) -> Entry | None:
        """Return an entry by its number; `None` if the number is out of range."""
        with self.writer.reading() as work:
            head = work.totals.head
            return _entry(work, seq) if head is not None and 1 <= seq <= head.seq else None

    def latest(self) -> tuple[LedgerTotals, list[Account], list[Entry]]:
        """Return the totals, the shared accounts and the last charges that were not free, all at one moment."""
        with self.writer.reading() as work:
            paid = [_entry(work, number) for number in reversed(work.totals.latest)]
            shared = [DATASET, *sorted(filter(is_edge_account, work.totals.accounts))]
            return work.totals, [work.account(name) for name in shared], paid

    def history(self, *, last: int | None = None, before: int | None = None) -> list[Entry]:
        """Return all entries in order, or the last ones, or the last before a number. They are not checked."""
        with self._store.reading() as t:
            if last is None or last < 0:
                return list(entry_chain.entries_after(t, 0))
            return entry_chain.last_entries(t, last, before=before)

    def charges(
        self, *, analyst: str | None = None, before: int | None = None, limit: int
    ) -> list[tuple[Entry, Entry]]:
        """Return the last `limit` charges before a number, newest first, each with the entry that has its text."""
        with self.writer.reading() as work:
            charges = entry_chain.charges_before(work.t, before, analyst=analyst, limit=limit)
            return [(work.seals.check(entry), stored_queries.entry_with_text(work, entry)) for entry in charges]

    def charges_with(self, receipt: str) -> list[Entry]:
        """Return the charge of a receipt, if it exists."""
        with self.writer.reading() as work:
            return [work.seals.check(entry) for entry in entry_chain.with_receipt(work.t, receipt)]

    def totals(self) -> LedgerTotals:
        """Return the totals of the chain. The caller must not change them."""
        with self.writer.reading() as work:
            return work.totals


def _entry(work: UnitOfWork, seq: int) -> Entry:
    """Return an entry that must exist."""
    entry = entry_chain.entry_at(work.t, seq)
    return work.seals.refuse(f"Entry {seq} is missing") if entry is None else work.seals.check(entry)


def _published_answer(work: UnitOfWork, name: str) -> bytes:
    query = release_names.published(work).get(name)
    known = None if query is None else stored_queries.query_state(work, query, None)
    return _needed(None if known is None else stored_queries.stored_answer(work, known))


def _needed(answer: bytes | None) -> bytes:
    if answer is None:
        raise NotAnswered(
            "This release does not exist, or it was not charged to you.", next_step="Check its name, or run its query."
        )
    return answer
