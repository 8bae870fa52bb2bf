"""Admission of messages to the report store: no replays, no sender above its cap, no task that fills the disk.

The store remembers message numbers and senders for one whole day, or for the task's epoch if that is longer, so its
size does not grow with the number of counted messages. See `docs/how-to/collect.md` for messages that are sent again
later. If the epoch never ends, they stay until the task is closed, up to the quota. The numbers of shuffler batches,
which are few, always stay until the task is closed.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass

from discreet.errors import OverQuota, ReportRefused
from discreet.local.collector.collector import check_message
from discreet.local.collector.tickets import TicketIssuer, is_numbered
from discreet.local.tasks.messages import NO_SENDER, Message
from discreet.local.tasks.task import Task
from discreet.store import Store, Transaction

DAY = 86400
_VERSION = 3
_SCHEMA = """
CREATE TABLE intake_counts (
    task TEXT PRIMARY KEY, day BIGINT NOT NULL, numbers BIGINT NOT NULL, messages BIGINT NOT NULL,
    bytes BIGINT NOT NULL);
CREATE TABLE intake_numbers (
    task TEXT NOT NULL, message {blob} NOT NULL, day BIGINT NOT NULL, PRIMARY KEY (task, message));
CREATE INDEX intake_numbers_by_day ON intake_numbers (task, day);
CREATE TABLE intake_senders (
    task TEXT NOT NULL, sender {blob} NOT NULL, day BIGINT NOT NULL, reports BIGINT NOT NULL,
    PRIMARY KEY (task, sender));
CREATE INDEX intake_senders_by_day ON intake_senders (task, day);
CREATE TABLE intake_batches (task TEXT NOT NULL, batch {blob} NOT NULL, PRIMARY KEY (task, batch));
CREATE TABLE intake_refusals (
    task TEXT NOT NULL, code TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (task, code));
CREATE TABLE intake_key (number BIGINT PRIMARY KEY, key {blob} NOT NULL);
"""
_NUMBERS_AHEAD = """
UPDATE intake_numbers SET day = ? WHERE task = ? AND message IN (
    SELECT message FROM intake_numbers WHERE task = ? AND day > ? LIMIT 1000)
"""
_SENDERS_AHEAD = """
UPDATE intake_senders SET day = ? WHERE task = ? AND sender IN (
    SELECT sender FROM intake_senders WHERE task = ? AND day > ? LIMIT 1000)
"""
_OLD_NUMBERS = """
DELETE FROM intake_numbers WHERE task = ? AND message IN (
    SELECT message FROM intake_numbers WHERE task = ? AND day < ? LIMIT 1000) RETURNING 1
"""
_OLD_SENDERS = """
DELETE FROM intake_senders WHERE task = ? AND sender IN (
    SELECT sender FROM intake_senders WHERE task = ? AND day < ? LIMIT 1000)
"""
_TABLES = ("intake_counts", "intake_numbers", "intake_senders", "intake_batches", "intake_refusals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much a collector accepts for one task. The limits per address hold for all tasks together."""

    messages_a_day: int = 1_000_000
    bytes_a_day: int = 100_000_000
    numbers: int = 5_000_000
    """Message numbers stored at a time to detect replays."""
    bytes_in_all: int = 1_000_000_000
    """Stored bytes of the reports themselves: reports not yet folded, and the tally."""
    messages_a_day_per_address: int = 100_000
    slots_a_day_per_address: int = 1_000
    """Tickets for devices, in tasks that assign numbers."""


def prepare(store: Store) -> None:
    """Create the tables and the secret key for tickets if they do not exist."""
    store.create_tables("intake", _SCHEMA, version=_VERSION)
    with store.transaction() as t:
        t.run("INSERT INTO intake_key VALUES (1, ?) ON CONFLICT (number) DO NOTHING", os.urandom(32))


def ticket_issuer(t: Transaction, task: Task) -> TicketIssuer:
    """Return the object that issues and checks the tickets of a task."""
    return TicketIssuer(bytes(t.run("SELECT key FROM intake_key")[0][0]), task)


class Intake:
    """Admit messages of one task inside one transaction; `close` writes the counts.

    `stored_bytes` is the number of bytes of the task's reports that are already stored.
    """

    def __init__(self, t: Transaction, task: Task, *, quota: Quota, now: float, stored_bytes: int) -> None:
        self._t, self._task, self._quota, self._stored_bytes = t, task, quota, stored_bytes
        self._slots = ticket_issuer(t, task) if is_numbered(task) else None
        self._day = int(now // DAY)
        self._refused: Counter[str] = Counter()
        rows = t.run("SELECT day, numbers, messages, bytes FROM intake_counts WHERE task = ?", task.id)
        day, numbers, messages, size = map(int, rows[0]) if rows else (self._day, 0, 0, 0)
        self._messages, self._bytes = (messages, size) if day == self._day else (0, 0)
        self._numbers = numbers - self._forget()

    def _forget(self) -> int:
        """Delete some old numbers and senders, and return how many numbers were deleted.

        Each call deletes a bounded number of rows, so that no request waits for all of them. Rows with a future date
        (the clock was wrong) get today's date. The sender of a ticket stays as long as the task is open.
        """
        task, today = self._task.id, self._day
        if (days := days_kept(self._task)) is None:
            return 0
        for ahead in (_NUMBERS_AHEAD, _SENDERS_AHEAD):
            self._t.run(ahead, today, task, task, today)
        if not is_numbered(self._task):
            self._t.run(_OLD_SENDERS, task, task, today - days)
        return len(self._t.run(_OLD_NUMBERS, task, task, today - days))

    def admit(self, message: Message, size: int, *, from_shuffler: bool) -> None:
        """Record a message with a payload of `size` bytes, or refuse it."""
        sent = 0 if message.sender == NO_SENDER else self._sent(message.sender)
        seen, slots = self._has_seen(message), self._slots
        check_message(self._task, message, seen=seen, sent=sent, from_shuffler=from_shuffler, slots=slots)
        self._check_quota(size)
        self._messages += 1
        self._bytes += size
        self._stored_bytes += size
        self._numbers += 1
        if message.sender == NO_SENDER:
            self._t.run("INSERT INTO intake_batches VALUES (?, ?)", self._task.id, message.id)
            return
        record_message(self._t, self._task.id, message.id, message.sender, len(message.reports), day=self._day)

    def _has_seen(self, message: Message) -> bool:
        if message.sender == NO_SENDER:
            sql = "SELECT 1 FROM intake_batches WHERE task = ? AND batch = ?"
        else:
            sql = "SELECT 1 FROM intake_numbers WHERE task = ? AND message = ?"
        return bool(self._t.run(sql, self._task.id, message.id))

    def _sent(self, sender: bytes) -> int:
        sql = "SELECT reports FROM intake_senders WHERE task = ? AND sender = ?"
        rows = self._t.run(sql, self._task.id, sender)
        return int(rows[0][0]) if rows else 0

    def _check_quota(self, size: int) -> None:
        quota = self._quota
        if self._stored_bytes + size > quota.bytes_in_all:
            raise OverQuota("This task has reached its storage quota.", next_step="Report to another task.")
        if self._messages >= quota.messages_a_day or self._bytes + size > quota.bytes_a_day:
            raise OverQuota("This task has reached its daily quota.", next_step="Send the message tomorrow.")
        if self._numbers >= quota.numbers:
            if days_kept(self._task) is None:
                raise OverQuota("This task has reached its message quota.", next_step="Report to another task.")
            raise OverQuota(
                "This task has reached its message quota for now.", next_step="Send the message another day."
            )

    def count_refusal(self, refusal: ReportRefused) -> None:
        """Count a refusal under its error code."""
        self._refused[refusal.code] += 1

    def close(self) -> None:
        """Write the counts to the database."""
        self._t.run("DELETE FROM intake_counts WHERE task = ?", self._task.id)
        values = (self._task.id, self._day, self._numbers, self._messages, self._bytes)
        self._t.run("INSERT INTO intake_counts VALUES (?, ?, ?, ?, ?)", *values)
        for code, count in self._refused.items():
            add_refusals(self._t, self._task.id, code, count)


def days_kept(task: Task) -> int | None:
    """Return for how many whole days a message number is stored; None means until the task is closed."""
    epoch = int(task.spec["epoch_seconds"])
    return max(1, -(-epoch // DAY)) if epoch else None


def record_message(t: Transaction, task: str, number: bytes, sender: bytes, reports: int, *, day: int) -> None:
    """Store a message's number, and add its reports to the count of its sender."""
    t.run("INSERT INTO intake_numbers VALUES (?, ?, ?)", task, number, day)
    t.run(
        "INSERT INTO intake_senders VALUES (?, ?, ?, ?) ON CONFLICT (task, sender) "
        "DO UPDATE SET reports = intake_senders.reports + excluded.reports, day = excluded.day",
        *(task, sender, day, reports),
    )


def add_refusals(t: Transaction, task: str, code: str, count: int) -> None:
    """Add to the number of refusals of a task with an error code."""
    t.run(
        "INSERT INTO intake_refusals VALUES (?, ?, ?) ON CONFLICT (task, code) "
        "DO UPDATE SET count = intake_refusals.count + excluded.count",
        *(task, code, count),
    )


def read_refusals(t: Transaction, task: str) -> Counter[str]:
    """Return the number of refused messages by error code."""
    rows = t.run("SELECT code, count FROM intake_refusals WHERE task = ?", task)
    return Counter({str(code): int(count) for code, count in rows})


def forget_senders(t: Transaction, task: str) -> None:
    """Delete the message numbers and senders of a closed task."""
    for table in ("intake_numbers", "intake_senders", "intake_batches"):
        t.run(f"DELETE FROM {table} WHERE task = ?", task)  # noqa: S608  constant names


def forget_task(t: Transaction, task: str) -> None:
    """Delete all intake data of a task."""
    for table in _TABLES:
        t.run(f"DELETE FROM {table} WHERE task = ?", task)  # noqa: S608  constant names
