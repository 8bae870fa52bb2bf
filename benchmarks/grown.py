"""Long books in a short time: a valid chain of any number of questions, written in bulk. For benchmarks and tests only."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from discreet.accounting import open_filter
from discreet.accounting.charge_units import PRICES, Charge
from discreet.core.loss import Neighbours
from discreet.ledger import Entry, Ledger
from discreet.ledger.accounts.account_rows import DATASET, analyst_account, load_all, save
from discreet.ledger.chain.entries import canonical
from discreet.ledger.chain.seals import Seals
from discreet.ledger.charges.release_json import mechanism_to_json
from discreet.mechanisms import Laplace

PRICE = Laplace(sensitivity=1, epsilon=1e-6)
ANSWER = b"41,873"
_BATCH = 20_000


def grow(path: Path, *, queries: int) -> None:
    """Add so many questions of alice, each charged and answered; the path is new, or was grown before."""
    ledger = (Ledger.open if path.exists() else Ledger.new)(path, neighbours=Neighbours.ADD_REMOVE)
    ledger.open_account(open_filter(10**6))
    ledger.open_account(open_filter(10**6), analyst="alice")
    head = ledger.head()
    assert head is not None
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    rows = _queries(head, queries, ledger.writer.seals)
    while batch := list(islice(rows, _BATCH)):
        entries, keys, requests = zip(*batch, strict=True)
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO ledger_entries VALUES (?, ?, ?, ?, ?, ?, ?)", [e for pair in entries for e in pair]
        )
        connection.executemany("INSERT INTO ledger_questions (question, answer, charged) VALUES (?, ?, ?)", keys)
        connection.executemany("INSERT INTO ledger_paid VALUES ('alice', ?, ?)", [(key, seq) for key, _, seq in keys])
        connection.executemany("INSERT INTO ledger_requests VALUES ('alice', ?, ?, ?)", requests)
        connection.execute("COMMIT")
    connection.close()
    _charge_accounts(ledger, queries)
    ledger.close()


def _queries(head: Entry, count: int, seals: Seals) -> Iterator[tuple[Any, Any, Any]]:
    """For each question: its two entries, its row, and the row of its request."""
    time, digest = datetime.now(UTC).isoformat(), hashlib.sha256(ANSWER).hexdigest()
    body = {
        "accounts": [DATASET, analyst_account("alice")],
        "analyst": "alice",
        "format": 2,
        "label": "SELECT COUNT(*) FROM visits WHERE cost > 7",
        "releases": [mechanism_to_json(PRICE)],
        "prices": PRICES,
    }
    for _ in range(count):
        number = head.seq + 1
        key = hashlib.sha256(str(number).encode()).hexdigest()
        charge = Entry.following(
            head, time=time, kind="charge", body={**body, "question": key, "request": f"grown-{number}"}
        )
        head = Entry.following(charge, time=time, kind="answer", body={"question": key, "sha256": digest})
        yield (_row(charge, seals), _row(head, seals)), (key, ANSWER, number), (f"grown-{number}", key, charge.hash)


def _row(entry: Entry, seals: Seals) -> tuple[Any, ...]:
    return entry.seq, entry.time, entry.kind, canonical(entry.body), entry.previous, entry.hash, seals.of(entry)


def _charge_accounts(ledger: Ledger, queries: int) -> None:
    price = Charge.of([PRICE])
    assert price.pure is not None
    more = Charge(price.pure * queries, price.rho * queries, price.delta * queries)
    with ledger._store.transaction() as t:  # noqa: SLF001
        for account in load_all(t):
            save(t, replace(account, total=account.total + more))
