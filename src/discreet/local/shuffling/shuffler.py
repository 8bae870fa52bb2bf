"""The shuffler's database: messages wait for a crowd, then go on shuffled, without senders, message numbers and order.

A message is on disk before it is acknowledged. When a crowd is complete, one commit moves one report of each sender
into batches and deletes the messages; then the file is scrubbed, so that nothing links a report to its sender. Batches
have random message numbers and are stored until the collector has them, so a shuffler that is killed at any point loses
no report and sends none twice.

No address has more than its share of a crowd, and the stated crowd size counts addresses, not senders, because senders
are easy to fabricate. The bounds of `amplification.py` for n reports hold for a crowd with n honest reports.
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
from discreet.local.collector.sender_limit import ADDRESS_SHARES, SenderLimits
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
"""Bytes that a collector reads in one request."""
_MOST_WAITING = 1_000_000
"""Messages of one task. A quota limits their bytes."""
_CROWDS_AHEAD = 20
_LEAST_AHEAD = 1_000
"""Limit on waiting messages of one address: its share of _CROWDS_AHEAD crowds, but at least _LEAST_AHEAD."""


class Crowd(NamedTuple):
    """Reports of one task that are shuffled together, and the number of addresses they come from."""

    task: Task
    reports: int
    addresses: int


class Batch(NamedTuple):
    """A part of a crowd's reports in one message to the collector. `crowd` is the crowd's number of addresses."""

    number: int
    task: str
    crowd: int
    message: bytes


class ShufflerStore:
    """Messages of some tasks that wait for a crowd of at least `batch` reports, one from each sender.

    `per_address` is the most reports of one address in a crowd, by default a twentieth of `batch`. If more are waiting,
    the shuffler chooses at random, anew for every crowd, so that no sender can influence the choice.
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
        self._limits = SenderLimits(self._quota, clock=clock)
        self._per_address = per_address or max(1, batch // ADDRESS_SHARES)
        for task in tasks:
            check_unlinkable(task)
        intake.prepare(store)
        store.create_tables("shuffler", _SCHEMA, version=_VERSION)
        with store.transaction() as t:
            if not t.run("SELECT 1 FROM shuffler_key"):
                t.run("INSERT INTO shuffler_key VALUES (?)", os.urandom(32))
            self._key = bytes(t.run("SELECT key FROM shuffler_key")[0][0])
        store.scrub()  # an earlier process may have been killed before it did

    def task(self, name: str) -> Task:
        """Return a task by its id or name."""
        for task in self.tasks.values():
            if name in (task.id, task.name):
                return task
        raise UnknownTask(
            "The shuffler has no such task.", next_step="Ask the operator of the shuffler which tasks it accepts."
        )

    def receive(self, task: Task, messages: Sequence[bytes], *, address: str) -> Received:
        """Store messages of devices, all in one commit. They are on disk when this returns."""
        refusals: list[ReportRefused | None] = []
        with self._store.transaction() as t:
            waiting, size = _counts(t, task)
            admission = Intake(t, task, quota=self._quota, now=self._clock(), stored_bytes=size)
            for message in messages:
                try:
                    size += self._take(t, task, admission, message, address=address, waiting=waiting)
                    waiting += 1
                    refusals.append(None)
                except ReportRefused as refusal:
                    admission.count_refusal(refusal)
                    refusals.append(refusal)
            admission.close()
            _count(t, task, waiting, size)
        return Received(refusals.count(None), refusals)

    def _take(
        self, t: Transaction, task: Task, admission: Intake, message: bytes, *, address: str, waiting: int
    ) -> int:
        """Add a message to the queue, and return its number of bytes."""
        self._limits.take(address, task.id, len(message))
        read, payload = read_message(task, message), payload_of(message)
        if len(read.reports) != 1:
            raise OutOfDomain("The message has more than one report.", next_step="Use the client of Discreet.")
        if t.run("SELECT 1 FROM shuffler_waiting WHERE task = ? AND message = ?", task.id, read.id):
            raise ReplayedReport("This message is already waiting.", next_step="Nothing needs to be done.")
        # A keyed hash: the file shows which waiting messages have the same address, but not the address.
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
            raise OverQuota("Too many reports are waiting for a crowd.", next_step="Send the message another day.")

    def mix(self) -> list[Crowd]:
        """Shuffle every crowd that is large enough, and write its batches."""
        crowds = [crowd for task in self.tasks.values() if (crowd := self._mix(task)) is not None]
        self._store.scrub()  # even without a crowd: a reader may have blocked the last scrub
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
        """Choose the messages of a crowd, with their addresses: one per sender, at most `per_address` per address."""
        rows = t.run("SELECT message, sender, place FROM shuffler_waiting WHERE task = ?", task.id)
        if len(rows) < self._batch:
            return {}
        key = os.urandom(32)  # a new random order for each crowd
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
        """Return the oldest undelivered batch of each task."""
        sql = "SELECT MIN(number) FROM shuffler_batches GROUP BY task"
        with self._store.transaction() as t:
            rows = t.run(f"SELECT number, task, crowd, message FROM shuffler_batches WHERE number IN ({sql})")  # noqa: S608
        return [Batch(*row) for row in rows]

    def mark_delivered(self, batch: Batch) -> None:
        """Delete a batch that the collector has received."""
        with self._store.transaction() as t:
            t.run("DELETE FROM shuffler_batches WHERE number = ?", batch.number)

    def close(self) -> None:
        """Close the database."""
        self._store.close()


def _counts(t: Transaction, task: Task) -> tuple[int, int]:
    """Read the number of waiting messages of a task, and their bytes."""
    rows = t.run("SELECT waiting, bytes FROM shuffler_counts WHERE task = ?", task.id)
    return (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)


def _count(t: Transaction, task: Task, waiting: int, size: int) -> None:
    t.run("DELETE FROM shuffler_counts WHERE task = ?", task.id)
    t.run("INSERT INTO shuffler_counts VALUES (?, ?, ?)", task.id, waiting, size)


def permutation(count: int, draw: Draw) -> list[int]:
    """Return 0, 1, ..., count - 1 in a uniformly random order (Fisher and Yates)."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = draw.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order
