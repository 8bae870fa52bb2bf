"""Seal all entries with a new secret, when the old one was changed or lost."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from functools import partial

from discreet.ledger.accounts.totals import LedgerTotals
from discreet.ledger.chain import entry_chain, seals
from discreet.ledger.chain.anchor import Anchor
from discreet.ledger.chain.checkpoint import Checkpoints
from discreet.ledger.chain.entries import Entry
from discreet.ledger.chain.entry_clock import Clock, utc_now
from discreet.ledger.chain.seals import Seals
from discreet.ledger.charges.unit_of_work import UnitOfWork, replay
from discreet.store import Store, Transaction

_PAGE = 2_000


class Before(StrEnum):
    """What the ledger was sealed with before, as recorded in the seal entry."""

    ANOTHER_SECRET = "another secret"  # noqa: S105
    LOST_SECRET = "a secret that is lost"  # noqa: S105


def seal_all(store: Store, secret: bytes, *, earlier: bytes | None, before: Before, anchor: Anchor, by: str) -> Entry:
    """Verify the chain from the first entry, seal each entry with `secret`, and return the entry that records it.

    `earlier` is the secret of the present seals; without it only the hashes are checked.
    """
    fresh = Seals(secret)
    with store.transaction() as t:
        anchor.check(partial(entry_chain.hash_at, t))
        totals = _sealed(t, Seals(earlier), fresh)
        work = UnitOfWork(t, totals, clock=Clock(utc_now), seals=fresh)
        entry = work.append(seals.KIND, {"before": before, "by": by})
        work.write()
        Checkpoints(secret).write(t, work.totals)
    anchor.note(work.totals.head or entry)
    return entry


def _sealed(t: Transaction, believed: Seals, fresh: Seals) -> LedgerTotals:
    totals, page = LedgerTotals(), []
    for entry in replay(t, totals, believed):
        totals.head = replace(entry, seal=fresh.of(entry))
        page.append(totals.head)
        if len(page) == _PAGE:
            _write(t, page)
            page = []
    _write(t, page)
    return totals


def _write(t: Transaction, page: list[Entry]) -> None:
    if page:
        rows = ", ".join(["(?, ?)"] * len(page))
        values = [value for entry in page for value in (entry.seq, entry.seal)]
        t.run(
            f"UPDATE ledger_entries SET seal = fresh.column2 FROM (VALUES {rows}) AS fresh "  # noqa: S608
            "WHERE ledger_entries.seq = fresh.column1",
            *values,
        )
