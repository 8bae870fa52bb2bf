"""Verification: recompute the chain from the first entry, or from the checkpoint, and check every table against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from discreet.errors import BadInput, LedgerDamaged, StoreUnavailable
from discreet.ledger.accounts import account_rows
from discreet.ledger.accounts.totals import LedgerTotals
from discreet.ledger.chain import entry_chain, entry_clock
from discreet.ledger.chain.entries import GENESIS, Entry
from discreet.ledger.chain.reseal import Before
from discreet.ledger.chain.seals import KIND as SEAL
from discreet.ledger.chain.seals import Seals
from discreet.ledger.chain.table_checks import Tables
from discreet.ledger.charges.ledger import Ledger
from discreet.store import Transaction

_MAX_PROBLEMS = 100
_PROGRESS_EVERY = 10_000


def _no_progress(_done: int, _all: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of a verification. Problems contain entry numbers and no other data."""

    entries: int
    head: str
    problems: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """Facts that are no problems but should be known."""

    @property
    def sound(self) -> bool:
        return not self.problems


def verify(
    ledger: Ledger,
    *,
    anchor: str | None = None,
    from_checkpoint: bool = False,
    progress: Callable[[int, int], None] = _no_progress,
) -> Verification:
    """Recompute the chain, and from it alone every cost, total, charge, freeze, receipt and hash of an answer.

    `anchor` is an earlier head, "number:hash"; without one, missing entries at the end cannot be noticed. With
    `from_checkpoint` only the entries since the signed checkpoint are checked, or all if it is missing. `progress`
    receives the number of checked entries and of all entries. After a full check without problems a new checkpoint is
    written. Without the secret, everything but the seals is checked.
    """
    noted = None if anchor is None else _parse_head(anchor)
    with ledger.writer.snapshot() as (t, checkpoint):
        begun = checkpoint if from_checkpoint else None
        seals = ledger.writer.seals
        reading = _Reading(t, begun or LedgerTotals(), seals, whole=begun is None, progress=progress)
        problems = reading.problems()
        if noted is not None and noted[0] > 0:
            entry = entry_chain.entry_at(t, noted[0])
            if entry is None or entry.hash != noted[1]:
                problems.append("the anchored head is not in the ledger: entries are missing or changed")
        head = entry_chain.last_entry(t)
        remarks = _remarks(t, seals)
    if not problems and reading.whole:
        with suppress(StoreUnavailable):  # a read-only ledger can be sound too
            ledger.writer.write_checkpoint(reading.totals)
    return Verification(
        head.seq if head else 0,
        head.hash if head else GENESIS,
        tuple(problems[:_MAX_PROBLEMS]),
        tuple(remarks[-_MAX_PROBLEMS:]),
    )


def _remarks(t: Transaction, seals: Seals) -> list[str]:
    remarks = [f"the clock was set back at entry {entry.seq}" for entry in entry_chain.entries_of(t, entry_clock.KIND)]
    remarks += [
        f"all entries before {entry.seq} were sealed again without the previous secret, which was lost"
        for entry in entry_chain.entries_of(t, SEAL, before=Before.LOST_SECRET)
    ]
    return remarks if seals.can_be_checked else [*remarks, "the seals were not verified: the secret is missing"]


def _parse_head(anchor: str) -> tuple[int, str]:
    number, colon, noted = anchor.partition(":")
    if not number.isdecimal() or not colon:
        raise BadInput("An anchored head has the form number:hash.", next_step="For example 7:9f86d08…")
    return int(number), noted


@dataclass(slots=True)
class _Reading:
    """One check of the ledger at one moment, in memory that does not grow with its size."""

    t: Transaction
    totals: LedgerTotals
    seals: Seals
    whole: bool
    progress: Callable[[int, int], None]

    def problems(self) -> list[str]:
        """Return all distinct problems. After a broken link nothing further is computed."""
        problems: dict[str, None] = {}
        for problem in self._each():
            problems[problem] = None
            if len(problems) == _MAX_PROBLEMS:
                break
        return list(problems)

    def _each(self) -> Iterable[str]:
        tables, last, is_linked = Tables(self.t), entry_chain.last_entry(self.t), True
        for entry in entry_chain.entries_after(self.t, self.totals.head.seq if self.totals.head else 0):
            wrong = self.totals.follow(entry) if is_linked else self.totals.link_problems(entry)
            yield from wrong
            if not wrong and not self.seals.covers(entry):
                yield f"entry {entry.seq} does not have the seal of this ledger"
            is_linked = is_linked and self.totals.head is entry
            self.totals.head = entry
            if is_linked and not wrong:
                yield from self._rows(tables, entry)
            if last is not None and entry.seq % _PROGRESS_EVERY == 0:
                self.progress(entry.seq, last.seq)
        if is_linked:
            yield from self._accounts()
            yield from tables.surplus(self.totals, self.seals) if self.whole else ()

    def _rows(self, tables: Tables, entry: Entry) -> list[str]:
        try:
            return list(tables.problems(entry, self.totals))
        except (KeyError, TypeError):
            return [f"entry {entry.seq} cannot be read"]

    def _accounts(self) -> Iterable[str]:
        try:
            rows = {account.name: account for account in account_rows.load_all(self.t)}
        except LedgerDamaged as damage:
            yield damage.problem.rstrip(".").lower()
            return
        known = self.totals.accounts
        if {name: row.filter for name, row in rows.items()} != {name: row.filter for name, row in known.items()}:
            yield "the accounts do not match the entries"
        if not all(map(self.totals.sums_match, rows.values())):
            yield "an account's total is not the sum of its charges"
        if any(row.frozen != known[name].frozen for name, row in rows.items() if name in known):
            yield "an account is frozen or unfrozen without an entry"
