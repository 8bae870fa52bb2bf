"""A thread-safe cache that drops what was used least recently."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """Values by key, up to a total weight. The last value that was stored always stays, however heavy it is.

    By default every value weighs 1, so `capacity` is a number of values.
    """

    def __init__(self, capacity: int, *, weigh: Callable[[Value], int] = lambda _: 1) -> None:
        self._capacity, self._weigh = capacity, weigh
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[Key]:
        """Iterate over the keys of one moment, least recently used first."""
        with self._lock:
            return iter(list(self._values))

    def get(self, key: Key) -> Value | None:
        """Return the value of a key, which counts as use; None if it is not cached."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Key, value: Value) -> None:
        """Store a value, and drop the least recently used ones beyond the capacity."""
        with self._lock:
            self._forget(key)
            self._values[key] = value
            self._weight += self._weigh(value)
            while self._weight > self._capacity and len(self._values) > 1:
                self._forget(next(iter(self._values)))

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._values.clear()
            self._weight = 0

    def _forget(self, key: Key) -> None:
        if key in self._values:
            self._weight -= self._weigh(self._values.pop(key))
