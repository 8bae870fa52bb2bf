"""Numbers that a collector hands out to devices, each on a ticket that nobody else can write.

The number picks the hash function of a device's reports; the ticket's mark, a MAC over task and number, stands as sender
in all its messages. So a number that was given to nobody, or to another device, is refused, and what a number has sent is
counted as what a sender has sent.
"""

from __future__ import annotations

import hashlib
import hmac

import numpy as np

from discreet.errors import OutOfDomain
from discreet.local.tasks.messages import Message
from discreet.local.tasks.task import Task

MAX_TICKETS = 1 << 32
"""As many as fit into a report."""
_MARK = 16


def is_numbered(task: Task) -> bool:
    """Whether devices of a task report with numbers that its collector hands out."""
    return bool(task.spec["assigned"]) and task.randomizer.slot_at is not None


def max_reports_per_sender(task: Task) -> int:
    """Reports of one sender: in an epoch, or, as a ticket is for all epochs, in its life."""
    return int(task.spec["caps"]["lifetime" if is_numbered(task) else "per_epoch"])


class TicketIssuer:
    """The tickets of one task; `key` is the collector's secret."""

    def __init__(self, key: bytes, task: Task) -> None:
        self._key, self._task = key, task

    def ticket(self, number: int) -> str:
        """What a device is handed: its number and its mark, in hexadecimal digits."""
        return f"{number:08x}{self._mark(number).hex()}"

    def check(self, message: Message) -> None:
        """Whoever picks a hash function can pick one that favours what it wants to promote, or take another's place."""
        if not is_numbered(self._task):
            return
        numbers = np.unique(message.reports >> np.uint64(self._task.randomizer.slot_at or 0)).tolist()
        if len(numbers) > 1 or not hmac.compare_digest(self._mark(numbers[0]), message.sender):
            raise OutOfDomain("The message has no number of its device's own.", next_step="Ask for a number first.")

    def _mark(self, number: int) -> bytes:
        given = self._task.digest + number.to_bytes(8, "big")
        return hashlib.blake2b(given, key=self._key, digest_size=_MARK, person=b"discreet slots").digest()
