"""The open sessions of a curator, with limits per analyst and in all: an open session holds rows and tables in memory.

A session that is being opened counts already, so the limits hold however many are opened at the same time.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.errors import TooMany, UnknownSession
from discreet.measurement.domain import MOST_COUNTED

if TYPE_CHECKING:
    from discreet.sessions.session import Session

UNUSED = 600.0
"""Seconds without a query after which a session may be closed for another analyst's."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A session that is being opened."""

    analyst: str | None
    is_released: threading.Event = field(default_factory=threading.Event)


class SessionPool:
    """The sessions that are open, by their ids."""

    def __init__(self) -> None:
        self._each, self._most = sys.maxsize, sys.maxsize
        self.most_cells = MOST_COUNTED
        """Largest table over the columns of one query."""
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._slots: dict[str, _Slot] = {}

    def limit(self, *, each: int, most: int, most_cells: int = MOST_COUNTED) -> None:
        """Limit the sessions that are open from now on.

        Args:
            each: Of one analyst. To open another closes the analyst's oldest one.
            most: In all. To open another closes one that has not been used for long, or is refused.
            most_cells: Of the table over the columns of one query.
        """
        self._each, self._most, self.most_cells = each, most, most_cells

    def get(self, session_id: str, *, analyst: str | None) -> Session:
        """Return an open session to the analyst who opened it; refuse all others.

        Args:
            session_id: The session's id.
            analyst: The caller; None is the data owner.
        """
        session = self._find(session_id)
        if session is None or session.analyst != analyst:
            raise UnknownSession(
                "No session of this id is open.",
                next_step="Open it again by the same request: it is paid for, and continues.",
            )
        return session

    def open(self, session_id: str, open_session: Callable[[], Session], *, analyst: str | None) -> Session:
        """Return an open session, or open it. Others who open the same session meanwhile wait for it.

        Args:
            session_id: The session's id.
            open_session: Opens it.
            analyst: Whose session it is.
        """
        with self._slot(session_id, analyst):
            session = self._find(session_id)
            if session is None:
                session = open_session()
                with self._lock:
                    self._sessions.pop(session_id, None)
                    self._sessions[session_id] = session
            return session

    def close(self) -> None:
        """Close all sessions."""
        with self._lock:
            closing = list(self._sessions.values())
            self._sessions.clear()
        for session in closing:
            session.close()

    def _find(self, session_id: str) -> Session | None:
        session = self._sessions.get(session_id)
        return session if session is not None and session.is_open else None

    @contextmanager
    def _slot(self, session_id: str, analyst: str | None) -> Iterator[None]:
        while (slot := self._acquire(session_id, analyst)) is None:
            if (other := self._slots.get(session_id)) is not None:
                other.is_released.wait()
        try:
            yield
        finally:
            with self._lock:
                del self._slots[session_id]
            slot.is_released.set()

    def _acquire(self, session_id: str, analyst: str | None) -> _Slot | None:
        """A slot, for which other sessions may be closed; None while the same session is being opened."""
        with self._lock:
            if session_id in self._slots:
                return None
            closing = [] if self._find(session_id) is not None else self._sessions_to_close(analyst)
            for session in closing:
                del self._sessions[session.id]
            slot = self._slots[session_id] = _Slot(analyst)
        for session in closing:  # outside of the lock: closing waits for a query that is running
            session.close()
        return slot

    def _sessions_to_close(self, analyst: str | None) -> list[Session]:
        """The sessions that are closed for a new one of an analyst.

        To open a session again uses one of its alarms. So no analyst can have others' sessions closed while they are
        in use.
        """
        all_open = [session for session in self._sessions.values() if session.is_open]
        own = [session for session in all_open if session.analyst == analyst]
        opening = sum(slot.analyst == analyst for slot in self._slots.values())
        closing = own[: max(0, len(own) + opening + 1 - self._each)]
        if opening >= self._each:
            raise TooMany("You are opening as many sessions as you may have.", next_step="Wait until one is open.")
        staying = [session for session in all_open if session not in closing]
        missing = len(staying) + len(self._slots) + 1 - self._most
        if missing <= 0:
            return closing
        unused = [session for session in staying if session.unused > UNUSED]
        candidates = unused or [session for session in staying if session.analyst == analyst]
        if missing > len(candidates):
            raise TooMany("All slots for sessions are in use.", next_step="Wait some minutes, and open it then.")
        return [*closing, *sorted(candidates, key=lambda session: session.unused)[-missing:]]
