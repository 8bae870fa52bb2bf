"""Saved queries: a name, a text and a cost, stored beside the ledger. Their answers are looked up in the ledger, free of charge.

They are notes of analysts and not part of the ledger's chain: losing them loses no charge. Their number is limited, per analyst and in total.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from discreet.errors import BadInput, UnknownSaved
from discreet.server.auth.roles import Holder
from discreet.store import Row, Store, Transaction

_VERSION = 1
_SCHEMA = """
CREATE TABLE saved_questions (
    number TEXT PRIMARY KEY, owner INTEGER NOT NULL, analyst TEXT NOT NULL, name TEXT NOT NULL, question TEXT NOT NULL,
    shared INTEGER NOT NULL, time TEXT NOT NULL);
CREATE INDEX saved_by_analyst ON saved_questions (analyst, time);
"""
_COLUMNS = "number, owner, analyst, name, shared, time"
_MINE = "analyst = ? AND owner = ?"
_MOST_EACH, _MOST = 200, 10_000
PAGE = 100
_FIRST = ("9999", "")
"""Position before the newest."""
_NUMBER = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved query without its text."""

    number: str
    analyst: str
    is_owner: bool
    """Whether the data owner saved it, whose queries charge the dataset's account only."""
    name: str
    shared: bool
    time: str

    def is_of(self, holder: Holder) -> bool:
        """Whether the holder saved it."""
        return (self.analyst, int(self.is_owner)) == _key(holder)

    @property
    def charged_analyst(self) -> str | None:
        """The analyst whose stored answer others may see; None for the owner."""
        return None if self.is_owner else self.analyst


class SavedQueries:
    """The saved queries of one dataset."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.create_tables("saved", _SCHEMA, version=_VERSION)

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def save(self, holder: Holder, *, name: str, query: dict[str, Any], shared: bool) -> Saved:
        """Save a query. It replaces the holder's query of the same name, and takes over its number."""
        with self._store.transaction() as t:
            same = t.run(f"SELECT number FROM saved_questions WHERE {_MINE} AND name = ?", *_key(holder), name)  # noqa: S608
            if same:
                t.run("DELETE FROM saved_questions WHERE number = ?", same[0][0])
            _check_quota(t, holder)
            number = same[0][0] if same else os.urandom(8).hex()
            now = datetime.now(UTC).isoformat(timespec="seconds")
            saved = Saved(number, holder.name, holder.role == "owner", name, shared, now)
            t.run(
                f"INSERT INTO saved_questions ({_COLUMNS}, question) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                *(number, *_key(holder)[::-1], name, int(shared), now, json.dumps(query)),
            )
        return saved

    def visible_to(self, holder: Holder, *, after: str | None = None) -> list[Saved]:
        """Return one page (`PAGE`) of the holder's and of shared queries, newest first; with `after`, those after that number."""
        last = _FIRST if after is None else self._position_of(holder, after)
        with self._store.reading() as t:
            rows = t.run(
                f"SELECT {_COLUMNS} FROM saved_questions WHERE (({_MINE}) OR shared = 1) "  # noqa: S608
                "AND (time < ? OR (time = ? AND number > ?)) ORDER BY time DESC, number LIMIT ?",
                *(*_key(holder), last[0], *last, PAGE),
            )
        return [_saved(row) for row in rows]

    def _position_of(self, holder: Holder, number: str) -> tuple[str, str]:
        saved, _ = self.find(holder, number)
        return saved.time, saved.number

    def find(self, holder: Holder, number: str) -> tuple[Saved, dict[str, Any]]:
        """Return a query that the holder may see, and the body for `POST /v1/ask`. An unshared one gets the same error as a missing one."""
        rows: list[Row] = []
        if _NUMBER.fullmatch(number):
            with self._store.reading() as t:
                rows = t.run(f"SELECT {_COLUMNS}, question FROM saved_questions WHERE number = ?", number)  # noqa: S608
        saved = _saved(rows[0][:-1]) if rows else None
        if saved is None or not (saved.shared or saved.is_of(holder)):
            raise UnknownSaved(
                "This saved query does not exist, or is not shared.", next_step="Ask its author to share it."
            )
        return saved, json.loads(rows[0][-1])

    def delete(self, holder: Holder, number: str) -> None:
        """Delete one of the holder's queries."""
        if not self.find(holder, number)[0].is_of(holder):
            raise UnknownSaved(
                "This saved query belongs to another analyst.", next_step="Only its author can delete it."
            )
        with self._store.transaction() as t:
            t.run("DELETE FROM saved_questions WHERE number = ?", number)


def _key(holder: Holder) -> tuple[str, int]:
    """Return the holder's key in the table; it distinguishes the owner from an analyst of the same name."""
    return holder.name, int(holder.role == "owner")


def _check_quota(t: Transaction, holder: Holder) -> None:
    mine = t.run(f"SELECT COUNT(*) FROM saved_questions WHERE {_MINE}", *_key(holder))[0][0]  # noqa: S608
    if mine >= _MOST_EACH or t.run("SELECT COUNT(*) FROM saved_questions")[0][0] >= _MOST:
        raise BadInput("The limit of saved queries is reached.", next_step="Delete one that you do not need.")


def _saved(row: Row) -> Saved:
    number, is_owner, analyst, name, shared, time = row
    return Saved(number, analyst, bool(is_owner), name, bool(shared), time)
