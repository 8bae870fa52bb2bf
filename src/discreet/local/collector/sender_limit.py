"""How much comes from one place: a count for each, in memory, of the day by which a task's quota counts, too."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from discreet.errors import OverQuota
from discreet.local.collector.intake import DAY, Quota

SHARES = 20
"""One place has at most one part in so many of what many places share: a task's quota of a day, a crowd."""
_MAX_ADDRESSES = 50_000


class DailyLimit:
    """At most `a_day` from one place on a calendar day; what is larger goes once, and takes days to make up.

    What is known of the place that was silent longest is forgotten when there are too many places.
    """

    def __init__(self, *, a_day: int, clock: Callable[[], float]) -> None:
        self._a_day, self._clock = a_day, clock
        self._addresses: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, address: str, amount: int = 1) -> bool:
        """Whether the place may send so much more."""
        today = int(self._clock() // DAY)
        with self._lock:
            day, used = self._addresses.pop(address, (today, 0))
            used = max(0, used - self._a_day * max(0, today - day))
            allowed = used == 0 or used + amount <= self._a_day
            self._addresses[address] = (today, used + amount if allowed else used)
            if len(self._addresses) > _MAX_ADDRESSES:
                self._addresses.popitem(last=False)
            return allowed


class SenderLimits:
    """What one place may send: so many messages for all tasks together, and of no task's quota more than its share."""

    def __init__(self, quota: Quota, *, clock: Callable[[], float]) -> None:
        self._in_all = DailyLimit(a_day=quota.messages_a_day_per_address, clock=clock)
        self._messages = DailyLimit(a_day=max(1, quota.messages_a_day // SHARES), clock=clock)
        self._bytes = DailyLimit(a_day=max(1, quota.bytes_a_day // SHARES), clock=clock)
        self._slots = DailyLimit(a_day=quota.slots_a_day_per_address, clock=clock)

    def take(self, address: str, task: str, size: int) -> None:
        """Let a message of so many bytes in, or refuse it by name."""
        own = f"{address} {task}"
        if not (self._in_all.take(address) and self._messages.take(own) and self._bytes.take(own, size)):
            raise OverQuota("This address has sent all it may send in a day.", next_step="Send the message tomorrow.")

    def take_slot(self, address: str) -> None:
        """Let a device have a number, or refuse it by name."""
        if not self._slots.take(address):
            raise OverQuota("This address has all numbers it may have in a day.", next_step="Ask again tomorrow.")
