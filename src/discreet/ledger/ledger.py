"""The ledger: the charge is on disk before the data is read, there is no refund, and the same question is free.

The protocol is reserve, read, finish. `reserve` charges and commits; only then may the data be read. `finish` stores
the answer and returns the one that is stored: an answer leaves only after it is on disk, and of several computed for
one question only the first is ever seen. So a crash anywhere over-counts, never under-counts, and whoever asks again
gets the same bytes for one charge.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from discreet.accounting.charges import PRICES, Charge
from discreet.accounting.filters import Filter
from discreet.errors import BadInput, NoLedger, RequestConflict, StoreUnavailable
from discreet.ledger import accounts, caps, chain, formats, questions, relation, sources, watches
from discreet.ledger.access import Access
from discreet.ledger.accounts import DATASET, Account, analyst_account
from discreet.ledger.anchor import Anchor
from discreet.ledger.checkpoint import Checkpoints
from discreet.ledger.clock import Clock, utc_now
from discreet.ledger.draft import Draft
from discreet.ledger.entries import AT_HAND, Entry
from discreet.ledger.releases import describe
from discreet.ledger.requests import Request, Reservation, check_text
from discreet.ledger.running import RunningBooks
from discreet.ledger.schema import SCHEMA
from discreet.ledger.watches import Watched
from discreet.ledger.writer import Writer
from discreet.loss import Neighbours
from discreet.store import Store, open_store, unavailable
from discreet.store.secret import secret_of

_PULSE_SECONDS = 1.0


def _no_step(_: str) -> None:
    """Production does nothing at the labelled points; tests crash there."""


class Ledger:
    """The books of one dataset, shared by any number of threads and processes.

    `neighbours` is the relation that every price in them is for. The first to name it has it written into the chain,
    and whoever names another is refused. Those who only look at the books need not name it. `secret` signs
    checkpoints; without it the chain is followed from its first entry each time the books are opened.
    """

    def __init__(
        self,
        store: Store,
        *,
        neighbours: Neighbours | None = None,
        anchor: str | Path | None = None,
        secret: bytes | None = None,
        now: Callable[[], datetime] = utc_now,
        on_step: Callable[[str], None] = _no_step,
    ) -> None:
        self._store, self._clock, self._step = store, Clock(now), on_step
        noted = Anchor(anchor)
        self.writer = Writer(store, anchor=noted, checkpoints=Checkpoints(secret), clock=self._clock)
        self._paid_before: dict[tuple[int, int], frozenset[bytes]] = {}
        self._pulse = (float("-inf"), True)
        try:
            if not store.has("ledger"):
                noted.begin()
            store.migrate("ledger", SCHEMA)
            with store.transaction() as t:
                noted.check(lambda seq: chain.entry_at(t, seq))
            if neighbours is not None:
                self._keep(neighbours)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(
        cls, where: str | Path, *, neighbours: Neighbours | None = None, anchor: str | Path | None = None
    ) -> Ledger:
        """The ledger at a path or postgresql:// URL. One that is missing is not begun; only `:memory:` is always new."""
        if str(where) == ":memory:":
            return cls.new(where, neighbours=neighbours)
        store = open_store(where, must_exist=True)
        if not store.exists() or not store.has("ledger"):
            store.close()
            raise NoLedger(
                "There is no ledger there, and none is begun by chance.",
                next_step="Check the path, and that its disk is mounted; `discreet ledger new` begins one.",
            )
        return cls(store, neighbours=neighbours, anchor=anchor, secret=secret_of(where))

    @classmethod
    def new(
        cls, where: str | Path, *, neighbours: Neighbours | None = None, anchor: str | Path | None = None
    ) -> Ledger:
        """A ledger with nothing in it; or refused where there is one."""
        store = open_store(where)
        if store.has("ledger"):
            store.close()
            raise BadInput(
                "There is a ledger already.", next_step="Keep it: what was spent is spent. Or name another place."
            )
        return cls(store, neighbours=neighbours, anchor=anchor, secret=secret_of(where))

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def copy_to(self, place: str) -> None:
        """A backup: the books at one moment, in a new file. It is older than what is granted from now on."""
        self._store.copy_to(place)

    # Neighbours

    def neighbours(self) -> Neighbours | None:
        """The relation of the books; None in those that nobody opened with one."""
        return self.running().neighbours

    def _keep(self, declared: Neighbours) -> None:
        def job(draft: Draft) -> None:
            kept = draft.running.neighbours
            if kept is None:
                draft.append(relation.KIND, {"relation": declared.value})
            else:
                relation.check_same(kept, declared)

        self.writer.write(job)

    # Accounts

    def open_account(self, cap: Filter, *, analyst: str | None = None, by: str = AT_HAND) -> None:
        """Open the dataset's account, or an analyst's; or change the cap of one that is open. `by` is who does it.

        What the catalog declares counts when it is new, and goes never above what somebody set.
        """
        if analyst is not None:
            check_text(analyst, "An analyst's name", most=200)
        if analyst == DATASET:
            raise BadInput("No analyst is called like the dataset's own account.", next_step="Give another name.")
        name = DATASET if analyst is None else analyst_account(analyst)

        def job(draft: Draft) -> None:
            is_open = name in draft.running.accounts
            known = draft.account(name) if is_open else Account(name, cap, Charge(), frozen=False)
            fresh = caps.cap_to_set(draft.t, known, cap, by=by) if is_open else cap
            if fresh is None:
                return
            if fresh.kind == "pure" and (known.total.pure is None or known.total.delta):
                raise BadInput(
                    "What was spent here has no pure epsilon.", next_step="Keep a delta above 0 for this account."
                )
            draft.append(caps.KIND, {**caps.facts_of(name, fresh, stated=cap), "by": by})
            draft.save(replace(known, filter=fresh, total=fresh.kept(known.total)))

        self.writer.write(job)

    def freeze(self, analyst: str, *, frozen: bool = True, by: str = AT_HAND) -> None:
        """Stop an analyst's account (or let it go on): nothing is granted and nothing replayed while it is frozen."""
        name = analyst_account(analyst)

        def job(draft: Draft) -> None:
            account = draft.account(name)
            draft.append("freeze" if frozen else "thaw", {"account": name, "by": by})
            draft.save(replace(account, frozen=frozen))

        self.writer.write(job)

    def account(self, analyst: str | None = None) -> Account:
        """The dataset's account, or an analyst's."""
        with self._store.transaction() as t:
            return accounts.load(t, DATASET if analyst is None else analyst_account(analyst))

    def accounts(self, *, analyst: str | None = None) -> list[Account]:
        """The dataset's account first, then the analyst's, or all there are."""
        with self._store.transaction() as t:
            rows = accounts.load_all(t) if analyst is None else accounts.load_some(t, DATASET, analyst_account(analyst))
            return sorted(rows, key=lambda account: (account.name != DATASET, account.name))

    # Data versions

    def data_version(self) -> int:
        """The number of the data that questions are asked of: 1, and one more for each refresh."""
        return self.running().version

    def data_day(self) -> date:
        """The day that the data version was begun: what CURRENT_DATE means, the same for as long as the version lasts."""
        begun = self.running().begun
        return self._clock.now().date() if begun is None else datetime.fromisoformat(begun).date()

    def refresh(self, *, source: str | None = None, by: str = AT_HAND) -> int:
        """Begin a new data version: the same questions are new ones, and accounts go on as they are.

        `source` is the fingerprint of what it is read from, `by` who does it.
        """

        def job(draft: Draft) -> int:
            draft.append("refresh", {"version": draft.running.version + 1, "by": by})
            if source is not None:
                sources.keep(draft, source)
            return draft.running.version

        return self.writer.write(job)

    def keep_source(self, fingerprint: str) -> None:
        """Note what the data version is read from, the first time; from then on refuse anything else."""
        self.writer.write(lambda draft: sources.keep(draft, fingerprint))

    # Who may come in, and what else is done to the service

    def access(self) -> Access:
        """Keys and users, as the chain says."""
        return self.running().access

    def record(self, entries: Callable[[Draft], Iterable[tuple[str, Mapping[str, Any]]]], *, by: str) -> None:
        """Write down what somebody does, kind and body each; `entries` reads, checks and may change tables in the same transaction."""

        def job(draft: Draft) -> None:
            for kind, body in entries(draft):
                draft.append(kind, {**body, "by": by})

        self.writer.write(job)

    # Questions

    def reserve(self, request: Request) -> Reservation:
        """Charge for a question, durably; or find that it is paid, or refuse. Nothing may be read before it returns."""
        key = request.key

        def job(draft: Draft) -> Reservation:
            self._step("reserve: begun")
            draft.check_open(request.analyst)
            known = draft.t.run(
                "SELECT question FROM ledger_requests WHERE analyst = ? AND request = ?",
                request.analyst or "",
                request.id,
            )
            if known and known[0][0] != key:
                raise RequestConflict(
                    "This request id was used for another question.", next_step="Use a new id for a new question."
                )
            unpaid = questions.unpaid_accounts(draft.t, key, request.analyst)
            if known and unpaid:
                chain.damaged("A request counts as made and was not paid for.")
            if not known:
                self._charge(draft, request, key, unpaid)
            self._step("reserve: written")
            receipt = questions.receipt_of(draft.t, key, request.analyst)
            return Reservation(request, receipt, tuple(unpaid), questions.stored_answer(draft.t, key))

        reservation = self.writer.write(job)
        self._step("reserve: committed")
        return reservation

    def _charge(self, draft: Draft, request: Request, key: str, unpaid: list[str]) -> None:
        """Charge the accounts that have not paid."""
        charged = [draft.account(name).charged(request.releases) for name in unpaid]
        self._step("reserve: checked")
        body = {
            "accounts": unpaid,
            "analyst": request.analyst,
            "request": request.id,
            "question": key,
            "format": request.format,
            "label": request.label,
            "releases": [describe(release) for release in request.releases],
            "prices": PRICES,
        }
        entry = draft.append("charge", body)
        for account in charged:
            draft.save(account)
        questions.mark_paid(draft.t, entry)

    def finish(self, reservation: Reservation, answer: bytes) -> bytes:
        """Store the answer and return the stored one, which is the only one that may leave."""
        if not isinstance(answer, bytes):
            raise BadInput("An answer is stored as bytes.", next_step="Encode it first.")
        request, question = reservation.request, reservation.request.key

        def job(draft: Draft) -> bytes:
            self._step("finish: begun")
            draft.check_open(request.analyst)
            if not draft.t.run("SELECT question FROM ledger_questions WHERE question = ?", question):
                raise BadInput("This ledger has no such reservation.", next_step="Reserve first, in the same ledger.")
            stored = questions.stored_answer(draft.t, question)
            if stored is None:
                draft.t.run("UPDATE ledger_questions SET answer = ? WHERE question = ?", answer, question)
                draft.append("answer", {"question": question, "sha256": hashlib.sha256(answer).hexdigest()})
            self._step("finish: written")
            return answer if stored is None else stored

        leaving = self.writer.write(job)
        self._step("finish: committed")
        return leaving

    def is_paid(self, request: Request) -> bool:
        """Whether a question would cost its asker nothing: it is answered, and they have paid for it."""
        with self._store.transaction() as t:
            return questions.is_free(t, request.key, request.analyst)

    def would_charge(self, request: Request) -> dict[str, bool]:
        """The accounts that have not paid for a question yet, each with whether its cap allows it now. Charges nothing."""
        with self._store.transaction() as t:
            unpaid = questions.unpaid_accounts(t, request.key, request.analyst)
            known = {account.name: account for account in accounts.load_some(t, *unpaid)} if unpaid else {}
            return {name: name in known and known[name].allows(request.releases) for name in unpaid}

    def recalled(self, request: Request) -> Reservation | None:
        """What was answered to an asker who has paid for it, looked up and not asked again; None where there is nothing."""
        with self._store.transaction() as t:
            Draft(t, self.writer.followed(t), clock=self._clock).check_open(request.analyst)
            unpaid = questions.unpaid_accounts(t, request.key, request.analyst)
            answer = None if unpaid else questions.stored_answer(t, request.key)
            if answer is None:
                return None
            return Reservation(request, questions.receipt_of(t, request.key, request.analyst), (), answer)

    def paid_under_earlier_format(self, label: str, *, question_format: int, data_version: int) -> bool:
        """Whether anybody paid for a question of these very words, about this data, before digests had this format.

        Its answer is stored, but under a digest that is not made any more, so it is not replayed. Nothing is written
        under an earlier format any more, so what was written is read once, and only where there is any.
        """
        known = (question_format, data_version)
        if known not in self._paid_before:
            running = self.running()
            if running.version == data_version and min(running.formats, default=question_format) >= question_format:
                return False
            with self._store.transaction() as t:
                self._paid_before[known] = formats.paid_before(
                    t, question_format=question_format, data_version=data_version
                )
        return bool(label) and formats.digest_of(label) in self._paid_before[known]

    # Watches

    def watched(self, question: str, *, analyst: str | None) -> Watched:
        """What is known of a watch, by the key that it was paid under."""
        with self._store.transaction() as t:
            Draft(t, self.writer.followed(t), clock=self._clock).check_open(analyst)
            return watches.watched(t, question)

    def evaluated(self, question: str, *, version: int, above: bool | None, analyst: str | None) -> Watched:
        """Store an evaluation's bit (None: it failed), unless the version has one or the watch has ended.

        Returned is what the books say then, and only that may leave.
        """

        def job(draft: Draft) -> Watched:
            self._step("watch: begun")
            if above is not None:
                draft.check_open(analyst)
            stored = watches.keep_bit(draft, question, version=version, above=above)
            self._step("watch: written")
            return stored

        kept = self.writer.write(job)
        self._step("watch: committed")
        return kept

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
        with self._store.transaction() as t:
            return chain.last_entry(t)

    def entry(self, seq: int) -> Entry | None:
        """One entry by its number."""
        with self._store.transaction() as t:
            return chain.entry_at(t, seq)

    def history(self, *, last: int | None = None, before: int | None = None) -> list[Entry]:
        """Entries in order, or the last few of them; with `before`, of those with smaller numbers."""
        with self._store.transaction() as t:
            if last is None or last < 0:
                return list(chain.entries_after(t, 0))
            return chain.last_entries(t, last, before=before)

    def charges(self, *, analyst: str | None = None, before: int | None = None, limit: int) -> list[Entry]:
        """The last `limit` charges, newest first: of one analyst or of all, and with numbers below `before`."""
        with self._store.transaction() as t:
            return chain.charges_before(t, before, analyst=analyst, limit=limit)

    def charges_with(self, receipt: str) -> list[Entry]:
        """The charge that a receipt stands for, if it is in the books."""
        with self._store.transaction() as t:
            return chain.with_receipt(t, receipt)

    def running(self) -> RunningBooks:
        """What the chain adds up to: for reading, and not to be changed."""
        with self._store.transaction() as t:
            return self.writer.followed(t)
