"""Collections that outlive the process: tasks and messages in the same database as the ledger.

A message is on disk before it is acknowledged, and only once. Now and then messages are folded into a tally and their
payloads are forgotten; their numbers stay, so that none counts twice.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.errors import BadTask, ReportRefused, UnknownTask
from discreet.local.collector import Collector, check_message, check_slots, slots_of
from discreet.local.task import Task
from discreet.local.wire import Message, read_message
from discreet.store import Store, Transaction, open_store

_SCHEMA = [
    """
    CREATE TABLE collector_tasks (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL);
    CREATE TABLE collector_messages (
        task TEXT NOT NULL, number BIGINT NOT NULL, message {blob} NOT NULL, sender {blob} NOT NULL,
        reports INTEGER NOT NULL, payload {blob}, PRIMARY KEY (task, message));
    CREATE UNIQUE INDEX collector_order ON collector_messages (task, number);
    CREATE INDEX collector_senders ON collector_messages (task, sender);
    CREATE TABLE collector_tallies (
        task TEXT PRIMARY KEY, number BIGINT NOT NULL, reports BIGINT NOT NULL, tally {blob} NOT NULL);
    CREATE TABLE collector_refusals (
        task TEXT NOT NULL, code TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (task, code));
    CREATE TABLE collector_slots (
        task TEXT NOT NULL, slot BIGINT NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (task, slot));
    """
]
_FOLD_AFTER = 2000


class Received(NamedTuple):
    """What became of some messages, in their order: a refusal, or None where the message was counted."""

    reports: int
    refusals: list[ReportRefused | None]


class CollectorBooks:
    """All collections of one database. Any number of processes may share it; each catches up when it estimates."""

    def __init__(self, store: Store, *, fold_after: int = _FOLD_AFTER) -> None:
        self._store, self._fold_after = store, fold_after
        self._tasks: dict[str, Task] = {}
        self._known: dict[str, tuple[int, Collector]] = {}
        store.migrate("collector", _SCHEMA)

    @classmethod
    def open(cls, where: str) -> CollectorBooks:
        """Those at a path or a postgresql:// URL."""
        return cls(open_store(where))

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def publish(self, task: Task) -> None:
        """Begin a collection. Publishing the same task again changes nothing."""
        with self._store.transaction() as t:
            known = t.run("SELECT id FROM collector_tasks WHERE name = ?", task.name)
            if known and known[0][0] != task.id:
                raise BadTask("Another task has this name.", next_step="Give it another name.")
            if not known:
                t.run("INSERT INTO collector_tasks VALUES (?, ?, ?)", task.id, task.name, task.to_json())

    def tasks(self) -> list[Task]:
        """All that were ever published."""
        with self._store.transaction() as t:
            rows = t.run("SELECT id FROM collector_tasks ORDER BY name")
        return [self.task(str(number)) for (number,) in rows]

    def task(self, name: str) -> Task:
        """A task by its id or its name."""
        if name not in self._tasks:
            with self._store.transaction() as t:
                rows = t.run("SELECT spec FROM collector_tasks WHERE id = ? OR name = ?", name, name)
            if not rows:
                raise UnknownTask("There is no such task.", next_step="Take one of the tasks that are published here.")
            self._tasks[name] = Task.from_json(rows[0][0])
        return self._tasks[name]

    def assign(self, task: Task) -> int:
        """A number for one more device."""
        with self._store.transaction() as t:
            slot = int(t.run("SELECT COUNT(*) FROM collector_slots WHERE task = ?", task.id)[0][0])
            t.run("INSERT INTO collector_slots VALUES (?, ?, 0)", task.id, slot)
        return slot

    def receive(self, task: Task, messages: Sequence[bytes], *, from_shuffler: bool = False) -> Received:
        """Count messages, all in one commit; on disk when this returns."""
        read: list[Message | ReportRefused] = [_read(task, message) for message in messages]
        refusals: list[ReportRefused | None] = []
        counted = 0
        with self._store.transaction() as t:
            number = int(t.run("SELECT COALESCE(MAX(number), 0) FROM collector_messages WHERE task = ?", task.id)[0][0])
            for result, raw in zip(read, messages, strict=True):
                refusal = result if isinstance(result, ReportRefused) else self._refusal(t, task, result, from_shuffler)
                refusals.append(refusal)
                if refusal is not None or isinstance(result, ReportRefused):
                    continue
                number += 1
                values = (task.id, number, result.id, result.sender, len(result.reports), raw)
                t.run("INSERT INTO collector_messages VALUES (?, ?, ?, ?, ?, ?)", *values)
                counted += len(result.reports)
            _count_refusals(t, task, Counter(refusal.code for refusal in refusals if refusal is not None))
        return Received(counted, refusals)

    def _refusal(self, t: Transaction, task: Task, message: Message, from_shuffler: bool) -> ReportRefused | None:
        seen = t.run("SELECT 1 FROM collector_messages WHERE task = ? AND message = ?", task.id, message.id)
        sent = t.run(
            "SELECT COALESCE(SUM(reports), 0) FROM collector_messages WHERE task = ? AND sender = ?",
            task.id,
            message.sender,
        )
        try:
            check_message(task, message, seen=bool(seen), sent=int(sent[0][0]), from_shuffler=from_shuffler)
            slots = slots_of(task, message.reports)
            for slot in slots:
                free = t.run("SELECT 1 FROM collector_slots WHERE task = ? AND slot = ? AND used = 0", task.id, slot)
                check_slots(slots, free=bool(free))
            for slot in slots:
                t.run("UPDATE collector_slots SET used = 1 WHERE task = ? AND slot = ?", task.id, slot)
        except ReportRefused as refusal:
            return refusal
        return None

    def collector(self, task: Task) -> Collector:
        """All that was collected until now."""
        with self._store.transaction() as t:
            number, collector = self._known.get(task.id) or (0, Collector(task))
            number, collector = self._folded(t, task, number, collector)
            rows = t.run(
                "SELECT number, payload FROM collector_messages WHERE task = ? AND number > ? ORDER BY number",
                task.id,
                number,
            )
            refused = t.run("SELECT code, count FROM collector_refusals WHERE task = ?", task.id)
            for _, raw in rows:
                collector.add_reports(read_message(task, bytes(raw)).reports)
            if rows:
                number = int(rows[-1][0])
            self._fold(t, task, number, collector)
            self._known[task.id] = (number, collector)
            seen = Collector.with_tally(task, collector.tally, reports=collector.reports)  # others may go on adding
        seen.refused = Counter({str(code): int(count) for code, count in refused})
        return seen

    def _folded(self, t: Transaction, task: Task, number: int, collector: Collector) -> tuple[int, Collector]:
        """Begin with the tally on disk where it is ahead: the messages behind it have no payload any more."""
        rows = t.run("SELECT number, reports, tally FROM collector_tallies WHERE task = ?", task.id)
        if not rows or int(rows[0][0]) <= number:
            return number, collector
        return int(rows[0][0]), Collector.with_tally(task, _tally_from(bytes(rows[0][2])), reports=int(rows[0][1]))

    def _fold(self, t: Transaction, task: Task, number: int, collector: Collector) -> None:
        waiting = t.run("SELECT COUNT(*) FROM collector_messages WHERE task = ? AND payload IS NOT NULL", task.id)
        if int(waiting[0][0]) < self._fold_after:
            return
        t.run("DELETE FROM collector_tallies WHERE task = ?", task.id)
        values = (task.id, number, collector.reports, _bytes_of(collector.tally))
        t.run("INSERT INTO collector_tallies VALUES (?, ?, ?, ?)", *values)
        t.run("UPDATE collector_messages SET payload = NULL WHERE task = ? AND number <= ?", task.id, number)


def _read(task: Task, message: bytes) -> Message | ReportRefused:
    try:
        return read_message(task, message)
    except ReportRefused as refusal:
        return refusal


def _count_refusals(t: Transaction, task: Task, codes: Counter[str]) -> None:
    for code, count in codes.items():
        values = (task.id, code)
        if t.run("SELECT 1 FROM collector_refusals WHERE task = ? AND code = ?", *values):
            t.run("UPDATE collector_refusals SET count = count + ? WHERE task = ? AND code = ?", count, *values)
        else:
            t.run("INSERT INTO collector_refusals VALUES (?, ?, ?)", *values, count)


def _bytes_of(tally: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, tally=tally)
    return file.getvalue()


def _tally_from(stored: bytes) -> Any:
    with np.load(io.BytesIO(stored), allow_pickle=False) as file:
        return file["tally"]
