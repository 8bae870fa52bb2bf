"""Sessions of the page: a cookie that is worth nothing elsewhere, in exchange for a key or for the link that is printed on the owner's terminal.

They are kept by a hash, in memory: a copy of it signs nobody in, and a restart signs everybody out.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from discreet.errors import NoAccess, UnknownAccount
from discreet.server.auth.keys import KeyBook
from discreet.server.auth.roles import Holder

LONGEST_SECONDS = 8 * 3600
_IDLE_SECONDS = 30 * 60
LINK_SECONDS = 10 * 60
_MOST_OF_A_KEY = 20
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Session:
    key: str
    """The number of the key that was shown, or that was made for a link."""
    ends: float
    used: float


class Sessions:
    """Who has signed in."""

    def __init__(self, keys: KeyBook, *, now: Callable[[], float] = time.monotonic) -> None:
        self._keys, self._now = keys, now
        self._open: dict[str, _Session] = {}
        self._links: dict[str, float] = {}
        """Until when links that were not used are good, by the hash of their token."""
        self._changing = threading.Lock()

    def begin(self, key: str) -> str:
        """A token for the holder of a key. The oldest session of the same key gives way where there are too many."""
        self._keys.catch_up()
        return self._begin(self._keys.holder(key).id.removeprefix("key "))

    def link(self) -> str:
        """A token that signs the owner in, once and soon."""
        token = os.urandom(16).hex()  # for ten minutes; and no terminal breaks the line
        with self._changing:
            self._links[_name(token)] = self._now() + LINK_SECONDS
        return token

    def begin_by_link(self, token: str) -> str:
        """A token of a session for that of a link, which is used up; one text for every reason why it is not.

        Whoever reads the terminal of the server can do all that its commands do.
        """
        with self._changing:
            ends = self._links.pop(_name(token), None)
        if ends is None or self._now() >= ends:
            raise NoAccess(
                "This link was used, or is too old.",
                next_step="Start the server again for another, or sign in with a key.",
            )
        return self._begin(self._keys.create_for_link(seconds=LONGEST_SECONDS))

    def _begin(self, number: str) -> str:
        token, now = os.urandom(32).hex(), self._now()
        with self._changing:
            self._open = {name: session for name, session in self._open.items() if self._lasts(session)}
            same = [name for name, session in self._open.items() if session.key == number]
            for name in same[: max(0, len(same) - _MOST_OF_A_KEY + 1)]:
                del self._open[name]
            if len(self._open) >= _MOST:
                del self._open[next(iter(self._open))]
            self._open[_name(token)] = _Session(number, now + LONGEST_SECONDS, now)
        return token

    def holder(self, token: str) -> Holder:
        """Who has this token. A key that was revoked or has expired ends its sessions, and so does an account that was closed."""
        name = _name(token)
        with self._changing:
            session = self._open.get(name)
            if session is None or not self._lasts(session):
                raise NoAccess("You are not signed in.", next_step="Sign in with a key.")
            self._open[name] = replace(session, used=self._now())
        try:
            return self._keys.holder_of_number(session.key)
        except (NoAccess, UnknownAccount):
            self.end(token)
            raise

    def end(self, token: str) -> None:
        """Sign out."""
        with self._changing:
            self._open.pop(_name(token), None)

    def _lasts(self, session: _Session) -> bool:
        now = self._now()
        return now < session.ends and now < session.used + _IDLE_SECONDS


def _name(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
