"""The writer: follows the chain, runs jobs in transactions together, and keeps checkpoint and anchor up to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from discreet.ledger.accounts.totals import LedgerTotals
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.anchor import Anchor
from discreet.ledger.chain.checkpoint import Checkpoints
from discreet.ledger.chain.entry_clock import Clock
from discreet.ledger.chain.seals import Seals
from discreet.ledger.charges.unit_of_work import UnitOfWork, catch_up
from discreet.store import GroupCommit, Store, Transaction

T = TypeVar("T")


class Writer:
    """What every change of the books goes through.

    The running books are replaced, not changed: what was handed out stays as it was. They are always those of entries that are committed,
    so whoever takes them before a look at the database begins finds all of these entries there.
    """

    def __init__(self, store: Store, *, anchor: Anchor, secret: bytes | None, clock: Clock) -> None:
        self._store, self._anchor, self._clock = store, anchor, clock
        self.seals, self._checkpoints = Seals(secret), Checkpoints(secret)
        self._totals: LedgerTotals | None = None
        self._together: GroupCommit[UnitOfWork] = GroupCommit(
            store, begin=self._begin, end=self._end, committed=self._committed
        )

    def write(self, job: Callable[[UnitOfWork], T]) -> T:
        """Run a job, with whatever others are waiting to write, and wait for the disk."""
        return self._together.run(job)

    @property
    def known(self) -> LedgerTotals | None:
        """The running books as this process has seen them last, without a look at the database."""
        return self._totals

    @contextmanager
    def reading(self) -> Iterator[UnitOfWork]:
        """The books at the last entry, to look something up in them: no writer waits for it."""
        known = self._totals
        with self._store.reading() as t:
            yield self._work(t, self._followed(t, known))

    def _followed(self, t: Transaction, known: LedgerTotals | None) -> LedgerTotals:
        """The running books at the last entry: from the checkpoint on at first, later from what was known before the transaction began."""
        self.seals.check_unbroken()
        self._totals = catch_up(t, known or self._checkpoints.read(t) or LedgerTotals(), self.seals)
        return self._totals

    @contextmanager
    def snapshot(self) -> Iterator[tuple[Transaction, LedgerTotals | None]]:
        """All tables at one moment, for reading at length, and the running books at the checkpoint, if there is one."""
        with self._store.snapshot() as t:
            yield t, self._checkpoints.read(t)

    def write_checkpoint(self, totals: LedgerTotals) -> None:
        """Sign books that were verified, so that the next to open them goes on from there."""
        with self._store.transaction() as t:
            if totals.head is not None and entry_chain.entry_at(t, totals.head.seq) == totals.head:
                self._checkpoints.write(t, totals)

    def beat(self) -> None:
        """Commit a tiny write that changes nothing of the books, to find out whether anything can be written."""
        self.seals.check_unbroken()
        with self._store.transaction() as t:
            self._anchor.check(partial(entry_chain.hash_at, t))
            t.run("UPDATE ledger_pulse SET beat = beat + 1")

    def _work(self, t: Transaction, totals: LedgerTotals) -> UnitOfWork:
        return UnitOfWork(t, totals, clock=self._clock, seals=self.seals)

    def _begin(self, t: Transaction) -> UnitOfWork:
        self.seals.require_key()
        self._anchor.check(partial(entry_chain.hash_at, t))
        return self._work(t, self._followed(t, self._totals).fork())

    def _end(self, work: UnitOfWork) -> None:
        self._checkpoints.write_if_due(work.t, work.totals)

    def _committed(self, work: UnitOfWork) -> None:
        self._totals = work.totals
        self._anchor.note(work.totals.head)
