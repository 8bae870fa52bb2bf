"""Checkpoints: signed ledger totals at one entry, so that opening a ledger need not read all entries.

A checkpoint that is missing, has a wrong signature or is about an unknown entry is ignored: the chain is then read from
its first entry. A signed checkpoint of another format is refused.
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
from discreet.ledger.accounts.totals import LedgerTotals, Published, QueryCounts, ReleaseTotal
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.entries import canonical
from discreet.ledger.chain.seals import Seals
from discreet.ledger.charges.open_runs import Run
from discreet.store import Transaction

EVERY = 500
"""Entries between two checkpoints: at most this many are read again at opening."""
_FORMAT = 8


class Checkpoints:
    """The checkpoint of a ledger. Without the secret, it is neither read nor written."""

    def __init__(self, secret: bytes | None) -> None:
        self._secret = secret

    def read(self, t: Transaction) -> LedgerTotals | None:
        """Return the totals at the checkpoint if its signature and its entry are right."""
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
        return _totals_from_json(facts, LedgerTotals(head=head, checkpoint=head.seq))

    def write_if_due(self, t: Transaction, totals: LedgerTotals) -> None:
        """Replace the checkpoint after every `EVERY` entries."""
        if totals.head is not None and totals.head.seq >= totals.checkpoint + EVERY:
            self.write(t, totals)

    def write(self, t: Transaction, totals: LedgerTotals) -> None:
        """Replace the checkpoint."""
        if self._secret is None or totals.head is None:
            return
        totals.checkpoint = totals.head.seq
        state = canonical(_totals_to_json(totals))
        t.run("DELETE FROM ledger_checkpoint")
        t.run("INSERT INTO ledger_checkpoint VALUES (?, ?)", state, self._signed(state))

    def _signed(self, state: str) -> str:
        assert self._secret is not None  # noqa: S101  callers check the secret
        return hmac.new(self._secret, b"discreet ledger checkpoint\n" + state.encode(), hashlib.sha256).hexdigest()


def _totals_to_json(totals: LedgerTotals) -> dict[str, Any]:
    head = totals.head
    assert head is not None  # noqa: S101  an empty ledger has no checkpoint
    return {
        "format": _FORMAT,
        "seq": head.seq,
        "hash": head.hash,
        "day": totals.day.isoformat(),
        "accounts": [row_of(account) for account in totals.accounts.values()],
        "priced_before": [],  # unused part of format 8
        "neighbours": totals.neighbours and totals.neighbours.value,
        "version": totals.version,
        "begun": totals.begun,
        "formats": list(totals.formats.items()),
        "asked": [(name, asked.queries, asked.free) for name, asked in totals.asked.items()],
        "repeats": totals.repeats,
        "released": [
            (names, released.times, released.cost.pure, released.cost.rho, released.cost.delta)
            for names, released in totals.released.items()
        ],
        "latest": totals.latest,
        "keys": [asdict(key) for key in totals.access.keys.values()],
        "users": totals.access.users,
        "units": totals.units,
        "served": totals.served,
        "declared": sorted(totals.declared),
        "closed": sorted(totals.closed),
        "source": totals.source,
        "unanswered": sorted(totals.unanswered),
        "runs": [(query, run.budget, run.steps, run.spent) for query, run in totals.runs.items()],
        "named": totals.named,
        "published": {
            name: {"question": release.query, "time": release.time} for name, release in totals.published.items()
        },
        "caps": totals.caps,
        "looks": totals.watch_entries,
    }


def _totals_from_json(facts: dict[str, Any], totals: LedgerTotals) -> LedgerTotals:
    totals.day = date.fromisoformat(facts["day"])
    accounts = [account_of(row) for row in facts["accounts"]]
    totals.accounts = {account.name: account for account in accounts}
    totals.neighbours = None if facts["neighbours"] is None else Neighbours(facts["neighbours"])
    totals.version, totals.begun = facts["version"], facts["begun"]
    totals.formats = dict(facts["formats"])
    totals.asked = {name: QueryCounts(queries, free) for name, queries, free in facts["asked"]}
    totals.repeats = facts["repeats"]
    totals.released = {
        tuple(names): ReleaseTotal(times, Charge(pure, rho, delta))
        for names, times, pure, rho, delta in facts["released"]
    }
    totals.latest = tuple(facts["latest"])
    totals.access = Access({key["id"]: IssuedKey(**key) for key in facts["keys"]}, facts["users"])
    totals.units, totals.served = facts["units"], facts["served"]
    totals.declared, totals.closed = set(facts["declared"]), set(facts["closed"])
    totals.source, totals.unanswered = facts["source"], set(facts["unanswered"])
    totals.runs = {query: Run(budget, steps, spent) for query, budget, steps, spent in facts["runs"]}
    totals.named = facts["named"]
    totals.published = {
        name: Published(release["question"], release["time"]) for name, release in facts["published"].items()
    }
    totals.caps, totals.watch_entries = facts["caps"], facts["looks"]
    return totals
