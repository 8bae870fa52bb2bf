"""Rate limits: requests per second and requests at once, per analyst (over all keys) or per address."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.concurrency.token_bucket import TokenBuckets
from discreet.errors import TooMany


class RateLimit:
    """Limit each caller to `rate` requests per second, with bursts of two seconds' worth, and `at_once` concurrent requests."""

    def __init__(self, *, rate: float, at_once: int, now: Callable[[], float] = time.monotonic) -> None:
        self._requests = TokenBuckets(capacity=2 * rate, rate=rate, now=now)
        self._at_once = at_once
        self._working: dict[str, int] = {}

    @contextmanager
    def admit(self, caller: str) -> Iterator[None]:
        """Count a request as concurrent within the context, or refuse it."""
        if self._working.get(caller, 0) >= self._at_once or not self._requests.try_take(caller, 1):
            raise TooMany(
                "Too many requests: you exceed the rate limit of this server.",
                next_step="Wait a moment, then try again.",
            )
        self._working[caller] = self._working.get(caller, 0) + 1
        try:
            yield
        finally:
            self._working[caller] -= 1
            if not self._working[caller]:
                del self._working[caller]
