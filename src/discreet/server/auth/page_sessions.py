"""Sessions of the page: a cookie in exchange for a key, or for the link printed on the owner's terminal.

Sessions are stored in memory, by the hash of their token: a copy of the memory gives no access, and a restart ends all sessions.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from discreet.errors import NoAccess, UnknownAccount
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.roles import Holder

LONGEST_SECONDS = 8 * 3600
_IDLE_SECONDS = 30 * 60
LINK_SECONDS = 10 * 60
_MOST_OF_A_KEY = 20
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Session:
    key: str
    """Number of the key that was used, or created for a link."""
    ends: float
    used: float


class Sessions:
    """The open sessions and unused sign-in links."""

    def __init__(self, keys: KeyStore, *, now: Callable[[], float] = time.monotonic) -> None:
        self._keys, self._now = keys, now
        self._open: dict[str, _Session] = {}
        self._links: dict[str, float] = {}
        """Expiry of unused links, by the hash of their token."""
        self._changing = threading.Lock()

    def open(self, key: str) -> str:
        """Open a session for the holder of a key, and return its token. Above the limit, the key's oldest session ends."""
        self._keys.refresh()
        return self._open_session(self._keys.holder(key).id.removeprefix("key "))

    def create_link(self) -> str:
        """Return a token that signs the owner in, once and within ten minutes."""
        token = os.urandom(16).hex()  # short, so that terminals do not break the line; valid for ten minutes
        with self._changing:
            self._links[_name(token)] = self._now() + LINK_SECONDS
        return token

    def open_by_link(self, token: str) -> str:
        """Open an owner's session for a link's token, which becomes invalid.

        The link gives no new rights: a reader of the server's terminal can run all commands there.
        """
        with self._changing:
            ends = self._links.pop(_name(token), None)
        if ends is None or self._now() >= ends:
            raise NoAccess(
                "This link was used already, or has expired.",
                next_step="Sign in with a key, or restart the server for a new link.",
            )
        return self._open_session(self._keys.create_for_link(seconds=LONGEST_SECONDS))

    def _open_session(self, number: str) -> str:
        token, now = os.urandom(32).hex(), self._now()
        with self._changing:
            self._open = {name: session for name, session in self._open.items() if self._is_valid(session)}
            same = [name for name, session in self._open.items() if session.key == number]
            for name in same[: max(0, len(same) - _MOST_OF_A_KEY + 1)]:
                del self._open[name]
            if len(self._open) >= _MOST:
                del self._open[next(iter(self._open))]
            self._open[_name(token)] = _Session(number, now + LONGEST_SECONDS, now)
        return token

    def holder(self, token: str) -> Holder:
        """Return the holder of a session. A revoked or expired key or a closed account ends its sessions."""
        name = _name(token)
        with self._changing:
            session = self._open.get(name)
            if session is None or not self._is_valid(session):
                raise NoAccess("You are not signed in.", next_step="Sign in with a key.")
            self._open[name] = replace(session, used=self._now())
        try:
            return self._keys.holder_of_number(session.key)
        except (NoAccess, UnknownAccount):
            self.end(token)
            raise

    def end(self, token: str) -> None:
        """End a session."""
        with self._changing:
            self._open.pop(_name(token), None)

    def _is_valid(self, session: _Session) -> bool:
        now = self._now()
        return now < session.ends and now < session.used + _IDLE_SECONDS


def _name(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
