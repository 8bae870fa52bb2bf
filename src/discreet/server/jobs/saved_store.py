"""Saved queries: a name, a text and a price, kept beside the books. They hold no answer; what is shown of one is looked up and free.

They are notes of analysts, not part of the chain: losing them loses no charge. Each analyst has so many, and all together no more than that.
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
"""Before the newest."""
_NUMBER = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Saved:
    """The name of a saved query, and whose it is."""

    number: str
    analyst: str
    is_owner: bool
    """Whether the owner of the data saved it, who pays from the dataset's account alone."""
    name: str
    shared: bool
    time: str

    def is_of(self, holder: Holder) -> bool:
        """Whether the holder saved it."""
        return (self.analyst, int(self.is_owner)) == _key(holder)

    @property
    def charged_analyst(self) -> str | None:
        """The analyst whose having paid lets others see the answer."""
        return None if self.is_owner else self.analyst


class SavedQueries:
    """The saved queries of one dataset."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.create_tables("saved", _SCHEMA, version=_VERSION)

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def save(self, holder: Holder, *, name: str, query: dict[str, Any], shared: bool) -> Saved:
        """Keep a query under a name; one of the same name and holder gives way, and keeps its number."""
        with self._store.transaction() as t:
            same = t.run(f"SELECT number FROM saved_questions WHERE {_MINE} AND name = ?", *_key(holder), name)  # noqa: S608
            if same:
                t.run("DELETE FROM saved_questions WHERE number = ?", same[0][0])
            _check_room(t, holder)
            number = same[0][0] if same else os.urandom(8).hex()
            now = datetime.now(UTC).isoformat(timespec="seconds")
            saved = Saved(number, holder.name, holder.role == "owner", name, shared, now)
            t.run(
                f"INSERT INTO saved_questions ({_COLUMNS}, question) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                *(number, *_key(holder)[::-1], name, int(shared), now, json.dumps(query)),
            )
        return saved

    def visible_to(self, holder: Holder, *, after: str | None = None) -> list[Saved]:
        """So many (`PAGE`) of one's own and of those that others share, newest first; or those that come after the one of that number."""
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
        """One that the holder may see, and what `POST /v1/ask` takes; one that is not shared looks like none."""
        rows: list[Row] = []
        if _NUMBER.fullmatch(number):
            with self._store.reading() as t:
                rows = t.run(f"SELECT {_COLUMNS}, question FROM saved_questions WHERE number = ?", number)  # noqa: S608
        saved = _saved(rows[0][:-1]) if rows else None
        if saved is None or not (saved.shared or saved.is_of(holder)):
            raise UnknownSaved("There is no such saved question for you.", next_step="Ask its author to share it.")
        return saved, json.loads(rows[0][-1])

    def delete(self, holder: Holder, number: str) -> None:
        """Forget one's own."""
        if not self.find(holder, number)[0].is_of(holder):
            raise UnknownSaved("This saved question is somebody else's.", next_step="Leave it to its author.")
        with self._store.transaction() as t:
            t.run("DELETE FROM saved_questions WHERE number = ?", number)


def _key(holder: Holder) -> tuple[str, int]:
    """An analyst who is called like the owner is somebody else."""
    return holder.name, int(holder.role == "owner")


def _check_room(t: Transaction, holder: Holder) -> None:
    mine = t.run(f"SELECT COUNT(*) FROM saved_questions WHERE {_MINE}", *_key(holder))[0][0]  # noqa: S608
    if mine >= _MOST_EACH or t.run("SELECT COUNT(*) FROM saved_questions")[0][0] >= _MOST:
        raise BadInput("There is no room for another saved question.", next_step="Delete one that you do not need.")


def _saved(row: Row) -> Saved:
    number, is_owner, analyst, name, shared, time = row
    return Saved(number, analyst, bool(is_owner), name, bool(shared), time)
