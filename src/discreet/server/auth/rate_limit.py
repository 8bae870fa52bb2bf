"""How often and how many at once: limits for each analyst, however many keys."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.errors import TooMany

_MOST_REMEMBERED = 10_000


class Guard:
    """A bucket of requests for each analyst, refilled at `rate` a second; and at most `at_once` in work."""

    def __init__(self, *, rate: float, at_once: int, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._at_once, self._now = rate, at_once, now
        self._buckets: dict[str, tuple[float, float]] = {}
        self._working: dict[str, int] = {}

    @contextmanager
    def admit(self, analyst: str) -> Iterator[None]:
        """Let a request in, or refuse it."""
        if len(self._buckets) > _MOST_REMEMBERED:
            self._forget_the_idle()
        left, since = self._buckets.get(analyst, (2 * self._rate, self._now()))
        left = min(2 * self._rate, left + (self._now() - since) * self._rate)
        if left < 1 or self._working.get(analyst, 0) >= self._at_once:
            raise _too_many()
        self._buckets[analyst] = (left - 1, self._now())
        self._working[analyst] = self._working.get(analyst, 0) + 1
        try:
            yield
        finally:
            self._working[analyst] -= 1
            if not self._working[analyst]:
                del self._working[analyst]

    def _forget_the_idle(self) -> None:
        """Whose bucket has filled up again is like somebody new."""
        full_since = self._now() - 2
        self._buckets = {name: bucket for name, bucket in self._buckets.items() if bucket[1] > full_since}


def _too_many() -> TooMany:
    return TooMany("You ask more often than this server allows.", next_step="Wait a little, and ask again.")
