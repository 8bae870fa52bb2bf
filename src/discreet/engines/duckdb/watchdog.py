"""One thread that watches the time of all queries and interrupts those that take too long or were cancelled."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

_AGAIN = 0.02
"""Seconds between two interrupts of the same read: the first may come before its statement has started."""
_IDLE = 5.0
"""Seconds after which an idle thread ends; the next read starts another."""

_ENDING = 10.0
"""Seconds that reads get to end when the watchdog closes."""


@dataclass(slots=True, eq=False)
class Reading:
    """A read on its own cursor, with a deadline."""

    cursor: duckdb.DuckDBPyConnection
    query: threading.Event
    until: float


class Watchdog:
    """Interrupts reads whose deadline has passed, until they stop. Other reads are not disturbed."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._shared = threading.local()
        self._change = threading.Condition()
        self._readings: set[Reading] = set()
        self._thread: threading.Thread | None = None
        self._next_check = self._last_seen = 0.0
        self._is_closed = False

    @contextmanager
    def one_limit(self, query: threading.Event | None = None, *, sharing: int = 1) -> Iterator[float]:
        """Give everything that this thread reads one deadline, and yield it: the limit is for a query, not for a statement.

        `query` is the event that cancels it (default: that of the enclosing limit). If `sharing` queries read at the same time on the
        same cores, each may take that many times as long: the clock is the wall clock, and the load of others must not end a read.
        """
        outer, asked = self._until(), self.asked()
        until = outer if self._is_limited() else time.monotonic() + sharing * self._seconds
        self._shared.until, self._shared.asked = until, query or asked
        try:
            yield self._shared.until
        finally:
            self._shared.until, self._shared.asked = outer, asked

    def asked(self) -> threading.Event:
        """The event that cancels what this thread reads; one that is never set outside of a limit."""
        query: threading.Event | None = getattr(self._shared, "asked", None)
        return query or threading.Event()

    def is_over(self) -> bool:
        """Whether this thread's deadline has passed or its query is cancelled."""
        return self.asked().is_set() or time.monotonic() > self._until()

    def _is_limited(self) -> bool:
        return not math.isinf(self._until())

    def _until(self) -> float:
        until: float = getattr(self._shared, "until", math.inf)
        return until

    @contextmanager
    def reading(self, cursor: duckdb.DuckDBPyConnection, query: threading.Event) -> Iterator[Reading]:
        """Let this cursor be interrupted, by cancellation or by the deadline."""
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
        """Stop every read of this query."""
        query.set()
        with self._change:
            for entry in self._readings:
                if entry.query is query:
                    entry.until = 0.0
                    self._wake(0.0)

    def _wake(self, time_of_check: float) -> None:
        self._last_seen = time.monotonic()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="discreet-watch", daemon=True)
            self._thread.start()
        elif time_of_check < self._next_check:
            self._change.notify()

    def close(self) -> None:
        """End all reads, and the thread if it runs."""
        with self._change:
            self._is_closed = True
            for entry in self._readings:
                entry.until = 0.0
            self._change.notify_all()
            self._change.wait_for(lambda: not self._readings, timeout=_ENDING)

    def _run(self) -> None:
        with self._change:
            while self._readings or not (self._is_closed or self._last_seen + _IDLE < time.monotonic()):
                self._next_check = self._interrupt_late()
                self._change.wait(self._next_check - time.monotonic())
            self._thread = None

    def _interrupt_late(self) -> float:
        """Interrupt the reads whose deadline has passed; return when to check again."""
        now = time.monotonic()
        soonest = now + _IDLE
        for entry in self._readings:
            if entry.until <= now:
                entry.cursor.interrupt()
            soonest = min(soonest, max(entry.until, now + _AGAIN))
        return soonest
