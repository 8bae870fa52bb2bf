"""A cache whose values stay while somebody uses them; of the unused ones, the last used stay longest.

Two callers that need the same value wait for each other; nobody waits for anything else. What is dropped, and when, depends only
on who acquired what and when its last user released it. So the times in between, which may depend on data, change nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
_CHECK_INTERVAL = 0.05
"""Seconds between two checks of a caller that waits."""


@dataclass(slots=True)
class _Item(Generic[T]):
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    results: list[T] = field(default_factory=list)
    """Empty until the value is computed."""


class RefcountedCache(Generic[T]):
    """Values by name: at most `most` of them, of at most `most_weight` together, beside those in use."""

    def __init__(self, most: int, *, most_weight: int, weigh: Callable[[T], int], drop: Callable[[str], None]) -> None:
        self._most, self._most_weight, self._weigh, self._drop = most, most_weight, weigh, drop
        self._items: OrderedDict[str, _Item[T]] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def acquire(self, name: str, compute: Callable[[], T], *, check: Callable[[], None]) -> Iterator[T]:
        """Hold the value of that name, computed if there is none.

        A caller that waits while another computes it calls `check` meanwhile, which may raise.
        """
        item = self._add_user(name)
        try:
            with _lock(item.lock, check):
                if not item.results:
                    item.results.append(compute())
            yield item.results[0]
        finally:
            self._release(name, item)

    def _add_user(self, name: str) -> _Item[T]:
        with self._lock:
            item = self._items.setdefault(name, _Item())
            item.users += 1
            return item

    def _release(self, name: str, item: _Item[T]) -> None:
        """Drop the values that were released longest ago and are not in use. A dropped value is computed again on demand.

        Nothing happens before the last user releases a value. A caller that acquires a value twice in one query, at times that
        may depend on data, therefore changes nothing.
        """
        with self._lock:
            item.users -= 1
            if item.users:
                return
            self._items.move_to_end(name)
            idle = [other for other, item in self._items.items() if not item.users]
            weight = sum(self._weigh(result) for item in self._items.values() for result in item.results)
            for other in idle:
                results = self._items[other].results
                if results and len(self._items) <= self._most and weight <= self._most_weight:
                    continue
                weight -= sum(self._weigh(result) for result in results)
                del self._items[other]
                self._drop(other)


@contextmanager
def _lock(lock: threading.Lock, check: Callable[[], None]) -> Iterator[None]:
    while not lock.acquire(timeout=_CHECK_INTERVAL):
        check()
    try:
        yield
    finally:
        lock.release()
