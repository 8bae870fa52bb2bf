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
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from discreet.errors import OutOfDomain, OverQuota, ReplayedReport, ReportRefused, UnknownTask
from discreet.local.collector import intake
from discreet.local.collector.intake import Intake, Quota
from discreet.local.collector.report_store import Received
from discreet.local.collector.sender_limit import SHARES, SenderLimits
from discreet.local.device.client import Draw
from discreet.local.tasks.messages import most_in_a_batch, payload_of, read_message, read_payload, write_batch
from discreet.local.tasks.task import Task
from discreet.local.tasks.task_rules import check_unlinkable
from discreet.store import Store, Transaction

_VERSION = 3
_SCHEMA = """
CREATE TABLE shuffler_key (key {blob} NOT NULL);
CREATE TABLE shuffler_waiting (
    task TEXT NOT NULL, message {blob} NOT NULL, sender {blob} NOT NULL, payload {blob} NOT NULL, place {blob},
    PRIMARY KEY (task, message));
CREATE INDEX shuffler_senders ON shuffler_waiting (task, sender);
CREATE INDEX shuffler_places ON shuffler_waiting (task, place);
CREATE TABLE shuffler_counts (task TEXT PRIMARY KEY, waiting BIGINT NOT NULL, bytes BIGINT NOT NULL);
CREATE TABLE shuffler_batches (
    number BIGINT PRIMARY KEY, task TEXT NOT NULL, crowd BIGINT NOT NULL, message {blob} NOT NULL);
"""
_LONGEST_BATCH = 64_000
"""Bytes: what a collector reads in one piece."""
_MOST_WAITING = 1_000_000
"""Messages of a task; as many bytes as a quota says."""
_CROWDS_AHEAD = 20
_LEAST_AHEAD = 1_000
"""Messages of one place that wait: what it has in so many crowds, or this many, where that is more."""


class Crowd(NamedTuple):
    """Reports of a task that leave together, and of how many places they are."""

    task: Task
    reports: int
    addresses: int


class Batch(NamedTuple):
    """A part of a crowd's reports on its way to the collector, in one message. `crowd` is how many places they are of."""

    number: int
    task: str
    crowd: int
    message: bytes


class ShufflerStore:
    """Messages of some tasks that wait for a crowd of at least `batch`, one from each sender.

    `per_address` is how many of a crowd may come from one place; a twentieth of `batch` unless it is said. Which ones
    leave, where there are more, is drawn anew for every crowd: no sender can choose it.
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
        self._allowances = SenderLimits(self._quota, clock=clock)
        self._per_address = per_address or max(1, batch // SHARES)
        for task in tasks:
            check_unlinkable(task)
        intake.prepare(store)
        store.create_tables("shuffler", _SCHEMA, version=_VERSION)
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

    def receive(self, task: Task, messages: Sequence[bytes], *, address: str) -> Received:
        """Take messages of devices, all in one commit; on disk when this returns."""
        refusals: list[ReportRefused | None] = []
        with self._store.transaction() as t:
            waiting, size = _counts(t, task)
            admission = Intake(t, task, quota=self._quota, now=self._clock(), kept=size)
            for message in messages:
                try:
                    size += self._take(t, task, admission, message, address=address, waiting=waiting)
                    waiting += 1
                    refusals.append(None)
                except ReportRefused as refusal:
                    admission.refused(refusal)
                    refusals.append(refusal)
            admission.close()
            _count(t, task, waiting, size)
        return Received(refusals.count(None), refusals)

    def _take(
        self, t: Transaction, task: Task, admission: Intake, message: bytes, *, address: str, waiting: int
    ) -> int:
        """Let a message wait; how many bytes."""
        self._allowances.take(address, task.id, len(message))
        read, payload = read_message(task, message), payload_of(message)
        if len(read.reports) != 1:
            raise OutOfDomain("A device sends one report at a time.", next_step="Use the client of Discreet.")
        if t.run("SELECT 1 FROM shuffler_waiting WHERE task = ? AND message = ?", task.id, read.id):
            raise ReplayedReport("This message waits already.", next_step="Nothing needs to be done.")
        # Not the address, but whether two are the same: in the file for as long as the message waits.
        hash_code = hashlib.blake2b(address.encode(), key=self._key, digest_size=16).digest()
        self._check_queue(t, task, hash_code, waiting)
        admission.admit(read, len(payload), from_shuffler=False)
        values = (task.id, read.id, read.sender, payload, hash_code)
        t.run("INSERT INTO shuffler_waiting VALUES (?, ?, ?, ?, ?)", *values)
        return len(payload)

    def _check_queue(self, t: Transaction, task: Task, address: bytes, waiting: int) -> None:
        most = max(_LEAST_AHEAD, _CROWDS_AHEAD * self._per_address)
        sql = "SELECT COUNT(*) FROM (SELECT 1 FROM shuffler_waiting WHERE task = ? AND place = ? LIMIT ?) AS ahead"
        if waiting >= _MOST_WAITING or t.run(sql, task.id, address, most)[0][0] >= most:
            raise OverQuota("Too many reports wait here for a crowd.", next_step="Send the message another day.")

    def mix(self) -> list[Crowd]:
        """Let the crowds leave that are large enough."""
        crowds = [crowd for task in self.tasks.values() if (crowd := self._mix(task)) is not None]
        self._store.scrub()  # every time: somebody may have been reading when the last crowd left
        return crowds

    def _mix(self, task: Task) -> Crowd | None:
        with self._store.transaction() as t:
            chosen = self._choose_crowd(t, task)
            if len(chosen) < self._batch:
                return None
            crowd = Crowd(task, len(chosen), len(set(chosen.values())))
            sql = "DELETE FROM shuffler_waiting WHERE task = ? AND message = ? RETURNING payload"
            payloads = [bytes(t.run(sql, task.id, number)[0][0]) for number in chosen]
            reports = np.concatenate([read_payload(task, payload, 1) for payload in payloads])
            self._write_batches(t, crowd, reports[permutation(len(chosen), self._draw)])
            waiting, size = _counts(t, task)
            _count(t, task, waiting - len(payloads), size - sum(map(len, payloads)))
        return crowd

    def _choose_crowd(self, t: Transaction, task: Task) -> dict[bytes, bytes]:
        """Messages of a crowd, with their places: one of each sender, no more of a place than its share."""
        rows = t.run("SELECT message, sender, place FROM shuffler_waiting WHERE task = ?", task.id)
        if len(rows) < self._batch:
            return {}
        key = os.urandom(32)  # for this crowd alone
        rows.sort(key=lambda row: hashlib.blake2b(row[0], key=key, digest_size=16).digest())
        chosen: dict[bytes, bytes] = {}
        senders: set[bytes] = set()
        by_address: Counter[bytes] = Counter()
        for message, sender, address in rows:
            if sender not in senders and by_address[address] < self._per_address:
                chosen[message] = address
                senders.add(sender)
                by_address[address] += 1
        return chosen

    def _write_batches(self, t: Transaction, crowd: Crowd, reports: np.ndarray) -> None:
        last = t.run("SELECT MAX(number) FROM shuffler_batches")[0][0] or 0
        most = most_in_a_batch(crowd.task, _LONGEST_BATCH)
        for number, start in enumerate(range(0, len(reports), most), last + 1):
            message = write_batch(crowd.task, reports[start : start + most])
            values = (number, crowd.task.id, crowd.addresses, message)
            t.run("INSERT INTO shuffler_batches VALUES (?, ?, ?, ?)", *values)

    def next_batches(self) -> list[Batch]:
        """Of each task the oldest batch that the collector does not have yet, as far as is known here."""
        sql = "SELECT MIN(number) FROM shuffler_batches GROUP BY task"
        with self._store.transaction() as t:
            rows = t.run(f"SELECT number, task, crowd, message FROM shuffler_batches WHERE number IN ({sql})")  # noqa: S608
        return [Batch(*row) for row in rows]

    def delivered(self, batch: Batch) -> None:
        """The collector has it."""
        with self._store.transaction() as t:
            t.run("DELETE FROM shuffler_batches WHERE number = ?", batch.number)

    def close(self) -> None:
        """Let go of the file."""
        self._store.close()


def _counts(t: Transaction, task: Task) -> tuple[int, int]:
    """How many messages of a task wait, and their bytes."""
    rows = t.run("SELECT waiting, bytes FROM shuffler_counts WHERE task = ?", task.id)
    return (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)


def _count(t: Transaction, task: Task, waiting: int, size: int) -> None:
    t.run("DELETE FROM shuffler_counts WHERE task = ?", task.id)
    t.run("INSERT INTO shuffler_counts VALUES (?, ?, ?)", task.id, waiting, size)


def permutation(count: int, draw: Draw) -> list[int]:
    """0, 1, ..., count - 1 in an order that is as likely as any other (Fisher and Yates)."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = draw.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order
