"""What was computed once and is kept while somebody uses it, and the last used of it longer.

Two who want the same thing wait for each other; nobody waits for anything else. What is dropped, and when, is decided by who took what
and when the last of them let it go, and by nothing that happened in between.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
_LOOK = 0.05
"""Seconds after which somebody who waits looks whether they still want to."""


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
    def held(self, name: str, compute: Callable[[], T], *, check: Callable[[], None]) -> Iterator[T]:
        """The result of that name, computed if there is none. Who waits for somebody else's computing calls `check` meanwhile, which may raise."""
        item = self._taken(name)
        try:
            with _in_turn(item.lock, check):
                if not item.results:
                    item.results.append(compute())
            yield item.results[0]
        finally:
            self._let_go(name, item)

    def _taken(self, name: str) -> _Item[T]:
        with self._lock:
            item = self._items.setdefault(name, _Item())
            item.users += 1
            return item

    def _let_go(self, name: str, item: _Item[T]) -> None:
        """Drop what was let go longest ago, unless somebody uses it. A name that is dropped is computed anew when it is wanted again.

        Nothing happens before the last who holds something lets go: who holds a thing and uses it again meanwhile, at times that nobody may
        know, changes nothing.
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
def _in_turn(lock: threading.Lock, check: Callable[[], None]) -> Iterator[None]:
    while not lock.acquire(timeout=_LOOK):
        check()
    try:
        yield
    finally:
        lock.release()
