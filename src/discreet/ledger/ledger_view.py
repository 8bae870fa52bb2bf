"""The books as they can be looked at: accounts, queries, the chain. Nothing here changes them."""

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
    """What the books of one dataset say. What is told of accounts, charges and single entries was held against the seals."""

    def __init__(self, store: Store, *, anchor: Anchor, secret: bytes | None, now: Callable[[], datetime]) -> None:
        self._store, self._clock = store, Clock(now)
        self.writer = Writer(store, anchor=anchor, secret=secret, clock=self._clock)
        self._pulse = (float("-inf"), True)

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def copy_to(self, place: str) -> None:
        """A backup: the books at one moment, in a new file. It is older than what is granted from now on."""
        self._store.copy_to(place)

    def name(self) -> str:
        """What tells these books from all others, wherever they are and however that is spelt: the hash of their first entry, which is
        salted. Empty while nothing is in them.
        """
        with self._store.reading() as t:
            first = entry_chain.entry_at(t, 1)
        return self.writer.seals.check(first).hash if first else ""

    def neighbours(self) -> Neighbours | None:
        """The relation of the books; None in those that nobody opened with one."""
        return self.totals().neighbours

    def account(self, analyst: str | None = None) -> Account:
        """The dataset's account, or an analyst's."""
        with self.writer.reading() as work:
            return work.account(DATASET if analyst is None else analyst_account(analyst))

    def accounts(self, *, analyst: str | None = None) -> list[Account]:
        """The dataset's account first, then those of edges, then the analyst's, or all there are."""
        with self.writer.reading() as work:
            of_edges = filter(is_edge_account, work.totals.accounts)
            rows = work.accounts(*(() if analyst is None else (DATASET, *of_edges, analyst_account(analyst))))
        return sorted(
            rows, key=lambda account: (account.name != DATASET, not is_edge_account(account.name), account.name)
        )

    # Data versions

    def data_version(self) -> int:
        """The number of the data that queries are asked of: 1, and one more for each refresh."""
        return self.totals().version

    def data_day(self) -> date:
        """The day that the data version was begun: what CURRENT_DATE means, the same for as long as the version lasts."""
        begun = self.totals().begun
        return self._clock.now().date() if begun is None else datetime.fromisoformat(begun).date()

    # Queries and watches

    def would_be_free(self, request: Request) -> bool:
        """Whether a query would cost its asker nothing: it is answered, and they have paid for it."""
        with self._store.reading() as t:
            return stored_queries.is_free(t, request.key, request.analyst, edges=request.edges)

    def would_charge(self, request: Request) -> dict[str, bool]:
        """The accounts that have not paid for a query yet, each with whether its cap allows it now. Charges nothing."""
        with self.writer.reading() as work:
            state = stored_queries.query_state(work, request.key, request.analyst)
            unpaid = stored_queries.unpaid_accounts(work, state, edges=request.edges)
            known = {account.name: account for account in work.accounts(*unpaid)} if unpaid else {}
            return {name: name in known and known[name].allows(request.releases) for name in unpaid}

    def stored_reservation(self, request: Request) -> Reservation | None:
        """What was answered to an asker who has paid for it, looked up and not asked again; None where there is nothing."""
        with self.writer.reading() as work:
            work.check_open(request.analyst)
            state = stored_queries.query_state(work, request.key, request.analyst)
            unpaid = stored_queries.unpaid_accounts(work, state, edges=request.edges)
            is_theirs = not unpaid and state.asked is not None  # an owner pays nothing for what others paid for
            answer = stored_queries.stored_answer(work, state) if is_theirs else None
            if answer is None:
                return None
            return Reservation(request, stored_queries.receipt_of(work, state), (), answer)

    def watch_state(self, query: str, *, analyst: str | None) -> WatchState:
        """What is known of a watch, by the key that it was paid under."""
        with self.writer.reading() as work:
            work.check_open(analyst)
            return watch_rows.watch_state(work, query)

    def check_open(self, analyst: str | None) -> None:
        """Refuse an analyst whose account is frozen: nothing is replayed for them."""
        with self.writer.reading() as work:
            work.check_open(analyst)

    def steps(self, reservation: Reservation) -> list[bytes]:
        """What a run has drawn so far, in order."""
        with self.writer.reading() as work:
            work.check_open(reservation.request.analyst)
            return run_steps.load_steps(work, reservation.request.key)

    def named_releases(self, *, analyst: str | None) -> list[str]:
        """The names of releases that were stored: those that an analyst gave, or all for the owner; and what is published."""
        with self.writer.reading() as work:
            work.check_open(analyst)
            named = release_names.names_of(work, analyst).items()
            stored = {name for name, query in named if stored_queries.is_free(work.t, query, analyst)}
            return sorted(stored | release_names.published(work).keys())

    def listed_releases(self, *, analyst: str | None) -> list[release_names.NamedRelease]:
        """The same names, each with who gave it, as far as that is theirs to know, and whether all see it."""
        with self.writer.reading() as work:
            work.check_open(analyst)
            return [
                each
                for each in release_names.listed(work, analyst)
                if each.is_published or stored_queries.is_free(work.t, each.query, analyst)
            ]

    def named_answer(self, name: str, *, analyst: str | None) -> bytes:
        """What was stored under a name that an analyst gave; for the owner their own, or else that of the first analyst by name. Else what is published."""
        with self.writer.reading() as work:
            work.check_open(analyst)
            query = release_names.names_of(work, analyst).get(name)
            known = None if query is None else stored_queries.query_state(work, query, analyst)
            is_theirs = known is not None and not (analyst and stored_queries.unpaid_accounts(work, known))
            answer = stored_queries.stored_answer(work, known) if known is not None and is_theirs else None
            return _published_answer(work, name) if answer is None else answer

    def visible_releases(self, *, analyst: str | None) -> dict[str, str]:
        """The keys of finished releases that an analyst has paid for or that are published, all for the owner, each with a name: nothing is proved yet."""
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
        """What was stored for the key of a finished release, if the analyst has paid for it, it is published, or they are the owner."""
        with self.writer.reading() as work:
            work.check_open(analyst)
            payer = None if query in release_names.published(work).values() else analyst
            known = stored_queries.query_state(work, query, payer)
            is_theirs = payer is None or not stored_queries.unpaid_accounts(work, known)
            answer = stored_queries.stored_answer(work, known) if is_theirs else None
            return _needed(answer)

    def named_run(self, name: str, *, analyst: str | None) -> tuple[bytes, str]:
        """What was stored under a name that an analyst gave (None: anybody, or the owner), and in which words it was asked for: for the owner."""
        with self.writer.reading() as work:
            known = stored_queries.query_state(work, release_names.key_of(work, name, analyst), None)
            return _needed(stored_queries.stored_answer(work, known)), stored_queries.original_text(work, known)

    def published_answer(self, name: str) -> bytes:
        """What the owner published under a name, for everybody."""
        with self.writer.reading() as work:
            return _published_answer(work, name)

    def check_name(self, request: Request) -> None:
        """Refuse a name that another release of this analyst has; nothing is charged or written."""
        with self.writer.reading() as work:
            release_names.check_name(work, request)

    # The chain

    def check_writable(self) -> None:
        """Refuse when nothing can be committed just now: tried with a tiny write, at most once a second."""
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
        """The last entry: its number and hash, noted elsewhere, make a later truncation visible."""
        with self._store.reading() as t:
            return entry_chain.last_entry(t)

    @property
    def known_head(self) -> Entry | None:
        """The last entry that this process has seen: nothing is looked up."""
        known = self.writer.known
        return None if known is None else known.head

    def entry(self, seq: int) -> Entry | None:
        """One entry by its number; None where the books do not go so far."""
        with self.writer.reading() as work:
            head = work.totals.head
            return _entry(work, seq) if head is not None and 1 <= seq <= head.seq else None

    def latest(self) -> tuple[LedgerTotals, list[Account], list[Entry]]:
        """What the chain adds up to, the dataset's account and those of edges, and the last charges that somebody paid, newest first: all at one moment."""
        with self.writer.reading() as work:
            paid = [_entry(work, number) for number in reversed(work.totals.latest)]
            shared = [DATASET, *sorted(filter(is_edge_account, work.totals.accounts))]
            return work.totals, [work.account(name) for name in shared], paid

    def history(self, *, last: int | None = None, before: int | None = None) -> list[Entry]:
        """Entries in order, or the last few of them; with `before`, of those with smaller numbers. They are told as they are."""
        with self._store.reading() as t:
            if last is None or last < 0:
                return list(entry_chain.entries_after(t, 0))
            return entry_chain.last_entries(t, last, before=before)

    def charges(
        self, *, analyst: str | None = None, before: int | None = None, limit: int
    ) -> list[tuple[Entry, Entry]]:
        """The last `limit` charges, newest first: of one analyst or of all, and with numbers below `before`; each with the entry that has its words."""
        with self.writer.reading() as work:
            charges = entry_chain.charges_before(work.t, before, analyst=analyst, limit=limit)
            return [(work.seals.check(entry), stored_queries.entry_with_text(work, entry)) for entry in charges]

    def charges_with(self, receipt: str) -> list[Entry]:
        """The charge that a receipt stands for, if it is in the books."""
        with self.writer.reading() as work:
            return [work.seals.check(entry) for entry in entry_chain.with_receipt(work.t, receipt)]

    def totals(self) -> LedgerTotals:
        """What the chain adds up to: for reading, and not to be changed."""
        with self.writer.reading() as work:
            return work.totals


def _entry(work: UnitOfWork, seq: int) -> Entry:
    """An entry that there must be."""
    entry = entry_chain.entry_at(work.t, seq)
    return work.seals.refuse(f"Entry {seq} is missing") if entry is None else work.seals.check(entry)


def _published_answer(work: UnitOfWork, name: str) -> bytes:
    query = release_names.published(work).get(name)
    known = None if query is None else stored_queries.query_state(work, query, None)
    return _needed(None if known is None else stored_queries.stored_answer(work, known))


def _needed(answer: bytes | None) -> bytes:
    if answer is None:
        raise NotAnswered("There is no such release, or it is not paid for.", next_step="Check its name, or make it.")
    return answer
