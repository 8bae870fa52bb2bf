"""The report store: the collector's database of tasks, messages and tallies, separate from the ledger.

Messages come from the public, so they must not be able to fill the disk of the ledger. A message is on disk before it
is acknowledged, and counts once. After a number of messages the store folds them into a tally and deletes their
payloads; it deletes their senders and numbers later (`intake.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from discreet.catalog import Catalog
from discreet.errors import OverQuota, ReportRefused, TaskClosed
from discreet.local.collector import collection_records, intake
from discreet.local.collector.collection_records import Record
from discreet.local.collector.collector import Collector
from discreet.local.collector.intake import Quota
from discreet.local.collector.message_counting import MessageCounter, read_counts, write_counts
from discreet.local.collector.sender_limit import SenderLimits
from discreet.local.collector.tallies import append_piece, read_tally, read_waiting, replace_tally
from discreet.local.collector.tickets import MAX_TICKETS
from discreet.local.tasks.task import Task
from discreet.local.tasks.task_rules import check_unlinkable
from discreet.store import Store, Transaction, open_store

_FOLD_AFTER = 2000


class Received(NamedTuple):
    """The number of reports counted, and for each message in order its refusal, or None if it was counted."""

    reports: int
    refusals: list[ReportRefused | None]


class Shuffled(NamedTuple):
    """The number of reports that came through a shuffler, and the smallest crowd among them."""

    reports: int
    least_crowd: int


class ReportStore:
    """All collections of one database. Several processes may share it; each reads new messages when it estimates."""

    def __init__(
        self,
        store: Store,
        *,
        fold_after: int = _FOLD_AFTER,
        quota: Quota | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._fold_after, self._quota, self._clock = store, fold_after, quota or Quota(), clock
        self._known: dict[str, tuple[int, Collector]] = {}
        self._limits = SenderLimits(self._quota, clock=clock)
        intake.prepare(store)
        collection_records.prepare(store)

    @classmethod
    def open(cls, path: str, *, quota: Quota | None = None) -> ReportStore:
        """Open the report store at a path or a postgresql:// URL."""
        return cls(open_store(path), quota=quota)

    @classmethod
    def from_catalog(cls, catalog: Catalog) -> ReportStore:
        """Open the report store of a catalog, with the catalog's quotas."""
        return cls.open(catalog.reports, quota=Quota(**catalog.collector))

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def publish(self, task: Task, *, retention_days: int | None = None) -> None:
        """Start a collection. Its data is deleted after `retention_days`, if given."""
        with self._store.transaction() as t:
            collection_records.publish(t, task, retention_days=retention_days, now=self._clock())

    def records(self) -> tuple[list[Record], list[str]]:
        """Return all collections, and the names of those whose stored task is invalid."""
        with self._store.transaction() as t:
            collection_records.sweep(t, now=self._clock())
            return collection_records.list_records(t)

    def record(self, name: str) -> Record:
        """Return a collection by its task's id or name."""
        with self._store.transaction() as t:
            collection_records.sweep(t, now=self._clock())
            return collection_records.find(t, name)

    def task(self, name: str) -> Task:
        """Return a task by its id or name."""
        return self.record(name).task

    def close_task(self, name: str) -> None:
        """Stop accepting reports for a task. The collected data stays."""
        with self._store.transaction() as t:
            collection_records.close(t, name)
        self._store.scrub()

    def delete_task(self, name: str) -> None:
        """Delete a task with all its collected data."""
        with self._store.transaction() as t:
            collection_records.delete(t, name)
        self._store.scrub()

    def assign(self, task: Task, *, address: str | None = None) -> str:
        """Issue a ticket with a number for a new device. `address` is the network address of the request."""
        if address is not None:
            self._limits.take_slot(address)
        with self._store.transaction() as t:
            self._check_open(t, task)
            counts = read_counts(t, task.id)
            if counts.slots >= min(self._quota.numbers, MAX_TICKETS):
                raise OverQuota("This task has issued all its tickets.", next_step="Report to another task.")
            write_counts(t, task.id, counts._replace(slots=counts.slots + 1))
            return intake.ticket_issuer(t, task).ticket(counts.slots)

    def receive(self, task: Task, messages: Sequence[bytes], *, address: str | None = None) -> Received:
        """Count messages of devices, all in one commit. They are on disk when this returns.

        `address` is the network address of the sender.
        """

        def add(counting: MessageCounter, message: bytes) -> ReportRefused | None:
            try:
                if address is not None:
                    self._limits.take(address, task.id, len(message))
            except OverQuota as refusal:
                return counting.refuse(refusal)
            return counting.add(message, from_shuffler=False)

        return self._receive(task, messages, add)

    def receive_batch(self, task: Task, message: bytes, *, crowd: int = 0) -> Received:
        """Count a message of a shuffler.

        `crowd` is the crowd size that the shuffler states; 0 means the number of reports in the message.
        """
        check_unlinkable(task)
        return self._receive(
            task, [message], lambda counting, given: counting.add(given, from_shuffler=True, crowd=crowd)
        )

    def _receive(
        self, task: Task, messages: Sequence[bytes], add: Callable[[MessageCounter, bytes], ReportRefused | None]
    ) -> Received:
        with self._store.transaction() as t:
            self._check_open(t, task)
            counting = MessageCounter(t, task, quota=self._quota, now=self._clock())
            refusals = [add(counting, message) for message in messages]
            counting.close()
        if counting.counts.waiting >= self._fold_after:
            self._fold(task)  # the messages are committed: a failure here loses nothing
        return Received(counting.reports, refusals)

    def _check_open(self, t: Transaction, task: Task) -> None:
        collection_records.sweep(t, now=self._clock())
        if collection_records.find(t, task.id).state != "open":
            raise TaskClosed("This task accepts no more reports.", next_step="Nothing needs to be done.")

    def shuffled(self, task: Task) -> Shuffled:
        """Return how many reports came through a shuffler."""
        with self._store.transaction() as t:
            counts = read_counts(t, task.id)
        return Shuffled(counts.shuffled, counts.least_crowd)

    def collector(self, task: Task) -> Collector:
        """Return a collector with all reports received so far."""
        with self._store.transaction() as t:
            _, collector = self._catch_up(t, task)
            seen = Collector.with_tally(
                task, collector.tally, reports=collector.reports
            )  # a copy: other threads may add to the cached one
            seen.refused = intake.read_refusals(t, task.id)
        return seen

    def _catch_up(self, t: Transaction, task: Task) -> tuple[int, Collector]:
        """Return the number of the last message, and a collector of all messages up to it.

        It starts from what this process has cached, or from the stored tally if that is newer, and adds the rest.
        """
        collection_records.sweep(t, now=self._clock())
        record = collection_records.find(t, task.id)
        if record.state == "expired":
            raise TaskClosed(
                "This task has expired and its data is deleted.", next_step="Publish a new task under another name."
            )
        number, collector = self._known.get(record.instance) or (0, Collector(task))
        number, collector = read_tally(t, task, number, collector)
        self._known[record.instance] = (number, collector)
        for last, reports in read_waiting(t, task, after=number):
            collector.add_reports(reports)
            self._known[record.instance] = (last, collector)  # after each part, since the next part may fail
        return self._known[record.instance]

    def _fold(self, task: Task) -> None:
        """Replace messages by the tally that counts them. Another process may have folded some in the meantime."""
        with self._store.transaction() as t:
            if task.protocol.appends:
                for number, reports in read_waiting(t, task, after=0):
                    append_piece(t, task, number, reports)
            else:
                replace_tally(t, task, *self._catch_up(t, task))
        self._store.scrub()
