"""The record of each collection: its task, whether it is open, and until when anything of it is kept.

A collection is open, closed (no more reports, its estimates stay) or expired (its days are over, and all that was
collected is deleted). A deleted one leaves nothing, not even its name.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import NamedTuple

from discreet.core.exact import read_count
from discreet.errors import BadTask, UnknownTask
from discreet.local.collector.intake import DAY, forget_numbers, forget_task
from discreet.local.tasks.task import Task
from discreet.local.tasks.task_rules import validate_task
from discreet.store import Store, Transaction

_VERSION = 3
_SCHEMA = """
CREATE TABLE collection_tasks (
    task TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, life TEXT NOT NULL, state TEXT NOT NULL,
    expires BIGINT);
CREATE TABLE collection_counts (
    task TEXT PRIMARY KEY, number BIGINT NOT NULL, waiting BIGINT NOT NULL, waiting_bytes BIGINT NOT NULL,
    tally_bytes BIGINT NOT NULL, slots BIGINT NOT NULL, shuffled BIGINT NOT NULL, least_crowd BIGINT NOT NULL);
CREATE TABLE collection_waiting (
    task TEXT NOT NULL, number BIGINT NOT NULL, reports BIGINT NOT NULL, payload {blob} NOT NULL,
    PRIMARY KEY (task, number));
CREATE TABLE collection_tallies (
    task TEXT NOT NULL, number BIGINT NOT NULL, reports BIGINT NOT NULL, tally {blob} NOT NULL,
    PRIMARY KEY (task, number));
"""
_DATA = ("collection_counts", "collection_waiting", "collection_tallies")
_MOST_DAYS = 36500


class Record(NamedTuple):
    """A collection as its owner sees it. `life` tells it from another of the same task that was deleted before."""

    task: Task
    state: str
    life: str
    expires: int | None


def prepare(store: Store) -> None:
    """Make the tables, where they are missing."""
    store.create_tables("collections", _SCHEMA, version=_VERSION)


def publish(t: Transaction, task: Task, *, retention_days: int | None, now: float) -> None:
    """Begin a collection. Publishing the same task again changes nothing."""
    expires = None
    if retention_days is not None:
        expires = int(now) + DAY * read_count(retention_days, name="retention_days", most=_MOST_DAYS)
    task = validate_task(task.spec)
    known = t.run("SELECT task FROM collection_tasks WHERE name = ?", task.name)
    if known and known[0][0] != task.id:
        raise BadTask("Another task has this name.", next_step="Give it another name.")
    if not known:
        insert_record(t, task.id, task.name, task.to_json(), expires=expires)


def insert_record(t: Transaction, task: str, name: str, spec: str, *, expires: int | None) -> None:
    """An open collection."""
    values = (task, name, spec, os.urandom(8).hex(), "open", expires)
    t.run("INSERT INTO collection_tasks VALUES (?, ?, ?, ?, ?, ?)", *values)


def find(t: Transaction, name: str) -> Record:
    """A collection by its task's id or its name."""
    rows = t.run("SELECT spec, state, life, expires FROM collection_tasks WHERE task = ? OR name = ?", name, name)
    try:
        return Record(_read(rows[0][0]), *rows[0][1:])
    except (IndexError, BadTask):
        raise _unknown() from None


def all_of(t: Transaction) -> tuple[list[Record], list[str]]:
    """Every collection by name; and the names of those whose task cannot be carried out, for the owner to delete."""
    records, unsound = [], []
    for name, spec, *rest in t.run("SELECT name, spec, state, life, expires FROM collection_tasks ORDER BY name"):
        try:
            records.append(Record(_read(spec), *rest))
        except BadTask:
            unsound.append(str(name))
    return records, unsound


def close(t: Transaction, name: str) -> None:
    """Take no more reports, and forget who sent those there are."""
    task = _id_of(t, name)
    t.run("UPDATE collection_tasks SET state = 'closed' WHERE task = ? AND state = 'open'", task)
    forget_numbers(t, task)


def delete(t: Transaction, name: str) -> None:
    """Leave nothing of a collection."""
    task = _id_of(t, name)
    _delete_data(t, task)
    t.run("DELETE FROM collection_tasks WHERE task = ?", task)


def sweep(t: Transaction, *, now: float) -> None:
    """Delete what collections whose days are over have collected."""
    sql = "SELECT task FROM collection_tasks WHERE expires <= ? AND state <> 'expired'"
    for (task,) in t.run(sql, int(now)):
        _delete_data(t, task)
        t.run("UPDATE collection_tasks SET state = 'expired' WHERE task = ?", task)


def _delete_data(t: Transaction, task: str) -> None:
    forget_task(t, task)
    for table in _DATA:
        t.run(f"DELETE FROM {table} WHERE task = ?", task)  # noqa: S608  names of ours


def _id_of(t: Transaction, name: str) -> str:
    rows = t.run("SELECT task FROM collection_tasks WHERE task = ? OR name = ?", name, name)
    if not rows:
        raise _unknown()
    return str(rows[0][0])


@lru_cache(maxsize=256)
def _read(spec: str) -> Task:
    try:
        return validate_task(json.loads(spec))
    except ValueError as error:
        raise error if isinstance(error, BadTask) else BadTask("This is not a task.", next_step="Delete it.") from None


def _unknown() -> UnknownTask:
    return UnknownTask("There is no such task.", next_step="Take one of the tasks that are published here.")
