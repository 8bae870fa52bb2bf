"""Checkpoints: the running books at one entry, signed, so that whoever opens them need not begin with the first.

A checkpoint that is missing, not signed with the secret of these books, or about an entry that they do not hold is
none: the chain is then followed from its first entry. One that is signed and has another format is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import asdict
from datetime import date
from typing import Any

from discreet.accounting.charge_units import Charge
from discreet.core.loss import Neighbours
from discreet.errors import WrongFormat
from discreet.ledger.accounts.access_entries import Access, IssuedKey
from discreet.ledger.accounts.account_rows import account_of, row_of
from discreet.ledger.accounts.totals import Asked, Published, Released, RunningBooks
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.entries import canonical
from discreet.ledger.chain.seals import Seals
from discreet.ledger.charges.open_runs import Run
from discreet.store import Transaction

EVERY = 500
"""Entries from one to the next: as many as are followed again when the books are opened."""
_FORMAT = 8


class Checkpoints:
    """The one checkpoint of the books. Without a secret there is none, and nobody may believe one."""

    def __init__(self, secret: bytes | None) -> None:
        self._secret = secret

    def read(self, t: Transaction) -> RunningBooks | None:
        """The running books at the checkpoint, if it can be believed."""
        rows = t.run("SELECT state, signature FROM ledger_checkpoint")
        if len(rows) != 1 or self._secret is None:
            return None
        state, signature = rows[0]
        if not hmac.compare_digest(self._signed(state).encode(), signature.encode()):
            return None
        facts = json.loads(state)
        if facts["format"] != _FORMAT:
            raise WrongFormat(
                "The checkpoint of this ledger was written by another version of Discreet.",
                next_step="Open the ledger with that version.",
            )
        head = entry_chain.entry_at(t, facts["seq"])
        if head is None or head.hash != facts["hash"] or not Seals(self._secret).fits(head):
            return None
        return _running(facts, RunningBooks(head=head, checkpoint=head.seq))

    def write_if_due(self, t: Transaction, running: RunningBooks) -> None:
        """Replace the checkpoint, once enough was written since."""
        if running.head is not None and running.head.seq >= running.checkpoint + EVERY:
            self.write(t, running)

    def write(self, t: Transaction, running: RunningBooks) -> None:
        """Replace the checkpoint."""
        if self._secret is None or running.head is None:
            return
        running.checkpoint = running.head.seq
        state = canonical(_facts(running))
        t.run("DELETE FROM ledger_checkpoint")
        t.run("INSERT INTO ledger_checkpoint VALUES (?, ?)", state, self._signed(state))

    def _signed(self, state: str) -> str:
        assert self._secret is not None  # noqa: S101  asked where there is one
        return hmac.new(self._secret, b"discreet ledger checkpoint\n" + state.encode(), hashlib.sha256).hexdigest()


def _facts(running: RunningBooks) -> dict[str, Any]:
    head = running.head
    assert head is not None  # noqa: S101  books without an entry have no checkpoint
    return {
        "format": _FORMAT,
        "seq": head.seq,
        "hash": head.hash,
        "day": running.day.isoformat(),
        "accounts": [row_of(account) for account in running.accounts.values()],
        "priced_before": [],  # a part of format 8 that nothing reads
        "neighbours": running.neighbours and running.neighbours.value,
        "version": running.version,
        "begun": running.begun,
        "formats": list(running.formats.items()),
        "asked": [(name, asked.queries, asked.free) for name, asked in running.asked.items()],
        "repeats": running.repeats,
        "released": [
            (names, released.times, released.cost.pure, released.cost.rho, released.cost.delta)
            for names, released in running.released.items()
        ],
        "latest": running.latest,
        "keys": [asdict(key) for key in running.access.keys.values()],
        "users": running.access.users,
        "units": running.units,
        "served": running.served,
        "declared": sorted(running.declared),
        "closed": sorted(running.closed),
        "source": running.source,
        "unanswered": sorted(running.unanswered),
        "runs": [(query, run.budget, run.steps, run.spent) for query, run in running.runs.items()],
        "named": running.named,
        "published": {
            name: {"question": release.query, "time": release.time} for name, release in running.published.items()
        },
        "caps": running.caps,
        "looks": running.looks,
    }


def _running(facts: dict[str, Any], running: RunningBooks) -> RunningBooks:
    running.day = date.fromisoformat(facts["day"])
    accounts = [account_of(row) for row in facts["accounts"]]
    running.accounts = {account.name: account for account in accounts}
    running.neighbours = None if facts["neighbours"] is None else Neighbours(facts["neighbours"])
    running.version, running.begun = facts["version"], facts["begun"]
    running.formats = dict(facts["formats"])
    running.asked = {name: Asked(queries, free) for name, queries, free in facts["asked"]}
    running.repeats = facts["repeats"]
    running.released = {
        tuple(names): Released(times, Charge(pure, rho, delta)) for names, times, pure, rho, delta in facts["released"]
    }
    running.latest = tuple(facts["latest"])
    running.access = Access({key["id"]: IssuedKey(**key) for key in facts["keys"]}, facts["users"])
    running.units, running.served = facts["units"], facts["served"]
    running.declared, running.closed = set(facts["declared"]), set(facts["closed"])
    running.source, running.unanswered = facts["source"], set(facts["unanswered"])
    running.runs = {query: Run(budget, steps, spent) for query, budget, steps, spent in facts["runs"]}
    running.named = facts["named"]
    running.published = {
        name: Published(release["question"], release["time"]) for name, release in facts["published"].items()
    }
    running.caps, running.looks = facts["caps"], facts["looks"]
    return running
