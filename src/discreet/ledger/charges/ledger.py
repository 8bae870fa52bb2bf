"""The ledger: the charge is on disk before the data is read, there is no refund, and a repeated query is free.

The protocol is reserve, read, finish. `reserve` charges and commits; only then may the data be read. `finish` stores
the answer and returns the stored one: an answer is returned only after it is on disk, and of several computed for one
query only the first is ever returned. So a crash at any point may charge too much, never too little, and a repeated
query gets the same bytes for one charge.
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
    """Do nothing: only tests use the labelled steps, to crash there."""


class Ledger(LedgerView):
    """The ledger of one dataset, shared by any number of threads and processes.

    `neighbours` is the relation of all its charges. The first one is recorded in the chain, and any other is refused;
    readers need not name it. `secret` seals entries and signs checkpoints; without it the ledger is read-only and is
    read from its first entry.
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
        """Open the ledger at a path or postgresql:// URL.

        A missing ledger is not created; only `:memory:` is always new.
        """
        if str(where) == ":memory:":
            return cls.new(where, neighbours=neighbours)
        with close_on_error(open_existing_store(where)) as store:
            secret = ledger_secret(store, where, anchor=Anchor(anchor))
        return cls(store, neighbours=neighbours, anchor=anchor, secret=secret)

    @classmethod
    def look(cls, where: str | Path) -> Ledger:
        """Open a ledger for reading, even if it is damaged: no anchor is needed, and the secret may be missing."""
        return cls(open_existing_store(where), secret=load_secret(where, make=False))

    @classmethod
    def new(
        cls, where: str | Path, *, neighbours: Neighbours | None = None, anchor: str | Path | None = None
    ) -> Ledger:
        """Create an empty ledger; refuse if one exists."""
        with close_on_error(open_store(where)) as store:
            if store.has("ledger"):
                raise BadInput(
                    "A ledger exists already.",
                    next_step="Keep it, because its charges still count. Or name another path.",
                )
            secret = require_secret(where)
        return cls(store, neighbours=neighbours, anchor=anchor, secret=secret)

    # Neighbours

    def record_neighbours(self, declared: Neighbours) -> None:
        """Record the neighbour relation the first time; from then on refuse the other one."""

        def job(work: UnitOfWork) -> None:
            kept = work.totals.neighbours
            if kept is None:
                work.append(neighbour_relation.KIND, {"relation": declared.value})
            else:
                neighbour_relation.check_same(kept, declared)

        self.writer.write(job)

    # Accounts

    def open_account(self, cap: Filter, *, analyst: str | None = None, by: str = COMMAND_LINE) -> None:
        """Open the account of the dataset or of an analyst, or change the cap of an open one.

        `by` is the author of the entry.

        The catalog's cap applies only if it is new, and never exceeds a cap that was set by another author.
        """
        name = caps.account_for(analyst)
        self.writer.write(lambda work: caps.set_cap(work, name, cap, by=by))

    def freeze(self, analyst: str, *, frozen: bool = True, by: str = COMMAND_LINE) -> None:
        """Freeze or unfreeze an analyst's account.

        While it is frozen, nothing is granted and no stored answer is returned.
        """
        name = analyst_account(analyst)

        def job(work: UnitOfWork) -> None:
            account = work.account(name)
            work.append("freeze" if frozen else "thaw", {"account": name, "by": by})
            work.save(replace(account, frozen=frozen))

        self.writer.write(job)

    # Data versions

    def refresh(self, *, source: str | None = None, after: int | None = None, by: str = COMMAND_LINE) -> int:
        """Create a new data version and return its number. Queries on it are charged again; accounts do not change.

        `source` is the hash of the data, `after` the last version when it was read, `by` the author of the entry. If
        another process created a version from the same source in the meantime, that one is returned; from another
        source, it is refused.
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
        """Return the data version; refuse if it was created from another source."""
        with self.writer.reading() as work:
            return source_binding.check(work, source)

    def record_source(self, source: str, *, version: int) -> None:
        """Record the source of a data version the first time; refuse if it is no longer the last version."""
        self.writer.write(lambda work: source_binding.record(work, source, version=version))

    # Access and administration

    def record(self, entries: Callable[[UnitOfWork], Iterable[tuple[str, Mapping[str, Any]]]], *, by: str) -> None:
        """Append entries (kind and body). `entries` reads, checks and may change tables in the same transaction."""

        def job(work: UnitOfWork) -> None:
            for kind, body in entries(work):
                work.append(kind, {**body, "by": by})

        self.writer.write(job)

    def publish(self, name: str, *, analyst: str | None = None, by: str = COMMAND_LINE) -> None:
        """Publish a finished release under the name that an analyst gave it.

        `None` is the data owner, or the only analyst with that name.

        A publication cannot be withdrawn.
        """
        self.record(lambda work: release_names.publication_entry(work, name, analyst), by=by)

    def record_comparison(self, name: str, what: str, *, analyst: str | None = None, by: str = COMMAND_LINE) -> None:
        """Record that the data owner compares a release with the exact numbers, before these are read."""
        self.record(lambda work: release_names.comparison_entry(work, name, analyst, what), by=by)

    # Queries

    def reserve(self, request: Request) -> Reservation:
        """Charge a query durably, unless it is charged already, or refuse. No data may be read before it returns."""
        key = request.key

        def job(work: UnitOfWork) -> Reservation:
            self._step("reserve: begun")
            work.check_open(request.analyst)
            state = stored_queries.query_state(work, key, request.analyst, request=request.id)
            if state.requested not in (None, key):
                raise RequestConflict(
                    "This request id was used for another query.", next_step="Use a new id for a new query."
                )
            release_names.check_name(work, request)
            unpaid = stored_queries.unpaid_accounts(work, state, edges=request.edges)
            if state.requested is not None and unpaid:
                entry_chain.refuse_damaged("A request is recorded without its charge.")
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
        """Charge the accounts that were not charged for this query yet."""
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
        """Store the answer and return the stored one. Only that one may be returned to the caller."""
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

        stored = self.writer.write(job)
        self._step("finish: committed")
        return stored

    def step(self, reservation: Reservation, number: int, body: bytes, *, paid: Mechanism | None) -> bytes:
        """Store a step of a run and return the stored one. Only that one may be used or returned.

        Steps are numbered from 0; `paid` is the mechanism of the step, `None` if an earlier step paid for it. The costs
        add up to at most the reserved budget. Until `release_steps` or `finish` a step has no entry: the number of
        entries is public, and would show how far the run has read.
        """
        if not isinstance(body, bytes):
            raise BadInput("A step is stored as bytes.", next_step="Encode it first.")
        request = reservation.request

        def job(work: UnitOfWork) -> bytes:
            self._step("step: begun")
            stored = run_steps.store_step(work, request.key, number, body, paid=paid)
            self._step("step: written")
            return stored

        stored = self.writer.write(job)
        self._step("step: committed")
        return stored

    def release_steps(self, reservation: Reservation, count: int) -> None:
        """Write the entries of the first `count` steps of a run, when its latency bucket has ended."""

        def job(work: UnitOfWork) -> None:
            work.check_open(reservation.request.analyst)
            run_steps.write_entries(work, reservation.request.key, count)

        self.writer.write(job)

    # Watches

    def evaluated(self, query: str, *, version: int, above: bool | None, analyst: str | None) -> WatchState:
        """Store the bit of an evaluation (`None`: it failed), unless the version has one or the watch has ended.

        Return the stored state. Only that may be returned to the caller.
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
