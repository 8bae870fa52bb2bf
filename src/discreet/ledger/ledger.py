"""The ledger: the charge is on disk before the data is read, there is no refund, and the same question is free.

The protocol is reserve, read, finish. `reserve` charges and commits; only then may the data be read. `finish` stores
the answer and returns the one that is stored: an answer leaves only after it is on disk, and of several computed for
one question only the first is ever seen. So a crash anywhere over-counts, never under-counts, and whoever asks again
gets the same bytes for one charge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from discreet.accounting.charges import PRICES, Charge
from discreet.accounting.filters import Filter
from discreet.errors import BadInput, LedgerDamaged, RequestConflict, StoreUnavailable
from discreet.exact import exact
from discreet.ledger import chain, formats, relation
from discreet.ledger.access import Access
from discreet.ledger.accounts import DATASET, Account, analyst_account, load, save
from discreet.ledger.anchor import Anchor
from discreet.ledger.entries import Entry
from discreet.ledger.releases import describe
from discreet.ledger.requests import Request, Reservation, check_text
from discreet.loss import Neighbours
from discreet.store import Store, Transaction, open_store

_SCHEMA = [
    """
    CREATE TABLE ledger_entries (
        seq BIGINT PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
        previous TEXT NOT NULL, hash TEXT NOT NULL);
    CREATE TABLE ledger_accounts (
        name TEXT PRIMARY KEY, kind TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, frozen INTEGER NOT NULL,
        spent_pure TEXT, spent_rho TEXT NOT NULL, spent_delta TEXT NOT NULL, spent_renyi TEXT NOT NULL);
    CREATE TABLE ledger_requests (
        analyst TEXT NOT NULL, request TEXT NOT NULL, question TEXT NOT NULL, receipt TEXT NOT NULL,
        PRIMARY KEY (analyst, request));
    CREATE TABLE ledger_questions (question TEXT PRIMARY KEY, answer {blob});
    CREATE TABLE ledger_paid (analyst TEXT NOT NULL, question TEXT NOT NULL, PRIMARY KEY (analyst, question));
    """,
    "",  # the tables stay; entries may name neighbours and formats, which version 1 cannot replay
    "CREATE INDEX ledger_entries_by_kind ON ledger_entries (kind, seq)",
]
_CLOCK_SKEW = timedelta(minutes=5)


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _no_step(_: str) -> None:
    """Production does nothing at the labelled points; tests crash there."""


@dataclass(frozen=True, slots=True)
class Contents:
    """All tables of the books at one moment, for verification."""

    entries: list[Entry]
    accounts: dict[str, Account]
    requests: dict[tuple[str, str], tuple[str, str]]
    paid: set[tuple[str, str]]
    answers: dict[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Watched:
    """What the books say of a watch. `threshold` is the noisy one, which is for comparing and never shown.

    `lost` is one that was stored and is not there any more, or not as it was stored.
    """

    bits: Mapping[int, bool]
    """By data version: whether the count was above."""
    threshold: bytes | None = field(repr=False)
    failed: bool
    lost: bool

    @property
    def ended(self) -> str | None:
        """Why there will be no more bits."""
        reasons = {"above": any(self.bits.values()), "failed": self.failed, "lost": self.lost}
        return next((reason for reason, holds in reasons.items() if holds), None)


class Ledger:
    """The books of one dataset, shared by any number of threads and processes.

    `neighbours` is the relation that every price in them is for. The first to name it has it written into the chain,
    and whoever names another is refused. Those who only look at the books need not name it.
    """

    def __init__(
        self,
        store: Store,
        *,
        neighbours: Neighbours | None = None,
        anchor: str | Path | None = None,
        now: Callable[[], datetime] = _utc_now,
        on_step: Callable[[str], None] = _no_step,
    ) -> None:
        self._store, self._now, self._step = store, now, on_step
        self._anchor = Anchor(anchor)
        self._paid_before: dict[tuple[int, int], frozenset[bytes]] = {}
        try:
            store.migrate("ledger", _SCHEMA)
            with store.transaction() as t:
                self._anchor.check(lambda seq: chain.entry_at(t, seq))
            if neighbours is not None:
                self._keep(neighbours)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(
        cls,
        where: str | Path,
        *,
        neighbours: Neighbours | None = None,
        anchor: str | Path | None = None,
        must_exist: bool = False,
    ) -> Ledger:
        """The ledger at a path or postgresql:// URL, made if it is not there (or refused, if it must be)."""
        store = open_store(where)
        if must_exist and not store.has("ledger"):
            store.close()
            raise BadInput(
                "There is no ledger there.", next_step="Check the path; a ledger is made with the first question."
            )
        return cls(store, neighbours=neighbours, anchor=anchor)

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    # Neighbours

    def neighbours(self) -> Neighbours | None:
        """The relation of the books; None in those that nobody opened with one."""
        with self._store.transaction() as t:
            return relation.recorded(t)

    def _keep(self, declared: Neighbours) -> None:
        with self._writing() as t:
            kept = relation.recorded(t)
            if kept is None:
                self._append(t, relation.KIND, {"relation": declared.value})
            else:
                relation.check_same(kept, declared)

    # Accounts

    def open_account(self, cap: Filter, *, analyst: str | None = None, by: str | None = None) -> None:
        """Open the dataset's account, or an analyst's; or change the cap of one that is open. `by` is who does it."""
        if analyst is not None:
            check_text(analyst, "An analyst's name", most=200)
        name = DATASET if analyst is None else analyst_account(analyst)
        body = {
            "account": name,
            "kind": cap.kind,
            "epsilon": str(exact(cap.cap.epsilon)),
            "delta": str(exact(cap.cap.delta)),
        }
        with self._writing() as t:
            rows = t.run("SELECT name FROM ledger_accounts WHERE name = ?", name)
            known = load(t, name) if rows else Account(name, cap, Charge(), frozen=False)
            if rows and known.filter == cap:
                return
            if cap.kind == "pure" and (known.total.pure is None or known.total.delta):
                raise BadInput(
                    "What was spent here has no pure epsilon.", next_step="Keep a delta above 0 for this account."
                )
            save(t, replace(known, filter=cap))
            self._append(t, "cap", _by(body, by))

    def freeze(self, analyst: str, *, frozen: bool = True, by: str | None = None) -> None:
        """Stop an analyst's account (or let it go on): nothing is granted and nothing replayed while it is frozen."""
        name = analyst_account(analyst)
        with self._writing() as t:
            save(t, replace(load(t, name), frozen=frozen))
            self._append(t, "freeze" if frozen else "thaw", _by({"account": name}, by))

    def account(self, analyst: str | None = None) -> Account:
        """The dataset's account, or an analyst's."""
        with self._store.transaction() as t:
            return load(t, DATASET if analyst is None else analyst_account(analyst))

    def accounts(self) -> list[Account]:
        """All accounts, the dataset's first."""
        with self._store.transaction() as t:
            names = [row[0] for row in t.run("SELECT name FROM ledger_accounts ORDER BY name")]
            return sorted(
                (load(t, name) for name in names), key=lambda account: (account.name != DATASET, account.name)
            )

    # Data versions

    def data_version(self) -> int:
        """The number of the data that questions are asked of: 1, and one more for each refresh."""
        with self._store.transaction() as t:
            return chain.data_version(t)

    def data_day(self) -> date:
        """The day that the data version was begun: what CURRENT_DATE means, the same for as long as the version lasts."""
        with self._store.transaction() as t:
            begun = t.run("SELECT time FROM ledger_entries WHERE kind = 'refresh' ORDER BY seq DESC LIMIT 1")
            first = begun or t.run("SELECT time FROM ledger_entries WHERE seq = 1")
        return datetime.fromisoformat(first[0][0]).date() if first else self._now().date()

    def refresh(self, *, by: str | None = None) -> int:
        """Begin a new data version: the same questions are new ones, and accounts go on as they are."""
        with self._writing() as t:
            version = chain.data_version(t) + 1
            self._append(t, "refresh", _by({"version": version}, by))
            return version

    # Who may come in, and what else is done to the service

    def access(self, known: Access | None = None) -> Access:
        """Keys and users, from the first entry on; or `known` with what was written since."""
        current = known or Access()
        with self._store.transaction() as t:
            current.follow(t)
        return current

    def record(
        self,
        entries: Callable[[Transaction], Iterable[tuple[str, Mapping[str, Any]]]],
        *,
        by: str | None,
    ) -> None:
        """Write down what somebody does, kind and body each; `entries` reads, checks and may change tables in the same transaction."""
        with self._writing() as t:
            for kind, body in entries(t):
                self._append(t, kind, _by(body, by))

    # Questions

    def reserve(self, request: Request) -> Reservation:
        """Charge for a question, durably; or find that it is paid, or refuse. Nothing may be read before it returns."""
        analyst, key = request.analyst or "", request.key
        with self._writing() as t:
            self._step("reserve: begun")
            if request.analyst is not None:
                load(t, analyst_account(analyst)).check_open()
            known = t.run(
                "SELECT question, receipt FROM ledger_requests WHERE analyst = ? AND request = ?", analyst, request.id
            )
            if known and known[0][0] != key:
                raise RequestConflict(
                    "This request id was used for another question.", next_step="Use a new id for a new question."
                )
            charged, receipt = ((), known[0][1]) if known else self._charge(t, request, key)
            self._step("reserve: written")
            answer = t.run("SELECT answer FROM ledger_questions WHERE question = ?", key)[0][0]
        self._step("reserve: committed")
        return Reservation(request, receipt, charged, _bytes(answer))

    def _charge(self, t: Transaction, request: Request, key: str) -> tuple[tuple[str, ...], str]:
        """The accounts charged, and the hash of the entry that says so."""
        analyst = request.analyst or ""
        unpaid = []
        if not t.run("SELECT question FROM ledger_questions WHERE question = ?", key):
            unpaid.append(DATASET)
        paid = t.run("SELECT question FROM ledger_paid WHERE analyst = ? AND question = ?", analyst, key)
        if request.analyst is not None and not paid:
            unpaid.append(analyst_account(analyst))
        accounts = [load(t, name).charged(request.releases) for name in unpaid]
        self._step("reserve: checked")
        for account in accounts:
            save(t, account)
        if DATASET in unpaid:
            t.run("INSERT INTO ledger_questions (question) VALUES (?)", key)
        if not paid:
            t.run("INSERT INTO ledger_paid VALUES (?, ?)", analyst, key)
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
        receipt = self._append(t, "charge", body).hash
        t.run("INSERT INTO ledger_requests VALUES (?, ?, ?, ?)", analyst, request.id, key, receipt)
        return tuple(unpaid), receipt

    def finish(self, reservation: Reservation, answer: bytes) -> bytes:
        """Store the answer and return the stored one, which is the only one that may leave."""
        if not isinstance(answer, bytes):
            raise BadInput("An answer is stored as bytes.", next_step="Encode it first.")
        request, question = reservation.request, reservation.request.key
        with self._writing() as t:
            self._step("finish: begun")
            if request.analyst is not None:
                load(t, analyst_account(request.analyst)).check_open()
            rows = t.run("SELECT answer FROM ledger_questions WHERE question = ?", question)
            if not rows:
                raise BadInput("This ledger has no such reservation.", next_step="Reserve first, in the same ledger.")
            stored = _bytes(rows[0][0])
            if stored is not None:
                return stored
            t.run("UPDATE ledger_questions SET answer = ? WHERE question = ?", answer, question)
            self._append(t, "answer", {"question": question, "sha256": hashlib.sha256(answer).hexdigest()})
            self._step("finish: written")
        self._step("finish: committed")
        return answer

    def is_paid(self, request: Request) -> bool:
        """Whether a question would cost its asker nothing: it is answered, and they have paid for it."""
        with self._store.transaction() as t:
            answered = t.run("SELECT answer FROM ledger_questions WHERE question = ?", request.key)
            paid = t.run(
                "SELECT question FROM ledger_paid WHERE analyst = ? AND question = ?",
                request.analyst or "",
                request.key,
            )
        return bool(answered) and answered[0][0] is not None and (request.analyst is None or bool(paid))

    def paid_under_earlier_format(self, label: str, *, question_format: int, data_version: int) -> bool:
        """Whether anybody paid for a question of these very words, about this data, before digests had this format.

        Its answer is stored, but under a digest that is not made any more, so it is not replayed. Nothing is written
        under an earlier format any more, so what was written is read once.
        """
        known = (question_format, data_version)
        if known not in self._paid_before:
            with self._store.transaction() as t:
                self._paid_before[known] = formats.paid_before(
                    t, question_format=question_format, data_version=data_version
                )
        return bool(label) and formats.digest_of(label) in self._paid_before[known]

    # Watches: a question whose stored bytes are a noisy threshold, with one bit for each data version

    def watched(self, question: str, *, analyst: str | None) -> Watched:
        """What is known of a watch, by the key that it was paid under."""
        with self._store.transaction() as t:
            if analyst is not None:
                load(t, analyst_account(analyst)).check_open()
            return _watched(t, question)

    def evaluated(self, question: str, *, version: int, above: bool | None, analyst: str | None) -> Watched:
        """Store an evaluation's bit (None: it failed), unless the version has one or the watch has ended.

        Returned is what the books say then, and only that may leave.
        """
        with self._writing() as t:
            self._step("watch: begun")
            if analyst is not None and above is not None:
                load(t, analyst_account(analyst)).check_open()
            known = _watched(t, question)
            if known.ended or (above is not None and version in known.bits):
                return known
            outcome = {"failed": True} if above is None else {"above": above}
            self._append(t, "watch", {"question": question, "version": version, **outcome})
            stored = _watched(t, question)
            self._step("watch: written")
        self._step("watch: committed")
        return stored

    # The chain

    def head(self) -> Entry | None:
        """The last entry: its number and hash, noted elsewhere, make a later truncation visible."""
        with self._store.transaction() as t:
            return chain.last_entry(t)

    def entry(self, seq: int) -> Entry | None:
        """One entry by its number."""
        with self._store.transaction() as t:
            return chain.entry_at(t, seq)

    def history(self, *, last: int | None = None) -> list[Entry]:
        """Entries in order, or the last few of them."""
        with self._store.transaction() as t:
            return chain.all_entries(t) if last is None or last < 0 else chain.last_entries(t, last)

    def contents(self) -> Contents:
        """Everything at one moment, for verification."""
        with self._store.transaction() as t:
            names = [row[0] for row in t.run("SELECT name FROM ledger_accounts")]
            return Contents(
                entries=chain.all_entries(t),
                accounts={name: load(t, name) for name in names},
                requests={
                    (a, r): (q, h)
                    for a, r, q, h in t.run("SELECT analyst, request, question, receipt FROM ledger_requests")
                },
                paid={(a, q) for a, q in t.run("SELECT analyst, question FROM ledger_paid")},
                answers={q: _bytes(answer) for q, answer in t.run("SELECT question, answer FROM ledger_questions")},
            )

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        with self._store.transaction() as t:
            self._anchor.check(lambda seq: chain.entry_at(t, seq))
            yield t
            head = chain.last_entry(t)
        self._anchor.note(head)

    def _append(self, t: Transaction, kind: str, body: Mapping[str, Any]) -> Entry:
        last = chain.last_entry(t)
        now = self._now()
        if last is not None:
            chain.check_intact(last, "The last entry of the books was changed.")
            then = datetime.fromisoformat(last.time)
            if now < then - _CLOCK_SKEW:
                raise StoreUnavailable("The clock is behind the last entry of the books.", next_step="Set the clock.")
            now = max(now, then)
        entry = Entry.following(last, time=now.isoformat(), kind=kind, body=body)
        chain.append(t, entry)
        return entry


def _by(body: Mapping[str, Any], actor: str | None) -> Mapping[str, Any]:
    """An entry's body with who did it."""
    return body if actor is None else {**body, "by": actor}


def _watched(t: Transaction, question: str) -> Watched:
    seqs = t.run(
        "SELECT seq FROM ledger_entries WHERE kind IN ('answer', 'watch') AND body LIKE ? ORDER BY seq",
        f'%"question":"{question}"%',
    )
    entries = [entry for (seq,) in seqs if (entry := chain.entry_at(t, int(seq))) is not None]
    for entry in entries:
        chain.check_intact(entry, "An entry of a watch was changed.")
    rows = t.run("SELECT answer FROM ledger_questions WHERE question = ?", question)
    threshold = _bytes(rows[0][0]) if rows else None
    written = [entry.body["sha256"] for entry in entries if entry.kind == "answer"]
    there = [] if threshold is None else [hashlib.sha256(threshold).hexdigest()]
    watches = [entry.body for entry in entries if entry.kind == "watch"]
    return Watched(
        bits={body["version"]: body["above"] for body in watches if "above" in body},
        threshold=threshold,
        failed=any("failed" in body for body in watches),
        lost=there != written or bool(watches and not written),
    )


def _bytes(answer: Any) -> bytes | None:
    """A stored answer, whatever it means. SQLite gives text back as text if somebody put it there: we never did."""
    if isinstance(answer, str):
        raise LedgerDamaged("A stored answer is not bytes.", next_step="Ask the owner to verify the books.")
    return None if answer is None else bytes(answer)
