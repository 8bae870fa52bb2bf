"""Token buckets: how much each caller may use per second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_MOST_REMEMBERED = 10_000


class TokenBuckets:
    """One bucket per caller: at most `capacity` tokens, refilled at `rate` tokens per second. A new caller's is full.

    A bucket may go below zero: work that took longer than expected is paid for by waiting.
    """

    def __init__(self, *, capacity: float, rate: float, now: Callable[[], float] = time.monotonic) -> None:
        self.capacity, self.rate, self._now = capacity, rate, now
        self._buckets: dict[str, tuple[float, float]] = {}
        """Tokens, and when they were counted."""
        self._lock = threading.RLock()

    def remaining(self, caller: str) -> float:
        """Return how many tokens a caller has now."""
        with self._lock:
            now = self._now()
            tokens, since = self._buckets.get(caller, (self.capacity, now))
            return min(self.capacity, tokens + (now - since) * self.rate)

    def try_take(self, caller: str, amount: float) -> bool:
        """Take tokens if the bucket has enough; return whether it had. More than a full bucket needs a full one."""
        with self._lock:
            remaining = self.remaining(caller)
            if remaining <= 0 or remaining < min(amount, self.capacity):
                return False
            self.take(caller, amount)
            return True

    def take(self, caller: str, amount: float) -> None:
        """Take tokens, below zero if need be; a negative amount gives tokens back."""
        with self._lock:
            self._buckets[caller] = (min(self.capacity, self.remaining(caller) - amount), self._now())
            if len(self._buckets) > _MOST_REMEMBERED:
                # A full bucket is the same as none.
                self._buckets = {
                    name: kept for name, kept in self._buckets.items() if self.remaining(name) < self.capacity
                }
