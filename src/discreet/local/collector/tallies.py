"""Stored tallies: folding replaces the tally, or, for protocols that keep all reports, appends a piece to it.

A piece has one row per report, in message order, and stores the total number of reports up to its end. So a fold costs
only what is new, and a process that has already counted a part of a piece reads only the rest.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.local.collector.collector import Collector
from discreet.local.collector.message_counting import read_counts, write_counts
from discreet.local.protocols.protocol import Reports
from discreet.local.tasks.messages import read_payload
from discreet.local.tasks.task import Task
from discreet.store import Transaction

_WAITING = """
SELECT number, reports, payload FROM collection_waiting WHERE task = ? AND number > ? ORDER BY number LIMIT ?
"""
_MESSAGES_AT_ONCE = 50
_BYTES_AT_ONCE = 1 << 20
"""Unpacked reports processed together: a few messages of one device may carry millions."""


def read_waiting(t: Transaction, task: Task, *, after: int) -> Iterator[tuple[int, Reports]]:
    """Yield the reports of waiting messages after a number, in parts, each with the number of its last message."""
    parts: list[Reports] = []
    while rows := t.run(_WAITING, task.id, after, _MESSAGES_AT_ONCE):
        for number, count, payload in rows:
            after = number
            parts.append(read_payload(task, bytes(payload), count))
            if sum(part.nbytes for part in parts) >= _BYTES_AT_ONCE:
                yield after, np.concatenate(parts)
                parts = []
    if parts:
        yield after, np.concatenate(parts)


def read_tally(t: Transaction, task: Task, number: int, known: Collector) -> tuple[int, Collector]:
    """Return the collector `known`, which counts messages up to `number`, extended by the stored tally."""
    sql = "SELECT number, reports, tally FROM collection_tallies WHERE task = ? AND number > ? ORDER BY number"
    rows = t.run(sql, task.id, number)
    if not rows:
        return number, known
    tallies = [_tally_from(bytes(stored)) for _, _, stored in rows]
    last, total, _ = rows[-1]
    if not task.protocol.appends:
        return last, Collector.with_tally(task, tallies[-1], reports=total)
    new = np.concatenate(tallies)[known.reports - total :] if total > known.reports else known.no_reports()
    return last, Collector.with_tally(task, task.protocol.merged(known.tally, new), reports=total)


def replace_tally(t: Transaction, task: Task, number: int, collector: Collector) -> None:
    """Store the tally of all messages up to a number, instead of the previous tally."""
    stored = _bytes_of(collector.tally)
    t.run("DELETE FROM collection_tallies WHERE task = ?", task.id)
    _insert(t, task, number, collector.reports, stored)
    _count(t, task, number, tally_bytes=len(stored))


def append_piece(t: Transaction, task: Task, number: int, reports: Reports) -> None:
    """Append the reports of messages up to a number to the stored tally."""
    rows = t.run("SELECT MAX(reports) FROM collection_tallies WHERE task = ?", task.id)
    stored = _bytes_of(task.protocol.tally(reports))
    _insert(t, task, number, (rows[0][0] or 0) + len(reports), stored)
    _count(t, task, number, tally_bytes=read_counts(t, task.id).tally_bytes + len(stored))


def _insert(t: Transaction, task: Task, number: int, reports: int, stored: bytes) -> None:
    t.run("INSERT INTO collection_tallies VALUES (?, ?, ?, ?)", task.id, number, reports, stored)


def _count(t: Transaction, task: Task, number: int, *, tally_bytes: int) -> None:
    t.run("DELETE FROM collection_waiting WHERE task = ? AND number <= ?", task.id, number)
    counts = read_counts(t, task.id)
    write_counts(t, task.id, counts._replace(waiting=0, waiting_bytes=0, tally_bytes=tally_bytes))


def _bytes_of(tally: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, tally=tally)
    return file.getvalue()


def _tally_from(stored: bytes) -> Any:
    with np.load(io.BytesIO(stored), allow_pickle=False) as file:
        return file["tally"]
