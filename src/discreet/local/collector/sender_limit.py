"""Daily limits per network address, counted in memory by the same calendar days as a task's quota."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from discreet.errors import OverQuota
from discreet.local.collector.intake import DAY, Quota

ADDRESS_SHARES = 20
"""One address may use at most 1 / ADDRESS_SHARES of a task's daily quota or of a shuffler's crowd."""
_MAX_ADDRESSES = 50_000


class DailyLimit:
    """Allow each address at most `a_day` per calendar day.

    A single larger amount is allowed if nothing is used, and counts against the following days. If there are too many
    addresses, the one that was inactive longest is dropped.
    """

    def __init__(self, *, a_day: int, clock: Callable[[], float]) -> None:
        self._a_day, self._clock = a_day, clock
        self._addresses: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, address: str, amount: int = 1) -> bool:
        """Count an amount for an address, and return whether it is allowed."""
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
    """The limits of one address: messages for all tasks together, and a share of each task's quota."""

    def __init__(self, quota: Quota, *, clock: Callable[[], float]) -> None:
        self._in_all = DailyLimit(a_day=quota.messages_a_day_per_address, clock=clock)
        self._messages = DailyLimit(a_day=max(1, quota.messages_a_day // ADDRESS_SHARES), clock=clock)
        self._bytes = DailyLimit(a_day=max(1, quota.bytes_a_day // ADDRESS_SHARES), clock=clock)
        self._slots = DailyLimit(a_day=quota.slots_a_day_per_address, clock=clock)

    def take(self, address: str, task: str, size: int) -> None:
        """Count a message of `size` bytes against the limits, or refuse it."""
        own = f"{address} {task}"
        if not (self._in_all.take(address) and self._messages.take(own) and self._bytes.take(own, size)):
            raise OverQuota("This address has reached its daily limit.", next_step="Send the message tomorrow.")

    def take_slot(self, address: str) -> None:
        """Count a ticket against the limits, or refuse it."""
        if not self._slots.take(address):
            raise OverQuota("This address has reached its daily limit of tickets.", next_step="Ask again tomorrow.")
