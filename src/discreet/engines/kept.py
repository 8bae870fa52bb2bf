"""What was computed once and is kept while somebody uses it, and the last used of it longer.

Two who want the same thing wait for each other; nobody waits for anything else.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Item(Generic[T]):
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    results: list[T] = field(default_factory=list)


class Kept(Generic[T]):
    """Results by name, the last used of them, so many and of so much weight; whoever uses one holds it meanwhile."""

    def __init__(self, most: int, *, most_weight: int, weigh: Callable[[T], int], drop: Callable[[str], None]) -> None:
        self._most, self._most_weight, self._weigh, self._drop = most, most_weight, weigh, drop
        self._items: OrderedDict[str, _Item[T]] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def held(self, name: str, compute: Callable[[], T]) -> Iterator[T]:
        item = self._taken(name)
        try:
            with item.lock:
                if not item.results:
                    item.results.append(compute())
            yield item.results[0]
        finally:
            with self._lock:
                item.users -= 1
            self._let_go()

    def _taken(self, name: str) -> _Item[T]:
        with self._lock:
            item = self._items.setdefault(name, _Item())
            self._items.move_to_end(name)
            item.users += 1
            return item

    def _let_go(self) -> None:
        """Drop what was used longest ago, unless somebody uses it. A name that is dropped is computed anew when it is wanted again."""
        with self._lock:
            idle = [name for name, item in self._items.items() if not item.users]
            weight = sum(self._weigh(result) for item in self._items.values() for result in item.results)
            for name in idle:
                item = self._items[name]
                if item.results and len(self._items) <= self._most and weight <= self._most_weight:
                    continue
                weight -= sum(self._weigh(result) for result in item.results)
                del self._items[name]
                self._drop(name)
