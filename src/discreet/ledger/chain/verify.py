"""Verification: the books followed from the first entry on, or from the checkpoint, and every table held against them."""

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
    """Nobody looks on."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found. Problems name entries by number and carry nothing else."""

    entries: int
    head: str
    problems: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """What is in order, but should be known."""

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
    """Recompute the chain, and from it alone every price, total, payment, freeze, receipt and answer's hash.

    `anchor` is a head noted earlier, "number:hash"; without one a cut-off tail cannot be seen. With `from_checkpoint`
    only what was written since the signed checkpoint is looked at, and everything where there is none. `progress` is
    told how many of how many entries are done. Books that are sound as a whole get a new checkpoint. Whoever does not have
    their secret can verify all but the seals.
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
                problems.append("the head that was noted is not in the books: entries are missing or changed")
        head = entry_chain.last_entry(t)
        remarks = _remarks(t, seals)
    if not problems and reading.whole:
        with suppress(StoreUnavailable):  # books that can only be read are sound all the same
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
        f"all before entry {entry.seq} was sealed anew without the secret of before, which was lost"
        for entry in entry_chain.entries_of(t, SEAL, before=Before.LOST_SECRET)
    ]
    return remarks if seals.can_be_checked else [*remarks, "the seals were not verified: their secret is not here"]


def _parse_head(anchor: str) -> tuple[int, str]:
    number, colon, noted = anchor.partition(":")
    if not number.isdecimal() or not colon:
        raise BadInput("A noted head is number:hash.", next_step="Give it as it was noted, such as 7:9f86d08…")
    return int(number), noted


@dataclass(slots=True)
class _Reading:
    """One reading of the books at one moment, in memory that does not grow with them."""

    t: Transaction
    totals: LedgerTotals
    seals: Seals
    whole: bool
    progress: Callable[[int, int], None]

    def problems(self) -> list[str]:
        """Everything that is wrong, each said once; of a chain that is broken nothing further is worked out."""
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
                yield f"entry {entry.seq} does not bear the seal of these books"
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
            yield "the accounts are not those that were opened"
        if not all(map(self.totals.sums_match, rows.values())):
            yield "an account's total is not the sum of its charges"
        if any(row.frozen != known[name].frozen for name, row in rows.items() if name in known):
            yield "an account is frozen or free without an entry that says so"
