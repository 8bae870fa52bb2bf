"""Store the messages of one task inside one transaction: admit each, queue its payload and update the counts."""

from __future__ import annotations

from typing import NamedTuple

from discreet.errors import ReportRefused
from discreet.local.collector.intake import Intake, Quota
from discreet.local.tasks.messages import NO_SENDER, Message, payload_of, read_message
from discreet.local.tasks.task import Task
from discreet.store import Transaction

_SELECT = """
SELECT number, waiting, waiting_bytes, tally_bytes, slots, shuffled, least_crowd FROM collection_counts WHERE task = ?
"""


class Counts(NamedTuple):
    """Counts of one task.

    The number of the last message; messages and bytes that wait to be folded; bytes of the tally; tickets issued;
    reports that came through a shuffler; and the smallest crowd of these.
    """

    number: int = 0
    waiting: int = 0
    waiting_bytes: int = 0
    tally_bytes: int = 0
    slots: int = 0
    shuffled: int = 0
    least_crowd: int = 0


def read_counts(t: Transaction, task: str) -> Counts:
    """Read the counts of a task."""
    rows = t.run(_SELECT, task)
    return Counts(*map(int, rows[0])) if rows else Counts()


def write_counts(t: Transaction, task: str, counts: Counts) -> None:
    """Store the counts of a task."""
    t.run("DELETE FROM collection_counts WHERE task = ?", task)
    t.run("INSERT INTO collection_counts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", task, *counts)


class MessageCounter:
    """Count messages of one task; `close` writes the counts."""

    def __init__(self, t: Transaction, task: Task, *, quota: Quota, now: float) -> None:
        self._t, self._task = t, task
        self.counts = read_counts(t, task.id)
        stored = self.counts.waiting_bytes + self.counts.tally_bytes
        self._intake = Intake(t, task, quota=quota, now=now, stored_bytes=stored)
        self.reports = 0

    def add(self, message: bytes, *, from_shuffler: bool, crowd: int = 0) -> ReportRefused | None:
        """Count a message, or return the refusal.

        `crowd` is the crowd size that the shuffler states; 0 means the number of reports in the message.
        """
        try:
            read = read_message(self._task, message)
            payload = payload_of(message)
            self._intake.admit(read, len(payload), from_shuffler=from_shuffler)
        except ReportRefused as refusal:
            return self.refuse(refusal)
        self._store_payload(read, payload, crowd)
        return None

    def refuse(self, refusal: ReportRefused) -> ReportRefused:
        """Count a refusal."""
        self._intake.count_refusal(refusal)
        return refusal

    def _store_payload(self, message: Message, payload: bytes, crowd: int) -> None:
        counts, reports = self.counts, len(message.reports)
        if message.sender == NO_SENDER:
            crowd = crowd or reports
            least = min(counts.least_crowd or crowd, crowd)
            counts = counts._replace(shuffled=counts.shuffled + reports, least_crowd=least)
        self.counts = counts._replace(
            number=counts.number + 1,
            waiting=counts.waiting + 1,
            waiting_bytes=counts.waiting_bytes + len(payload),
        )
        values = (self._task.id, self.counts.number, reports, payload)
        self._t.run("INSERT INTO collection_waiting VALUES (?, ?, ?, ?)", *values)
        self.reports += reports

    def close(self) -> None:
        """Write all counts to the database."""
        self._intake.close()
        write_counts(self._t, self._task.id, self.counts)
