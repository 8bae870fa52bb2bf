"""The writer: read new entries, run jobs in shared transactions, and update checkpoint and anchor."""

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
    """The only way to change the ledger.

    Totals are replaced, never changed in place, so readers keep a consistent copy. They cover committed entries only.
    So a reader that takes the totals before its transaction starts finds all of these entries in the database.
    """

    def __init__(self, store: Store, *, anchor: Anchor, secret: bytes | None, clock: Clock) -> None:
        self._store, self._anchor, self._clock = store, anchor, clock
        self.seals, self._checkpoints = Seals(secret), Checkpoints(secret)
        self._totals: LedgerTotals | None = None
        self._together: GroupCommit[UnitOfWork] = GroupCommit(
            store, begin=self._begin, end=self._end, committed=self._committed
        )

    def write(self, job: Callable[[UnitOfWork], T]) -> T:
        """Run a job, together with other waiting jobs, and wait for the disk."""
        return self._together.run(job)

    @property
    def known(self) -> LedgerTotals | None:
        """The last totals of this process, without reading the database."""
        return self._totals

    @contextmanager
    def reading(self) -> Iterator[UnitOfWork]:
        """Read the ledger at its last entry, without blocking writers."""
        known = self._totals
        with self._store.reading() as t:
            yield self._work(t, self._followed(t, known))

    def _followed(self, t: Transaction, known: LedgerTotals | None) -> LedgerTotals:
        """Return the totals at the last entry, computed from the checkpoint or from the `known` totals."""
        self.seals.check_unbroken()
        self._totals = catch_up(t, known or self._checkpoints.read(t) or LedgerTotals(), self.seals)
        return self._totals

    @contextmanager
    def snapshot(self) -> Iterator[tuple[Transaction, LedgerTotals | None]]:
        """Read all tables at one moment, for as long as needed, with the totals at the checkpoint, if it exists."""
        with self._store.snapshot() as t:
            yield t, self._checkpoints.read(t)

    def write_checkpoint(self, totals: LedgerTotals) -> None:
        """Write a checkpoint of verified totals, so that the next opening starts there."""
        with self._store.transaction() as t:
            if totals.head is not None and entry_chain.entry_at(t, totals.head.seq) == totals.head:
                self._checkpoints.write(t, totals)

    def beat(self) -> None:
        """Commit a tiny write outside of the chain, to test whether the database can be written."""
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
