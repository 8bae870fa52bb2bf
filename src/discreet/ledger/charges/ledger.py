"""The ledger: the charge is on disk before the data is read, there is no refund, and the same query is free.

The protocol is reserve, read, finish. `reserve` charges and commits; only then may the data be read. `finish` stores
the answer and returns the one that is stored: an answer leaves only after it is on disk, and of several computed for
one query only the first is ever seen. So a crash anywhere over-counts, never under-counts, and whoever asks again
gets the same bytes for one charge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from discreet.accounting.charge_units import PRICES
from discreet.accounting.filters import Filter
from discreet.core.loss import Neighbours
from discreet.errors import BadInput, RequestConflict
from discreet.ledger.accounts import caps, neighbour_relation, source_binding
from discreet.ledger.accounts.account_rows import analyst_account
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.anchor import Anchor
from discreet.ledger.chain.entries import COMMAND_LINE, Entry
from discreet.ledger.chain.entry_clock import utc_now
from discreet.ledger.chain.schema import SCHEMA, VERSION
from discreet.ledger.charges import release_names, run_steps, stored_queries, watch_rows
from discreet.ledger.charges.ledger_opening import close_on_error, ledger_secret, open_existing_store
from discreet.ledger.charges.release_json import mechanism_to_json
from discreet.ledger.charges.requests import Request, Reservation
from discreet.ledger.charges.unit_of_work import UnitOfWork
from discreet.ledger.charges.watch_rows import WatchState
from discreet.ledger.ledger_view import LedgerView
from discreet.mechanisms import Mechanism
from discreet.store import Store, open_store
from discreet.store.secret import load_secret, require_secret


def _no_step(_: str) -> None:
    """Production does nothing at the labelled points; tests crash there."""


class Ledger(LedgerView):
    """The books of one dataset, shared by any number of threads and processes.

    `neighbours` is the relation that every price in them is for. The first to name it has it written into the chain,
    and whoever names another is refused. Those who only look at the books need not name it. `secret` seals entries and
    signs checkpoints; without it the books can be looked at, from their first entry on, and nothing can be written.
    """

    def __init__(
        self,
        store: Store,
        *,
        neighbours: Neighbours | None = None,
        anchor: str | Path | None = None,
        secret: bytes | None,
        now: Callable[[], datetime] = utc_now,
        on_step: Callable[[str], None] = _no_step,
    ) -> None:
        noted = Anchor(anchor)
        super().__init__(store, anchor=noted, secret=secret, now=now)
        self._step = on_step
        with close_on_error(store):
            if not store.has("ledger"):
                noted.begin()
            store.create_tables("ledger", SCHEMA, version=VERSION)
            with store.transaction() as t:
                noted.check(partial(entry_chain.hash_at, t))
            if neighbours is not None:
                self.record_neighbours(neighbours)

    @classmethod
    def open(
        cls, where: str | Path, *, neighbours: Neighbours | None = None, anchor: str | Path | None = None
    ) -> Ledger:
        """The ledger at a path or postgresql:// URL. One that is missing is not begun; only `:memory:` is always new."""
        if str(where) == ":memory:":
            return cls.new(where, neighbours=neighbours)
        with close_on_error(open_existing_store(where)) as store:
            secret = ledger_secret(store, where, anchor=Anchor(anchor))
        return cls(store, neighbours=neighbours, anchor=anchor, secret=secret)

    @classmethod
    def look(cls, where: str | Path) -> Ledger:
        """The same to look at, whatever is wrong with them: without a note of their head, and without a secret if there is none."""
        return cls(open_existing_store(where), secret=load_secret(where, make=False))

    @classmethod
    def new(
        cls, where: str | Path, *, neighbours: Neighbours | None = None, anchor: str | Path | None = None
    ) -> Ledger:
        """A ledger with nothing in it; or refused where there is one."""
        with close_on_error(open_store(where)) as store:
            if store.has("ledger"):
                raise BadInput(
                    "There is a ledger already.", next_step="Keep it: what was spent is spent. Or name another place."
                )
            secret = require_secret(where)
        return cls(store, neighbours=neighbours, anchor=anchor, secret=secret)

    # Neighbours

    def record_neighbours(self, declared: Neighbours) -> None:
        """Note the relation that prices are for, the first time; from then on refuse the other one."""

        def job(work: UnitOfWork) -> None:
            kept = work.totals.neighbours
            if kept is None:
                work.append(neighbour_relation.KIND, {"relation": declared.value})
            else:
                neighbour_relation.check_same(kept, declared)

        self.writer.write(job)

    # Accounts

    def open_account(self, cap: Filter, *, analyst: str | None = None, by: str = COMMAND_LINE) -> None:
        """Open the dataset's account, or an analyst's; or change the cap of one that is open. `by` is who does it.

        What the catalog declares counts when it is new, and goes never above what somebody set.
        """
        name = caps.account_for(analyst)
        self.writer.write(lambda work: caps.set_cap(work, name, cap, by=by))

    def freeze(self, analyst: str, *, frozen: bool = True, by: str = COMMAND_LINE) -> None:
        """Stop an analyst's account (or let it go on): nothing is granted and nothing replayed while it is frozen."""
        name = analyst_account(analyst)

        def job(work: UnitOfWork) -> None:
            account = work.account(name)
            work.append("freeze" if frozen else "thaw", {"account": name, "by": by})
            work.save(replace(account, frozen=frozen))

        self.writer.write(job)

    # Data versions

    def refresh(self, *, source: str | None = None, after: int | None = None, by: str = COMMAND_LINE) -> int:
        """Begin a new data version: the same queries are new ones, and accounts go on as they are.

        `source` is the hash of what was read for it, `after` the version that was the last one then, `by` who does it. Where
        somebody else began one from the same source meanwhile, that is the one; from another source, it is refused.
        """

        def job(work: UnitOfWork) -> int:
            following = (work.totals.version if after is None else after) + 1
            if work.totals.version == following - 1:
                work.append("refresh", {"version": following, "by": by})
            if source is not None:
                source_binding.record(work, source, version=following)
            return work.totals.version

        return self.writer.write(job)

    def version_for_source(self, source: str) -> int:
        """The number of the data version, refused where it was begun with another source."""
        with self.writer.reading() as work:
            return source_binding.check(work, source)

    def record_source(self, source: str, *, version: int) -> None:
        """Note what a data version was read from, the first time; refused where it is not the last one any more."""
        self.writer.write(lambda work: source_binding.record(work, source, version=version))

    # Who may come in, and what else is done to the service

    def record(self, entries: Callable[[UnitOfWork], Iterable[tuple[str, Mapping[str, Any]]]], *, by: str) -> None:
        """Write down what somebody does, kind and body each; `entries` reads, checks and may change tables in the same transaction."""

        def job(work: UnitOfWork) -> None:
            for kind, body in entries(work):
                work.append(kind, {**body, "by": by})

        self.writer.write(job)

    def publish(self, name: str, *, analyst: str | None = None, by: str = COMMAND_LINE) -> None:
        """Show a finished release to all from now on, by the name that an analyst (None: the owner, or the one who did) gave it. It stays shown."""
        self.record(lambda work: release_names.publication_entry(work, name, analyst), by=by)

    def record_comparison(self, name: str, what: str, *, analyst: str | None = None, by: str = COMMAND_LINE) -> None:
        """Write down that the owner looks at real numbers beside a release: before they are read."""
        self.record(lambda work: release_names.comparison_entry(work, name, analyst, what), by=by)

    # Queries

    def reserve(self, request: Request) -> Reservation:
        """Charge for a query, durably; or find that it is paid, or refuse. Nothing may be read before it returns."""
        key = request.key

        def job(work: UnitOfWork) -> Reservation:
            self._step("reserve: begun")
            work.check_open(request.analyst)
            state = stored_queries.query_state(work, key, request.analyst, request=request.id)
            if state.requested not in (None, key):
                raise RequestConflict(
                    "This request id was used for another question.", next_step="Use a new id for a new question."
                )
            release_names.check_name(work, request)
            unpaid = stored_queries.unpaid_accounts(work, state, edges=request.edges)
            if state.requested is not None and unpaid:
                entry_chain.refuse_damaged("A request counts as made and was not paid for.")
            is_first = state.requested is None and state.asked is None
            receipt = "" if is_first else stored_queries.receipt_of(work, state)
            if state.requested is None and (
                unpaid or is_first or stored_queries.may_record_repeat(work, request.analyst)
            ):
                charge = (
                    self._charge(work, request, unpaid)
                    if unpaid
                    else stored_queries.record_repeat(work, request, state)
                )
                receipt = receipt or charge.hash
            stored = stored_queries.stored_answer(work, state)
            if stored is not None:
                release_names.record_name(work, request)
            self._step("reserve: written")
            return Reservation(request, receipt, tuple(unpaid), stored)

        reservation = self.writer.write(job)
        self._step("reserve: committed")
        return reservation

    def _charge(self, work: UnitOfWork, request: Request, unpaid: list[str]) -> Entry:
        """Charge the accounts that have not paid."""
        charged = [work.account(name).charged(request.releases) for name in unpaid]
        self._step("reserve: checked")
        body = {
            "accounts": unpaid,
            "analyst": request.analyst,
            "request": request.id,
            "question": request.key,
            "format": request.format,
            "label": request.label,
            "releases": [mechanism_to_json(release) for release in request.releases],
            "prices": PRICES,
            **stored_queries.unit_fields(request),
        }
        entry = work.append("charge", body)
        for account in charged:
            work.save(account)
        stored_queries.record_charge(work, entry)
        return entry

    def finish(self, reservation: Reservation, answer: bytes) -> bytes:
        """Store the answer and return the stored one, which is the only one that may leave."""
        if not isinstance(answer, bytes):
            raise BadInput("An answer is stored as bytes.", next_step="Encode it first.")
        request, query = reservation.request, reservation.request.key

        def job(work: UnitOfWork) -> bytes:
            self._step("finish: begun")
            work.check_open(request.analyst)
            state = stored_queries.query_state(work, query, request.analyst)
            if state.charged is None and query not in work.totals.unanswered:
                raise BadInput("This ledger has no such reservation.", next_step="Reserve first, in the same ledger.")
            stored = stored_queries.stored_answer(work, state)
            if stored is None:
                run_steps.write_entries(work, query)
                stored_queries.store_answer(work, query, answer)
                work.append("answer", {"question": query, "sha256": hashlib.sha256(answer).hexdigest()})
            release_names.record_name(work, request)
            self._step("finish: written")
            return answer if stored is None else stored

        leaving = self.writer.write(job)
        self._step("finish: committed")
        return leaving

    def step(self, reservation: Reservation, number: int, body: bytes, *, paid: Mechanism | None) -> bytes:
        """Store what a run drew, and return the stored one, which is the only one that may be used or shown.

        Steps are numbered from 0 on; `paid` is the mechanism that drew it, None where an earlier step has paid for it. Their costs
        add up to at most the budget that was reserved. Nothing that others can count or compare tells that there is one, until
        `steps_leave` or `finish`: until then a run is reading, and nobody may know how far it is.
        """
        if not isinstance(body, bytes):
            raise BadInput("A step is stored as bytes.", next_step="Encode it first.")
        request = reservation.request

        def job(work: UnitOfWork) -> bytes:
            self._step("step: begun")
            stored = run_steps.store_step(work, request.key, number, body, paid=paid)
            self._step("step: written")
            return stored

        leaving = self.writer.write(job)
        self._step("step: committed")
        return leaving

    def release_steps(self, reservation: Reservation, count: int) -> None:
        """Write the entries of the first so many steps of a run: what they brought about may leave, now that its class of time has ended."""

        def job(work: UnitOfWork) -> None:
            work.check_open(reservation.request.analyst)
            run_steps.write_entries(work, reservation.request.key, count)

        self.writer.write(job)

    # Watches

    def evaluated(self, query: str, *, version: int, above: bool | None, analyst: str | None) -> WatchState:
        """Store an evaluation's bit (None: it failed), unless the version has one or the watch has ended.

        Returned is what the books say then, and only that may leave.
        """

        def job(work: UnitOfWork) -> WatchState:
            self._step("watch: begun")
            if above is not None:
                work.check_open(analyst)
            stored = watch_rows.record_bit(work, query, version=version, above=above)
            self._step("watch: written")
            return stored

        kept = self.writer.write(job)
        self._step("watch: committed")
        return kept
