"""One thread that looks at the clock for all queries: it interrupts what reads for too long, or was cancelled."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

_AGAIN = 0.02
"""Seconds between two interrupts of the same reading: the first may come before its statement has begun."""
_IDLE = 5.0
"""Seconds after which a thread that has nothing to look at ends; the next reading starts another."""

_ENDING = 10.0
"""Seconds that what is being read has to end when nobody watches any more."""


@dataclass(slots=True, eq=False)
class Reading:
    """Something that is being read, on its own cursor, until a time."""

    cursor: duckdb.DuckDBPyConnection
    query: threading.Event
    until: float


class Watch:
    """Whose time is up is interrupted until they stop; nobody else is."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._shared = threading.local()
        self._change = threading.Condition()
        self._readings: set[Reading] = set()
        self._thread: threading.Thread | None = None
        self._next_look = self._last_seen = 0.0
        self._is_closed = False

    @contextmanager
    def one_limit(self, query: threading.Event | None = None, *, sharing: int = 1) -> Iterator[float]:
        """While it lasts, everything that this thread reads ends at one time, which is told: the limit is a query's, not a statement's.

        `query` is what it reads for, that of the limit around this one unless said. Of `sharing` that read at the same time on the same
        cores each may take so many times as long: the clock is the wall's, and others' load must end nobody's reading.
        """
        outer, asked = self._until(), self.asked()
        until = outer if self._is_limited() else time.monotonic() + sharing * self._seconds
        self._shared.until, self._shared.asked = until, query or asked
        try:
            yield self._shared.until
        finally:
            self._shared.until, self._shared.asked = outer, asked

    def asked(self) -> threading.Event:
        """What this thread reads for; something that nobody cancels where that was not said."""
        query: threading.Event | None = getattr(self._shared, "asked", None)
        return query or threading.Event()

    def is_over(self) -> bool:
        """Whether this thread's time is up, or its query cancelled."""
        return self.asked().is_set() or time.monotonic() > self._until()

    def _is_limited(self) -> bool:
        return not math.isinf(self._until())

    def _until(self) -> float:
        until: float = getattr(self._shared, "until", math.inf)
        return until

    @contextmanager
    def reading(self, cursor: duckdb.DuckDBPyConnection, query: threading.Event) -> Iterator[Reading]:
        """While it lasts, this cursor can be interrupted: by whoever asked, or by the clock."""
        entry = Reading(cursor, query, self._until() if self._is_limited() else time.monotonic() + self._seconds)
        with self._change:
            self._readings.add(entry)
            self._wake(entry.until)
        try:
            yield entry
        finally:
            with self._change:
                self._readings.discard(entry)
                if self._is_closed:
                    self._change.notify_all()

    def cancel(self, query: threading.Event) -> None:
        """Nothing is read for this query any longer."""
        query.set()
        with self._change:
            for entry in self._readings:
                if entry.query is query:
                    entry.until = 0.0
                    self._wake(0.0)

    def _wake(self, time_of_look: float) -> None:
        self._last_seen = time.monotonic()
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, name="discreet-watch", daemon=True)
            self._thread.start()
        elif time_of_look < self._next_look:
            self._change.notify()

    def close(self) -> None:
        """End what is being read, and the thread, if there is one."""
        with self._change:
            self._is_closed = True
            for entry in self._readings:
                entry.until = 0.0
            self._change.notify_all()
            self._change.wait_for(lambda: not self._readings, timeout=_ENDING)

    def _look(self) -> None:
        with self._change:
            while self._readings or not (self._is_closed or self._last_seen + _IDLE < time.monotonic()):
                self._next_look = self._interrupt_late()
                self._change.wait(self._next_look - time.monotonic())
            self._thread = None

    def _interrupt_late(self) -> float:
        """Interrupt whose time is up; when to look again."""
        now = time.monotonic()
        soonest = now + _IDLE
        for entry in self._readings:
            if entry.until <= now:
                entry.cursor.interrupt()
            soonest = min(soonest, max(entry.until, now + _AGAIN))
        return soonest
