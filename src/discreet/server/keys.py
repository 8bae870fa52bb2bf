"""API keys: random, shown once, kept as a keyed hash, expiring and revocable.

They live in the ledger's database; the key of the hash lives in a file beside it, so that a copy of the database alone
opens no door.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from discreet.errors import BadInput, NoAccess
from discreet.store import Row, Store, open_store

ROLES = ("analyst", "owner")
_SCHEMA = [
    """
    CREATE TABLE api_keys (
        id TEXT PRIMARY KEY, analyst TEXT NOT NULL, role TEXT NOT NULL, hash TEXT NOT NULL, created TEXT NOT NULL,
        expires TEXT NOT NULL, revoked INTEGER NOT NULL);
    """
]
_REMEMBERED = 1.0
"""Seconds for which a key that another process revokes still works."""
_NEWS = 0.2
"""Seconds until a key that another process made is looked for: so often, and no oftener, wrong keys reach the database."""
_COLUMNS = "id, analyst, role, created, expires, revoked"


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key; the key itself is known to its holder only."""

    id: str
    analyst: str
    role: str
    created: str
    expires: str
    revoked: bool

    @property
    def asks_as(self) -> str | None:
        """The analyst whose account pays; the owner charges the dataset only."""
        return None if self.role == "owner" else self.analyst


def _utc_now() -> datetime:
    return datetime.now(UTC)


class KeyBook:
    """Who may come in."""

    def __init__(self, store: Store, secret: bytes, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._store, self._secret, self._now = store, secret, now
        self._known: dict[str, Row] = {}
        self._read_at, self._reading = -math.inf, threading.Lock()
        store.migrate("keys", _SCHEMA)

    @classmethod
    def open(cls, ledger: str) -> KeyBook:
        """The keys of a ledger; their secret is made with the first of them."""
        return cls(open_store(ledger), _secret(ledger))

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def create(self, analyst: str, *, role: str = "analyst", days: int = 90) -> str:
        """A new key, to be shown once."""
        if role not in ROLES or not analyst or days < 1:
            raise BadInput(
                "A key needs a name, a role and at least one day.",
                next_step=f"Name the analyst, a role ({' or '.join(ROLES)}) and for how many days it is good.",
            )
        number, secret = os.urandom(6).hex(), os.urandom(32).hex()
        now = self._now()
        values = (number, analyst, role, self._hash(secret), now.isoformat(), (now + timedelta(days=days)).isoformat())
        with self._store.transaction() as t:
            t.run("INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, 0)", *values)
        self._read_anew()
        return f"dk_{number}_{secret}"

    def rotate(self, number: str, *, days: int = 90) -> str:
        """A new key for the holder of an old one, which stops working."""
        old = next((key for key in self.all() if key.id == number and not key.revoked), None)
        if old is None:
            raise BadInput("There is no such key in use.", next_step="Take a number from the list of keys.")
        fresh = self.create(old.analyst, role=old.role, days=days)
        self.revoke(number)
        return fresh

    def revoke(self, number: str) -> None:
        """Stop a key; nothing happens if it was stopped before."""
        with self._store.transaction() as t:
            if not t.run("SELECT id FROM api_keys WHERE id = ?", number):
                raise BadInput("There is no such key.", next_step="Take a number from the list of keys.")
            t.run("UPDATE api_keys SET revoked = 1 WHERE id = ?", number)
        self._read_anew()

    def all(self) -> list[Key]:
        """Every key that was ever made, without what opens the door."""
        with self._store.transaction() as t:
            rows = t.run(f"SELECT {_COLUMNS} FROM api_keys ORDER BY created")  # noqa: S608  our own constant
        return [_key(row) for row in rows]

    def holder(self, key: str) -> Key:
        """Whose key it is; one text for every reason why it is nobody's."""
        prefix, _, rest = key.partition("_")
        number, _, secret = rest.partition("_")
        row = self._row(number)
        known = row[6] if row else self._hash("")
        fits = hmac.compare_digest(known, self._hash(secret)) and prefix == "dk"
        if fits and row and not row[5] and datetime.fromisoformat(row[4]) > self._now():
            return _key(row)
        raise NoAccess("This key opens nothing.", next_step="Ask the owner for a key, or for a new one.")

    def _row(self, number: str) -> Row | None:
        """The row of a key, from a list that is read now and then: a flood of wrong keys neither queues for the database nor is remembered."""
        with self._reading:
            age = time.monotonic() - self._read_at
            if age > _REMEMBERED or (number not in self._known and age > _NEWS):
                with self._store.transaction() as t:
                    rows = t.run(f"SELECT {_COLUMNS}, hash FROM api_keys WHERE revoked = 0")  # noqa: S608
                self._known, self._read_at = {row[0]: row for row in rows}, time.monotonic()
            return self._known.get(number)

    def _read_anew(self) -> None:
        with self._reading:  # whoever reads just now may have read what was before
            self._read_at = -math.inf

    def _hash(self, secret: str) -> str:
        return hmac.new(self._secret, secret.encode(), hashlib.sha256).hexdigest()


def _key(row: Row) -> Key:
    number, analyst, role, created, expires, revoked, *_ = row
    return Key(number, analyst, role, created, expires, bool(revoked))


def _secret(ledger: str) -> bytes:
    """Beside a ledger that is a file; from the environment for one that is not."""
    if "://" in ledger or ledger == ":memory:":
        given = os.environ.get("DISCREET_SECRET", "")
        if len(given) < 32:
            raise BadInput(
                "A ledger that is no file needs a secret for its keys.",
                next_step="Set DISCREET_SECRET to at least 32 random characters.",
            )
        return given.encode()
    place = Path(f"{ledger}.secret")
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(32).hex().encode())
    if place.stat().st_mode & 0o077:
        raise BadInput("The secret of the keys can be read by others.", next_step=f"Run: chmod 600 {place.name}")
    return place.read_bytes()
