"""A shuffler's books: messages wait until a crowd is together, and leave it mixed, without senders, numbers and order.

A message is on disk before it is acknowledged. When a crowd leaves, one report of each sender goes into batches in one
commit that deletes the messages; then the file is scrubbed, and nothing tells whose report is whose. Batches have
random numbers and are kept until the collector has them, so that a shuffler that is killed at any point loses none and
doubles none.

No place has more than its share of a crowd, and the crowd that is stated counts places, not senders, whom anybody can
make up. What `shuffle.py` says of n shuffled reports holds for a crowd of n that are honest.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from discreet.errors import OutOfDomain, ReportRefused, UnknownTask
from discreet.local import intake
from discreet.local.allowance import SHARES, Allowances
from discreet.local.books import Received
from discreet.local.client import Draw
from discreet.local.intake import Intake, Quota
from discreet.local.rules import check_unlinkable
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
    """,
    # Messages that waited before places were kept count as one place each.
    """
    DROP TABLE shuffler_self;
    CREATE TABLE shuffler_key (key {blob} NOT NULL);
    ALTER TABLE shuffler_waiting ADD COLUMN place {blob};
    UPDATE shuffler_waiting SET place = sender;
    """,
]
_CROWD = """
SELECT message, payload, place FROM (
    SELECT message, payload, place, ROW_NUMBER() OVER (PARTITION BY place ORDER BY message) AS rank FROM (
        SELECT MIN(message) AS message, payload, place FROM shuffler_waiting WHERE task = ? GROUP BY sender))
WHERE rank <= ? LIMIT ?
"""
"""SQLite takes payload and place of the row with the least number, of each sender: any would do."""
_LONGEST_BATCH = 64_000
"""Bytes: what a collector reads in one piece."""
_LARGEST_CROWD = 1_000_000


class Crowd(NamedTuple):
    """Reports of a task that leave together, and of how many places they are."""

    task: Task
    reports: int
    places: int


class Batch(NamedTuple):
    """A part of a crowd's reports on its way to the collector, in one message. `crowd` is how many places they are of."""

    number: int
    task: str
    crowd: int
    message: bytes


class ShufflerBooks:
    """Messages of some tasks that wait for a crowd of at least `batch`, one from each sender.

    `per_address` is how many of a crowd may come from one place; a twentieth of `batch` unless it is said.
    """

    def __init__(
        self,
        store: Store,
        tasks: Sequence[Task],
        *,
        batch: int,
        per_address: int | None = None,
        quota: Quota | None = None,
        clock: Callable[[], float] = time.time,
        draw: Draw | None = None,
    ) -> None:
        self.tasks = {task.id: task for task in tasks}
        self._store, self._batch, self._clock, self._draw = store, batch, clock, draw or Draw()
        self._quota = quota or Quota()
        self._allowances = Allowances(self._quota, clock=clock)
        self._per_address = per_address or max(1, batch // SHARES)
        for task in tasks:
            check_unlinkable(task)
        intake.prepare(store)
        store.migrate("shuffler", _SCHEMA)
        with store.transaction() as t:
            if not t.run("SELECT 1 FROM shuffler_key"):
                t.run("INSERT INTO shuffler_key VALUES (?)", os.urandom(32))
            self._key = bytes(t.run("SELECT key FROM shuffler_key")[0][0])
        store.scrub()  # for an earlier process that was killed before it did

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
        self._allowances.take(place, task.id, len(message))
        read, payload = read_message(task, message), payload_of(message)
        if len(read.reports) != 1:
            raise OutOfDomain("A device sends one report at a time.", next_step="Use the client of Discreet.")
        door.admit(read, len(payload), from_shuffler=False)
        # Not the address, but whether two are the same: in the file for as long as the message waits.
        hashed = hashlib.blake2b(place.encode(), key=self._key, digest_size=16).digest()
        values = (task.id, read.id, read.sender, payload, hashed)
        t.run("INSERT INTO shuffler_waiting VALUES (?, ?, ?, ?, ?)", *values)

    def mix(self) -> list[Crowd]:
        """Let the crowds leave that are large enough."""
        crowds = [crowd for task in self.tasks.values() if (crowd := self._mix(task)) is not None]
        self._store.scrub()  # every time: somebody may have been reading when the last crowd left
        return crowds

    def _mix(self, task: Task) -> Crowd | None:
        with self._store.transaction() as t:
            rows = t.run(_CROWD, task.id, self._per_address, _LARGEST_CROWD)
            if len(rows) < self._batch:
                return None
            crowd = Crowd(task, len(rows), len({place for _, _, place in rows}))
            reports = np.concatenate([read_payload(task, bytes(payload), 1) for _, payload, _ in rows])
            self._write_batches(t, crowd, reports[permutation(len(rows), self._draw)])
            for number, _, _ in rows:
                t.run("DELETE FROM shuffler_waiting WHERE task = ? AND message = ?", task.id, number)
        return crowd

    def _write_batches(self, t: Transaction, crowd: Crowd, reports: np.ndarray) -> None:
        last = t.run("SELECT MAX(number) FROM shuffler_batches")[0][0] or 0
        most = most_in_a_batch(crowd.task, _LONGEST_BATCH)
        for number, start in enumerate(range(0, len(reports), most), last + 1):
            message = write_batch(crowd.task, reports[start : start + most])
            values = (number, crowd.task.id, crowd.places, message)
            t.run("INSERT INTO shuffler_batches VALUES (?, ?, ?, ?)", *values)

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
