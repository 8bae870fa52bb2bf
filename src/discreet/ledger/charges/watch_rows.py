"""Watches: queries whose stored answer is a noisy threshold, with one bit for each data version."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.ledger.chain import entry_chain
from discreet.ledger.charges.stored_queries import answer_bytes
from discreet.ledger.charges.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class WatchState:
    """The stored state of a watch. `threshold` is noisy, used for comparison only and never returned.

    `lost` means that the stored threshold is missing or was changed.
    """

    bits: Mapping[int, bool]
    """By data version: whether the count was above."""
    threshold: bytes | None = field(repr=False)
    failed: bool
    lost: bool

    @property
    def ended(self) -> str | None:
        """Why no more bits will be added; `None` while the watch is open."""
        reasons = {"above": any(self.bits.values()), "failed": self.failed, "lost": self.lost}
        return next((reason for reason, holds in reasons.items() if holds), None)


def watch_state(work: UnitOfWork, query: str) -> WatchState:
    """Return the state of a watch by its query key."""
    entries = [work.seals.check(entry) for entry in entry_chain.outcomes(work.t, query)]
    rows = work.t.run("SELECT answer FROM ledger_questions WHERE question = ?", query)
    threshold = answer_bytes(rows[0][0]) if rows else None
    written = [entry.body["sha256"] for entry in entries if entry.kind == "answer"]
    there = [] if threshold is None else [hashlib.sha256(threshold).hexdigest()]
    watches = [entry.body for entry in entries if entry.kind == "watch"]
    if len(watches) != work.totals.watch_entries.get(query, 0):
        work.seals.refuse("An entry of a watch is missing")
    had_one = bool(watches or (rows and query not in work.totals.unanswered))
    return WatchState(
        bits={body["version"]: body["above"] for body in watches if "above" in body},
        threshold=threshold,
        failed=any("failed" in body for body in watches),
        lost=there != written or (had_one and not written),
    )


def record_bit(work: UnitOfWork, query: str, *, version: int, above: bool | None) -> WatchState:
    """Store the bit of an evaluation (`None`: it failed), unless the version has one or the watch has ended."""
    known = watch_state(work, query)
    if known.ended or (above is not None and version in known.bits):
        return known
    outcome = {"failed": True} if above is None else {"above": above}
    work.append("watch", {"question": query, "version": version, **outcome})
    return watch_state(work, query)
