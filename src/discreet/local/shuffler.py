"""A shuffler's books: messages wait until a crowd is together, and leave it mixed, without senders, numbers and order.

A message is on disk before it is acknowledged. When a crowd leaves, one report of each sender goes into batches in one
commit that deletes the messages; from then on nothing tells whose report is whose. Batches are numbered in order and
kept until the collector has them, so that a shuffler that is killed at any point loses none and doubles none.

What `shuffle.py` says of n shuffled reports holds for such a crowd of n.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from discreet.errors import BadTask, OutOfDomain, OverQuota, ReportRefused, UnknownTask
from discreet.local import intake
from discreet.local.allowance import Allowance
from discreet.local.books import Received
from discreet.local.client import Draw
from discreet.local.intake import Intake, Quota
from discreet.local.task import Task
from discreet.local.wire import most_in_a_batch, payload_of, read_message, read_payload, write_batch
from discreet.store import Store, Transaction

_SCHEMA = [
    """
    CREATE TABLE shuffler_self (name {blob} NOT NULL, number BIGINT NOT NULL);
    CREATE TABLE shuffler_waiting (
        task TEXT NOT NULL, message {blob} NOT NULL, sender {blob} NOT NULL, payload {blob} NOT NULL,
        PRIMARY KEY (task, message));
    CREATE INDEX shuffler_senders ON shuffler_waiting (task, sender);
    CREATE TABLE shuffler_batches (
        number BIGINT PRIMARY KEY, task TEXT NOT NULL, crowd BIGINT NOT NULL, message {blob} NOT NULL);
    """
]
_LONGEST_BATCH = 64_000
"""Bytes: what a collector reads in one piece."""
_LARGEST_CROWD = 1_000_000


class Batch(NamedTuple):
    """A part of a crowd's reports on its way to the collector, in one message."""

    number: int
    task: str
    crowd: int
    message: bytes


class ShufflerBooks:
    """Messages of some tasks that wait for a crowd of at least `batch`, one from each sender."""

    def __init__(
        self,
        store: Store,
        tasks: Sequence[Task],
        *,
        batch: int,
        quota: Quota | None = None,
        clock: Callable[[], float] = time.time,
        draw: Draw | None = None,
    ) -> None:
        self.tasks = {task.id: task for task in tasks}
        self._store, self._batch, self._clock, self._draw = store, batch, clock, draw or Draw()
        self._quota = quota or Quota()
        self._allowance = Allowance(a_day=self._quota.messages_a_day_per_address, clock=clock)
        for task in tasks:
            if task.spec["assigned"]:
                raise BadTask(
                    "The collector has given every device of this task a number, so that shuffling hides nobody.",
                    next_step="Let devices draw their own numbers: assigned=False.",
                )
        intake.prepare(store)
        store.migrate("shuffler", _SCHEMA)
        with store.transaction() as t:
            if not t.run("SELECT 1 FROM shuffler_self"):
                t.run("INSERT INTO shuffler_self VALUES (?, 0)", os.urandom(8))

    def task(self, name: str) -> Task:
        """A task by its id or its name."""
        for task in self.tasks.values():
            if name in (task.id, task.name):
                return task
        raise UnknownTask("There is no such task.", next_step="Ask whoever runs the shuffler which tasks it takes.")

    def receive(self, task: Task, messages: Sequence[bytes], *, place: str) -> Received:
        """Take messages of devices, all in one commit; on disk when this returns."""
        refusals: list[ReportRefused | None] = []
        with self._store.transaction() as t:
            door = Intake(t, task, quota=self._quota, now=self._clock())
            for message in messages:
                try:
                    self._take(t, task, door, message, place)
                    refusals.append(None)
                except ReportRefused as refusal:
                    door.refused(refusal)
                    refusals.append(refusal)
            door.close()
        return Received(refusals.count(None), refusals)

    def _take(self, t: Transaction, task: Task, door: Intake, message: bytes, place: str) -> None:
        if not self._allowance.take(place):
            raise OverQuota("This address has sent all it may send in a day.", next_step="Send the message tomorrow.")
        read, payload = read_message(task, message), payload_of(message)
        if len(read.reports) != 1:
            raise OutOfDomain("A device sends one report at a time.", next_step="Use the client of Discreet.")
        door.admit(read, len(payload), from_shuffler=False)
        t.run("INSERT INTO shuffler_waiting VALUES (?, ?, ?, ?)", task.id, read.id, read.sender, payload)

    def mix(self) -> list[tuple[Task, int]]:
        """Let the crowds leave that are large enough; which, and how large each is."""
        crowds = [(task, self._mix(task)) for task in self.tasks.values()]
        return [(task, crowd) for task, crowd in crowds if crowd]

    def _mix(self, task: Task) -> int:
        with self._store.transaction() as t:
            # SQLite takes the payload of the row with the least number, of each sender: any would do.
            sql = "SELECT MIN(message), payload FROM shuffler_waiting WHERE task = ? GROUP BY sender LIMIT ?"
            rows = t.run(sql, task.id, _LARGEST_CROWD)
            if len(rows) < self._batch:
                return 0
            reports = np.concatenate([read_payload(task, bytes(payload), 1) for _, payload in rows])
            self._write_batches(t, task, reports[permutation(len(rows), self._draw)])
            for number, _ in rows:
                t.run("DELETE FROM shuffler_waiting WHERE task = ? AND message = ?", task.id, number)
        return len(rows)

    def _write_batches(self, t: Transaction, task: Task, reports: np.ndarray) -> None:
        name, number = t.run("SELECT name, number FROM shuffler_self")[0]
        most = most_in_a_batch(task, _LONGEST_BATCH)
        for start in range(0, len(reports), most):
            number += 1
            identity = bytes(name) + number.to_bytes(8, "big")
            message = write_batch(task, reports[start : start + most], number=identity)
            t.run("INSERT INTO shuffler_batches VALUES (?, ?, ?, ?)", number, task.id, len(reports), message)
        t.run("UPDATE shuffler_self SET number = ?", number)

    def next_batch(self) -> Batch | None:
        """The oldest batch that the collector does not have yet, as far as is known here."""
        with self._store.transaction() as t:
            rows = t.run("SELECT number, task, crowd, message FROM shuffler_batches ORDER BY number LIMIT 1")
        return Batch(*rows[0]) if rows else None

    def delivered(self, batch: Batch) -> None:
        """The collector has it."""
        with self._store.transaction() as t:
            t.run("DELETE FROM shuffler_batches WHERE number = ?", batch.number)

    def close(self) -> None:
        """Let go of the file."""
        self._store.close()


def permutation(count: int, draw: Draw) -> list[int]:
    """0, 1, ..., count - 1 in an order that is as likely as any other (Fisher and Yates)."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = draw.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order
