"""The record of each collection: its task, its state and its expiry date.

A collection is open, closed (accepts no more reports; estimates remain available) or expired (its retention period is
over and the collected data is deleted). Deleting a collection removes everything, including its name.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import NamedTuple

from discreet.core.exact import read_count
from discreet.errors import BadTask, UnknownTask
from discreet.local.collector.intake import DAY, forget_senders, forget_task
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
    """A collection as the data owner sees it.

    `instance` is random: it distinguishes this collection from a deleted one of the same task.
    """

    task: Task
    state: str
    instance: str
    expires: int | None


def prepare(store: Store) -> None:
    """Create the tables if they do not exist."""
    store.create_tables("collections", _SCHEMA, version=_VERSION)


def publish(t: Transaction, task: Task, *, retention_days: int | None, now: float) -> None:
    """Start a collection. Publishing the same task again changes nothing."""
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
    """Store a new open collection."""
    values = (task, name, spec, os.urandom(8).hex(), "open", expires)
    t.run("INSERT INTO collection_tasks VALUES (?, ?, ?, ?, ?, ?)", *values)


def find(t: Transaction, name: str) -> Record:
    """Return a collection by its task's id or name."""
    rows = t.run("SELECT spec, state, life, expires FROM collection_tasks WHERE task = ? OR name = ?", name, name)
    try:
        return Record(_read(rows[0][0]), *rows[0][1:])
    except (IndexError, BadTask):
        raise _unknown() from None


def list_records(t: Transaction) -> tuple[list[Record], list[str]]:
    """Return all collections ordered by name, and the names of those whose stored task is invalid."""
    records, unsound = [], []
    for name, spec, *rest in t.run("SELECT name, spec, state, life, expires FROM collection_tasks ORDER BY name"):
        try:
            records.append(Record(_read(spec), *rest))
        except BadTask:
            unsound.append(str(name))
    return records, unsound


def close(t: Transaction, name: str) -> None:
    """Close a collection, and delete the senders of its reports."""
    task = _id_of(t, name)
    t.run("UPDATE collection_tasks SET state = 'closed' WHERE task = ? AND state = 'open'", task)
    forget_senders(t, task)


def delete(t: Transaction, name: str) -> None:
    """Delete a collection with all its data."""
    task = _id_of(t, name)
    _delete_data(t, task)
    t.run("DELETE FROM collection_tasks WHERE task = ?", task)


def sweep(t: Transaction, *, now: float) -> None:
    """Delete the data of all collections that have expired."""
    sql = "SELECT task FROM collection_tasks WHERE expires <= ? AND state <> 'expired'"
    for (task,) in t.run(sql, int(now)):
        _delete_data(t, task)
        t.run("UPDATE collection_tasks SET state = 'expired' WHERE task = ?", task)


def _delete_data(t: Transaction, task: str) -> None:
    forget_task(t, task)
    for table in _DATA:
        t.run(f"DELETE FROM {table} WHERE task = ?", task)  # noqa: S608  constant names


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
    return UnknownTask("There is no such task.", next_step="Use the name or id of a published task.")
