"""The ledger: the charge is on disk before the data is read, there is no refund, and the same question is free.

The protocol is reserve, read, finish. `reserve` charges and commits; only then may the data be read. `finish` stores the
answer and returns the one that is stored: an answer leaves only after it is on disk, and of several computed for one
question only the first is ever seen. So a crash anywhere over-counts, never under-counts, and whoever asks again gets the
same bytes for one charge.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from discreet.accounting.charges import PRICES, Charge
from discreet.accounting.filters import Filter
from discreet.errors import BadInput, LedgerDamaged, RequestConflict, StoreUnavailable
from discreet.exact import exact
from discreet.ledger.accounts import DATASET, Account, analyst_account, load, save
from discreet.ledger.anchor import Anchor
from discreet.ledger.entries import Entry, canonical
from discreet.ledger.releases import describe
from discreet.ledger.requests import Request, Reservation, check_text
from discreet.store import Row, Store, Transaction, open_store

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
    """
]
_CLOCK_SKEW = timedelta(minutes=5)
_COLUMNS = "seq, time, kind, body, previous, hash"


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


class Ledger:
    """The books of one dataset, shared by any number of threads and processes."""

    def __init__(
        self,
        store: Store,
        *,
        anchor: str | Path | None = None,
        now: Callable[[], datetime] = _utc_now,
        on_step: Callable[[str], None] = _no_step,
    ) -> None:
        self._store, self._now, self._step = store, now, on_step
        self._anchor = Anchor(anchor)
        try:
            store.migrate("ledger", _SCHEMA)
            with store.transaction() as t:
                self._anchor.check(lambda seq: _entry_at(t, seq))
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(cls, where: str | Path, *, anchor: str | Path | None = None, must_exist: bool = False) -> Ledger:
        """The ledger at a path or postgresql:// URL, made if it is not there (or refused, if it must be)."""
        store = open_store(where)
        if must_exist and not store.has("ledger"):
            store.close()
            raise BadInput(
                "There is no ledger there.", next_step="Check the path; a ledger is made with the first question."
            )
        return cls(store, anchor=anchor)

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    # Accounts

    def open_account(self, cap: Filter, *, analyst: str | None = None) -> None:
        """Open the dataset's account, or an analyst's; or change the cap of one that is open."""
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
            self._append(t, "cap", body)

    def freeze(self, analyst: str, *, frozen: bool = True) -> None:
        """Stop an analyst's account (or let it go on): nothing is granted and nothing replayed while it is frozen."""
        name = analyst_account(analyst)
        with self._writing() as t:
            save(t, replace(load(t, name), frozen=frozen))
            self._append(t, "freeze" if frozen else "thaw", {"account": name})

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
            return _data_version(t)

    def refresh(self) -> int:
        """Begin a new data version: the same questions are new ones, and accounts go on as they are."""
        with self._writing() as t:
            version = _data_version(t) + 1
            self._append(t, "refresh", {"version": version})
            return version

    # Questions

    def reserve(self, request: Request) -> Reservation:
        """Charge for a question, durably; or find that it is paid, or refuse. Nothing may be read before this returns."""
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

    # The chain

    def head(self) -> Entry | None:
        """The last entry: its number and hash, noted elsewhere, make a later truncation visible."""
        with self._store.transaction() as t:
            return _last_entry(t)

    def entry(self, seq: int) -> Entry | None:
        """One entry by its number."""
        with self._store.transaction() as t:
            return _entry_at(t, seq)

    def history(self, *, last: int | None = None) -> list[Entry]:
        """Entries in order, or the last few of them."""
        with self._store.transaction() as t:
            if last is None or last < 0:
                rows = t.run(f"SELECT {_COLUMNS} FROM ledger_entries ORDER BY seq")  # noqa: S608  our own constant
            else:
                rows = t.run(f"SELECT {_COLUMNS} FROM ledger_entries ORDER BY seq DESC LIMIT ?", last)[::-1]  # noqa: S608
            return [_entry(row) for row in rows]

    def contents(self) -> Contents:
        """Everything at one moment, for verification."""
        with self._store.transaction() as t:
            names = [row[0] for row in t.run("SELECT name FROM ledger_accounts")]
            return Contents(
                entries=[_entry(row) for row in t.run(f"SELECT {_COLUMNS} FROM ledger_entries ORDER BY seq")],  # noqa: S608
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
            self._anchor.check(lambda seq: _entry_at(t, seq))
            yield t
            head = _last_entry(t)
        self._anchor.note(head)

    def _append(self, t: Transaction, kind: str, body: Mapping[str, Any]) -> Entry:
        last = _last_entry(t)
        now = self._now()
        if last is not None:
            if not last.intact:
                raise LedgerDamaged(
                    "The last entry of the books was changed.", next_step="Run `discreet ledger verify`."
                )
            then = datetime.fromisoformat(last.time)
            if now < then - _CLOCK_SKEW:
                raise StoreUnavailable("The clock is behind the last entry of the books.", next_step="Set the clock.")
            now = max(now, then)
        entry = Entry.following(last, time=now.isoformat(), kind=kind, body=body)
        values = (entry.seq, entry.time, entry.kind, canonical(entry.body), entry.previous, entry.hash)
        t.run(f"INSERT INTO ledger_entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", *values)  # noqa: S608
        return entry


def _bytes(answer: Any) -> bytes | None:
    """A stored answer; SQLite would give text back as text if somebody put it there."""
    return answer.encode() if isinstance(answer, str) else None if answer is None else bytes(answer)


def _entry(row: Row) -> Entry:
    seq, time, kind, text, previous, link = row
    try:
        body = json.loads(text)
        if canonical(body) != text:
            body = {}
    except ValueError:
        body = {}  # not the text that was written, so the hash must not fit either
    return Entry(int(seq), time, kind, body, previous, link)


def _last_entry(t: Transaction) -> Entry | None:
    rows = t.run(f"SELECT {_COLUMNS} FROM ledger_entries ORDER BY seq DESC LIMIT 1")  # noqa: S608
    return _entry(rows[0]) if rows else None


def _data_version(t: Transaction) -> int:
    rows = t.run("SELECT COUNT(*) FROM ledger_entries WHERE kind = 'refresh'")
    return 1 + int(rows[0][0])


def _entry_at(t: Transaction, seq: int) -> Entry | None:
    rows = t.run(f"SELECT {_COLUMNS} FROM ledger_entries WHERE seq = ?", seq)  # noqa: S608
    return _entry(rows[0]) if rows else None
