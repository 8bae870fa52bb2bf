"""Rate limits: requests per second and requests at once, per analyst (over all keys) or per address."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.concurrency.token_bucket import TokenBuckets
from discreet.errors import TooMany


class RateLimit:
    """At most `rate` requests per second of each caller, with bursts of two seconds' worth, and `at_once` in work."""

    def __init__(self, *, rate: float, at_once: int, now: Callable[[], float] = time.monotonic) -> None:
        self._requests = TokenBuckets(capacity=2 * rate, rate=rate, now=now)
        self._at_once = at_once
        self._working: dict[str, int] = {}

    @contextmanager
    def admit(self, caller: str) -> Iterator[None]:
        """Admit a request for as long as it is in work, or refuse it."""
        if self._working.get(caller, 0) >= self._at_once or not self._requests.try_take(caller, 1):
            raise TooMany("You ask more often than this server allows.", next_step="Wait a little, and ask again.")
        self._working[caller] = self._working.get(caller, 0) + 1
        try:
            yield
        finally:
            self._working[caller] -= 1
            if not self._working[caller]:
                del self._working[caller]
