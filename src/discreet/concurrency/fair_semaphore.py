"""A semaphore whose slots are handed out in turn: no caller can hold them all, however many requests it sends."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class _Waiter:
    caller: str | None
    is_long: bool
    cancelled: threading.Event
    may_go: threading.Event = field(default_factory=threading.Event)


class FairSemaphore:
    """At most `slots` slots in all, `each` of them for one caller, and `long` of them for work that takes long.

    A free slot goes to the next caller, round robin, and not to the request that has waited longest: a hundred requests
    of one caller get one turn per round.
    """

    def __init__(self, slots: int, *, each: int, long: int) -> None:
        self._slots, self._each, self._long = slots, each, long
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str | None, list[_Waiter]] = OrderedDict()
        self._held: Counter[str | None] = Counter()
        self._long_held = 0

    @contextmanager
    def slot(self, caller: str | None, *, cancelled: threading.Event, is_long: bool = False) -> Iterator[None]:
        """Hold a slot. A request that is cancelled while it waits goes on without one, and must check `cancelled`."""
        waiter = _Waiter(caller, is_long, cancelled)
        with self._lock:
            self._waiting.setdefault(caller, []).append(waiter)
            self._assign_slots()
            if cancelled.is_set():
                waiter.may_go.set()
        try:
            waiter.may_go.wait()
            yield
        finally:
            self._release(waiter)

    def cancel(self, cancelled: threading.Event) -> None:
        """Set the event, and let every request that waits with it go on without a slot."""
        cancelled.set()
        with self._lock:
            for waiter in [waiter for queue in self._waiting.values() for waiter in queue]:
                if waiter.cancelled is cancelled:
                    waiter.may_go.set()

    def _release(self, waiter: _Waiter) -> None:
        with self._lock:
            if self._stop_waiting(waiter):
                return  # it was cancelled before it got a slot
            self._held[waiter.caller] -= 1
            if not self._held[waiter.caller]:
                del self._held[waiter.caller]
            self._long_held -= waiter.is_long
            self._assign_slots()

    def _assign_slots(self) -> None:
        """Assign every free slot that a waiting request may have. A caller that gets one is last in the next round."""
        while self._held.total() < self._slots and (waiter := self._next()) is not None:
            self._stop_waiting(waiter)
            if waiter.caller in self._waiting:
                self._waiting.move_to_end(waiter.caller)
            self._held[waiter.caller] += 1
            self._long_held += waiter.is_long
            waiter.may_go.set()

    def _next(self) -> _Waiter | None:
        for caller, queue in self._waiting.items():
            if self._held[caller] < self._each:
                for waiter in queue:
                    if not waiter.is_long or self._long_held < self._long:
                        return waiter
        return None

    def _stop_waiting(self, waiter: _Waiter) -> bool:
        """Remove a request from the queue; return whether it was still in it."""
        queue = self._waiting.get(waiter.caller, [])
        if waiter not in queue:
            return False
        queue.remove(waiter)
        if not queue:
            del self._waiting[waiter.caller]
        return True
