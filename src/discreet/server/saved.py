"""Saved questions: a name, a text and a price, kept beside the books. They hold no answer; what is shown of one is looked up and free.

They are notes of analysts, not part of the chain: losing them loses no charge. Each analyst has so many, and all together no more than that.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from discreet.errors import BadInput, UnknownSaved
from discreet.server.roles import Holder
from discreet.store import Row, Store, Transaction

_SCHEMA = [
    """
    CREATE TABLE saved_questions (
        number TEXT PRIMARY KEY, owner INTEGER NOT NULL, analyst TEXT NOT NULL, name TEXT NOT NULL, question TEXT NOT NULL,
        shared INTEGER NOT NULL, time TEXT NOT NULL);
    CREATE INDEX saved_by_analyst ON saved_questions (analyst, time);
    """
]
_COLUMNS = "number, owner, analyst, name, question, shared, time"
_MINE = "analyst = ? AND owner = ?"
_MOST_EACH, _MOST = 200, 10_000


@dataclass(frozen=True, slots=True)
class Saved:
    """A question under a name. `question` is what `POST /v1/ask` takes."""

    number: str
    analyst: str
    is_owner: bool
    """Whether the owner of the data saved it, who pays from the dataset's account alone."""
    name: str
    question: dict[str, Any]
    shared: bool
    time: str

    def is_of(self, holder: Holder) -> bool:
        """Whether the holder saved it."""
        return (self.analyst, int(self.is_owner)) == _key(holder)

    @property
    def paid_by(self) -> str | None:
        """The analyst whose having paid lets others see the answer."""
        return None if self.is_owner else self.analyst


class SavedQuestions:
    """The saved questions of one dataset."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.migrate("saved", _SCHEMA)

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def save(self, holder: Holder, *, name: str, question: dict[str, Any], shared: bool) -> Saved:
        """Keep a question under a name; one of the same name and holder gives way, and keeps its number."""
        with self._store.transaction() as t:
            same = t.run(f"SELECT number FROM saved_questions WHERE {_MINE} AND name = ?", *_key(holder), name)  # noqa: S608
            if same:
                t.run("DELETE FROM saved_questions WHERE number = ?", same[0][0])
            _check_room(t, holder)
            number = same[0][0] if same else os.urandom(8).hex()
            now = datetime.now(UTC).isoformat(timespec="seconds")
            saved = Saved(number, holder.name, holder.role == "owner", name, question, shared, now)
            t.run(f"INSERT INTO saved_questions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", *_row(saved))  # noqa: S608
        return saved

    def seen_by(self, holder: Holder) -> list[Saved]:
        """One's own and those that others share, newest first."""
        with self._store.transaction() as t:
            rows = t.run(
                f"SELECT {_COLUMNS} FROM saved_questions WHERE ({_MINE}) OR shared = 1 ORDER BY time DESC, number LIMIT ?",  # noqa: S608
                *_key(holder),
                5 * _MOST_EACH,
            )
        return [_saved(row) for row in rows]

    def find(self, holder: Holder, number: str) -> Saved:
        """One that the holder may see; one that is not shared looks like none."""
        with self._store.transaction() as t:
            rows = t.run(f"SELECT {_COLUMNS} FROM saved_questions WHERE number = ?", number)  # noqa: S608
        found = _saved(rows[0]) if rows else None
        if found is None or not (found.shared or found.is_of(holder)):
            raise UnknownSaved("There is no such saved question for you.", next_step="Ask its author to share it.")
        return found

    def delete(self, holder: Holder, number: str) -> None:
        """Forget one's own."""
        if not self.find(holder, number).is_of(holder):
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


def _row(saved: Saved) -> Row:
    question = json.dumps(saved.question)
    return (saved.number, int(saved.is_owner), saved.analyst, saved.name, question, int(saved.shared), saved.time)


def _saved(row: Row) -> Saved:
    number, is_owner, analyst, name, question, shared, time = row
    return Saved(number, analyst, bool(is_owner), name, json.loads(question), bool(shared), time)
