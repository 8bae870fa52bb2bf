"""Tickets: numbers that a collector assigns to devices, each authenticated by a MAC.

The number selects the hash function of a device's reports. The ticket's mark, a MAC over task and number, is the sender
of all its messages. So the collector refuses numbers that it did not issue to this device, and the caps per sender hold
per number.
"""

from __future__ import annotations

import hashlib
import hmac

import numpy as np

from discreet.errors import OutOfDomain
from discreet.local.tasks.messages import Message
from discreet.local.tasks.task import Task

MAX_TICKETS = 1 << 32
"""The most numbers that fit into a report."""
_MARK = 16


def is_numbered(task: Task) -> bool:
    """Whether devices of a task report with numbers that its collector assigns."""
    return bool(task.spec["assigned"]) and task.randomizer.slot_at is not None


def max_reports_per_sender(task: Task) -> int:
    """Return the cap of one sender: per epoch, or for the lifetime if tickets (which hold for all epochs) are used."""
    return int(task.spec["caps"]["lifetime" if is_numbered(task) else "per_epoch"])


class TicketIssuer:
    """Issue and check the tickets of one task. `key` is the collector's secret."""

    def __init__(self, key: bytes, task: Task) -> None:
        self._key, self._task = key, task

    def ticket(self, number: int) -> str:
        """Return the ticket of a device: its number and its mark, in hexadecimal digits."""
        return f"{number:08x}{self._mark(number).hex()}"

    def check(self, message: Message) -> None:
        """Refuse a message whose number was not issued to its sender.

        A device that could choose its hash function could choose one that favours a value, or pose as another device.
        """
        if not is_numbered(self._task):
            return
        numbers = np.unique(message.reports >> np.uint64(self._task.randomizer.slot_at or 0)).tolist()
        if len(numbers) > 1 or not hmac.compare_digest(self._mark(numbers[0]), message.sender):
            raise OutOfDomain(
                "The message does not carry the number that its device was assigned.",
                next_step="Ask for a ticket first.",
            )

    def _mark(self, number: int) -> bytes:
        given = self._task.digest + number.to_bytes(8, "big")
        return hashlib.blake2b(given, key=self._key, digest_size=_MARK, person=b"discreet slots").digest()
