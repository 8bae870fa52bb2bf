"""Room for sessions: rows and tables are in memory while one is open, so there are so many of each analyst's, and so many in all.

One that is being opened has its place already: however many are opened at once, no more are there than may be.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from discreet.errors import TooMany
from discreet.sessions.session import Session

UNUSED = 600.0
"""Seconds after which a session may be let go for somebody else's."""


@dataclass(frozen=True, slots=True)
class _Coming:
    """A session that is being opened."""

    analyst: str | None
    is_over: threading.Event = field(default_factory=threading.Event)


class Room:
    """The sessions that are open, by their ids."""

    def __init__(self) -> None:
        self._each, self._most = sys.maxsize, sys.maxsize
        self._lock = threading.Lock()
        self._here: dict[str, Session] = {}
        self._coming: dict[str, _Coming] = {}

    def limit(self, *, each: int, most: int) -> None:
        """Say how many sessions may be open from now on.

        Args:
            each: How many of one analyst stay open: for another, the first of them is let go.
            most: How many stay open in all: for another, one is let go that nobody has used for long, or it is refused.
        """
        self._each, self._most = each, most

    def find(self, name: str) -> Session | None:
        """A session that is open.

        Args:
            name: Its id.
        """
        session = self._here.get(name)
        return session if session is not None and session.is_open else None

    def opened(self, name: str, open_it: Callable[[], Session], *, analyst: str | None) -> Session:
        """A session that is open, or is opened now; whoever else opens the same one meanwhile waits for it.

        Args:
            name: Its id.
            open_it: Opens it.
            analyst: Whose it is.
        """
        with self._place(name, analyst):
            session = self.find(name)
            if session is None:
                session = open_it()
                with self._lock:
                    self._here.pop(name, None)
                    self._here[name] = session
            return session

    def close(self) -> None:
        """Let go of the rows of all sessions."""
        with self._lock:
            leaving = list(self._here.values())
            self._here.clear()
        for session in leaving:
            session.close()

    @contextmanager
    def _place(self, name: str, analyst: str | None) -> Iterator[None]:
        while (mine := self._claimed(name, analyst)) is None:
            if (other := self._coming.get(name)) is not None:
                other.is_over.wait()
        try:
            yield
        finally:
            with self._lock:
                del self._coming[name]
            mine.is_over.set()

    def _claimed(self, name: str, analyst: str | None) -> _Coming | None:
        """A place, for which others may be let go; None while somebody opens the same session."""
        with self._lock:
            if name in self._coming:
                return None
            leaving = [] if self.find(name) is not None else self._leaving(analyst)
            for session in leaving:
                del self._here[session.id]
            mine = self._coming[name] = _Coming(analyst)
        for session in leaving:
            session.close()
        return mine

    def _leaving(self, analyst: str | None) -> list[Session]:
        """Whom a further session of an analyst takes the place of. To be opened again costs a session an alarm: so nobody has others' sessions let
        go that are in use.
        """
        everybodys = [session for session in self._here.values() if session.is_open]
        theirs = [session for session in everybodys if session.analyst == analyst]
        coming = sum(each.analyst == analyst for each in self._coming.values())
        leaving = theirs[: max(0, len(theirs) + coming + 1 - self._each)]
        if coming >= self._each:
            raise TooMany("You are opening as many sessions as you may have.", next_step="Wait until one is open.")
        staying = [session for session in everybodys if session not in leaving]
        missing = len(staying) + len(self._coming) + 1 - self._most
        if missing <= 0:
            return leaving
        unused = [session for session in staying if session.unused > UNUSED]
        may_go = unused or [session for session in staying if session.analyst == analyst]
        if missing > len(may_go):
            raise TooMany("All places for sessions are taken.", next_step="Wait some minutes, and open it then.")
        return [*leaving, *sorted(may_go, key=lambda session: session.unused)[-missing:]]
