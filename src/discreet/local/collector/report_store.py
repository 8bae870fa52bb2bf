"""Collections that outlive the process: tasks, messages and tallies in a database of their own, never the ledger's.

Anybody may send messages, so what they fill is not what answers are charged to. A message is on disk before it is
acknowledged, and counts once. Every so many messages are folded into a tally and their payloads are forgotten; who
sent them, and under which number, is forgotten some time later (`intake.py`).
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
    """What became of some messages, in their order: a refusal, or None where the message was counted."""

    reports: int
    refusals: list[ReportRefused | None]


class Shuffled(NamedTuple):
    """How many reports came through a shuffler, and the smallest crowd that one of them was hidden in."""

    reports: int
    least_crowd: int


class ReportStore:
    """All collections of one database. Any number of processes may share it; each catches up when it estimates."""

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
        self._allowances = SenderLimits(self._quota, clock=clock)
        intake.prepare(store)
        collection_records.prepare(store)

    @classmethod
    def open(cls, where: str, *, quota: Quota | None = None) -> ReportStore:
        """Those at a path or a postgresql:// URL."""
        return cls(open_store(where), quota=quota)

    @classmethod
    def of(cls, catalog: Catalog) -> ReportStore:
        """Those that a catalog names, with its quotas."""
        return cls.open(catalog.reports, quota=Quota(**catalog.collector))

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def publish(self, task: Task, *, retention_days: int | None = None) -> None:
        """Begin a collection; what it collects is deleted after so many days, where they are given."""
        with self._store.transaction() as t:
            collection_records.publish(t, task, retention_days=retention_days, now=self._clock())

    def records(self) -> tuple[list[Record], list[str]]:
        """All collections; and names of those whose task cannot be carried out."""
        with self._store.transaction() as t:
            collection_records.sweep(t, now=self._clock())
            return collection_records.all_of(t)

    def record(self, name: str) -> Record:
        """A collection by its task's id or its name."""
        with self._store.transaction() as t:
            collection_records.sweep(t, now=self._clock())
            return collection_records.find(t, name)

    def task(self, name: str) -> Task:
        """A task by its id or its name."""
        return self.record(name).task

    def close_task(self, name: str) -> None:
        """Take no more reports for a task; what was collected stays."""
        with self._store.transaction() as t:
            collection_records.close(t, name)
        self._store.scrub()

    def delete_task(self, name: str) -> None:
        """Delete a task with all that was collected."""
        with self._store.transaction() as t:
            collection_records.delete(t, name)
        self._store.scrub()

    def assign(self, task: Task, *, address: str | None = None) -> str:
        """A ticket with a number for one more device; `place` is where it asks from."""
        if address is not None:
            self._allowances.take_slot(address)
        with self._store.transaction() as t:
            self._check_open(t, task)
            counts = read_counts(t, task.id)
            if counts.slots >= min(self._quota.numbers, MAX_TICKETS):
                raise OverQuota("This task has given out all its numbers.", next_step="Report to another task.")
            write_counts(t, task.id, counts._replace(slots=counts.slots + 1))
            return intake.ticket_issuer(t, task).ticket(counts.slots)

    def receive(self, task: Task, messages: Sequence[bytes], *, address: str | None = None) -> Received:
        """Count messages of devices, all in one commit; on disk when this returns. `place` is where they come from."""

        def add(counting: MessageCounter, message: bytes) -> ReportRefused | None:
            try:
                if address is not None:
                    self._allowances.take(address, task.id, len(message))
            except OverQuota as refusal:
                return counting.refuse(refusal)
            return counting.add(message, from_shuffler=False)

        return self._counted(task, messages, add)

    def receive_batch(self, task: Task, message: bytes, *, crowd: int = 0) -> Received:
        """Count a message of a shuffler; `crowd` is how many people it says it hides a report among, 0 all in the message."""
        check_unlinkable(task)
        return self._counted(
            task, [message], lambda counting, given: counting.add(given, from_shuffler=True, crowd=crowd)
        )

    def _counted(
        self, task: Task, messages: Sequence[bytes], add: Callable[[MessageCounter, bytes], ReportRefused | None]
    ) -> Received:
        with self._store.transaction() as t:
            self._check_open(t, task)
            counting = MessageCounter(t, task, quota=self._quota, now=self._clock())
            refusals = [add(counting, message) for message in messages]
            counting.close()
        if counting.counts.waiting >= self._fold_after:
            self._fold(task)  # of what is on disk already: should this fail, nothing is lost
        return Received(counting.reports, refusals)

    def _check_open(self, t: Transaction, task: Task) -> None:
        collection_records.sweep(t, now=self._clock())
        if collection_records.find(t, task.id).state != "open":
            raise TaskClosed("This task takes no more reports.", next_step="Nothing needs to be done.")

    def shuffled(self, task: Task) -> Shuffled:
        """What came through a shuffler."""
        with self._store.transaction() as t:
            counts = read_counts(t, task.id)
        return Shuffled(counts.shuffled, counts.least_crowd)

    def collector(self, task: Task) -> Collector:
        """All that was collected until now."""
        with self._store.transaction() as t:
            _, collector = self._caught_up(t, task)
            seen = Collector.with_tally(task, collector.tally, reports=collector.reports)  # others may go on adding
            seen.refused = intake.read_refusals(t, task.id)
        return seen

    def _caught_up(self, t: Transaction, task: Task) -> tuple[int, Collector]:
        """All messages added up: those that this process knows, or the tally on disk where it is ahead, and the rest."""
        collection_records.sweep(t, now=self._clock())
        record = collection_records.find(t, task.id)
        if record.state == "expired":
            raise TaskClosed("What this task collected is deleted, as it promised.", next_step="Begin a new task.")
        number, collector = self._known.get(record.life) or (0, Collector(task))
        number, collector = read_tally(t, task, number, collector)
        self._known[record.life] = (number, collector)
        for last, reports in read_waiting(t, task, after=number):
            collector.add_reports(reports)
            self._known[record.life] = (last, collector)  # at once: what comes next may fail
        return self._known[record.life]

    def _fold(self, task: Task) -> None:
        """Put a tally in the place of the messages that it counts. Others may have folded them meanwhile."""
        with self._store.transaction() as t:
            if task.protocol.appends:
                for number, reports in read_waiting(t, task, after=0):
                    append_piece(t, task, number, reports)
            else:
                replace_tally(t, task, *self._caught_up(t, task))
        self._store.scrub()
