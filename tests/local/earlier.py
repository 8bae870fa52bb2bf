"""Collections as the release before kept them: in the ledger's database, with every message's number for ever."""

import io

import numpy as np

from discreet.local import Collector
from discreet.local.tasks.messages import read_message
from discreet.store import open_store

_SCHEMA = """
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


def keep_as_before(where, collections, *, folded, slots):
    """Messages by task, the first `folded` of the longer ones in a tally; `slots` given out where a task assigns them."""
    store = open_store(where)
    store.migrate("collector", [_SCHEMA])
    with store.transaction() as t:
        for task, messages in collections:
            t.run("INSERT INTO collector_tasks VALUES (?, ?, ?)", task.id, task.name, task.to_json())
            tally = Collector(task)
            for number, raw in enumerate(messages, 1):
                message = read_message(task, raw)
                in_tally = number <= folded < len(messages)
                if in_tally:
                    tally.add_reports(message.reports)
                values = (task.id, number, message.id, message.sender, 1, None if in_tally else raw)
                t.run("INSERT INTO collector_messages VALUES (?, ?, ?, ?, ?, ?)", *values)
            if tally.reports:
                file = io.BytesIO()
                np.savez_compressed(file, tally=tally.tally)
                t.run("INSERT INTO collector_tallies VALUES (?, ?, ?, ?)", task.id, folded, folded, file.getvalue())
            t.run("INSERT INTO collector_refusals VALUES (?, 'replayed', 7)", task.id)
            for slot in range(slots if task.spec["assigned"] else 0):
                t.run("INSERT INTO collector_slots VALUES (?, ?, ?)", task.id, slot, int(slot < len(messages)))
    store.close()
