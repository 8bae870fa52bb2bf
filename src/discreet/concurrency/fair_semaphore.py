"""Places for work that cannot all be done at once, handed out in turn: nobody has them all, however much they ask for."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class _Waiter:
    who: str | None
    is_long: bool
    taken_back: threading.Event
    called: threading.Event = field(default_factory=threading.Event)


class Places:
    """`most` places in all, `each` of them for one who asks, and `long` of them for what takes long.

    When a place is free it goes to the next who asks, round and round, and not to the one who has waited longest: a hundred queries of one
    analyst are one turn each time round.
    """

    def __init__(self, most: int, *, each: int, long: int) -> None:
        self._most, self._each, self._long = most, each, long
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str | None, list[_Waiter]] = OrderedDict()
        self._held: Counter[str | None] = Counter()
        self._long_held = 0

    @contextmanager
    def held(self, who: str | None, *, taken_back: threading.Event, is_long: bool = False) -> Iterator[None]:
        """While it lasts, a place is `who`'s; who takes the query back meanwhile goes through without one, to find that out."""
        waiter = _Waiter(who, is_long, taken_back)
        with self._lock:
            self._waiting.setdefault(who, []).append(waiter)
            self._call_next()
            if taken_back.is_set():
                waiter.called.set()
        try:
            waiter.called.wait()
            yield
        finally:
            self._leave(waiter)

    def take_back(self, query: threading.Event) -> None:
        """A query that waits need not wait any longer."""
        query.set()
        with self._lock:
            for waiter in [waiter for queue in self._waiting.values() for waiter in queue]:
                if waiter.taken_back is query:
                    waiter.called.set()

    def _leave(self, waiter: _Waiter) -> None:
        with self._lock:
            if self._stop_waiting(waiter):
                return  # it never had a place
            self._held[waiter.who] -= 1
            if not self._held[waiter.who]:
                del self._held[waiter.who]
            self._long_held -= waiter.is_long
            self._call_next()

    def _call_next(self) -> None:
        """Give away every place that somebody may have. Whoever got one is the last in the next round."""
        while self._held.total() < self._most and (waiter := self._next()) is not None:
            self._stop_waiting(waiter)
            if waiter.who in self._waiting:
                self._waiting.move_to_end(waiter.who)
            self._held[waiter.who] += 1
            self._long_held += waiter.is_long
            waiter.called.set()

    def _next(self) -> _Waiter | None:
        for who, queue in self._waiting.items():
            if self._held[who] < self._each:
                for waiter in queue:
                    if not waiter.is_long or self._long_held < self._long:
                        return waiter
        return None

    def _stop_waiting(self, waiter: _Waiter) -> bool:
        """Whether it was still waiting."""
        queue = self._waiting.get(waiter.who, [])
        if waiter not in queue:
            return False
        queue.remove(waiter)
        if not queue:
            del self._waiting[waiter.who]
        return True
