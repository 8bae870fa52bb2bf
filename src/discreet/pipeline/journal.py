"""The journal of a run: its stored steps. The first step stored under a number is the step, whichever process drew it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from discreet.ledger import Ledger, Reservation
from discreet.mechanisms import Mechanism


class Journal(Protocol):
    """The steps of one run."""

    def stored(self) -> list[bytes]:
        """Return the steps that are stored, in order."""

    def store(self, number: int, body: bytes, *, mechanism: Mechanism | None) -> bytes:
        """Store a step durably. Return the step that is stored under this number: another process may have been first."""


@dataclass(slots=True)
class LedgerJournal:
    """A journal in the ledger, under the charge that covers its steps."""

    ledger: Ledger
    reservation: Reservation
    on_measurement: Callable[[int], None]
    """Called with the number of steps, after a step is on disk."""
    _seen: int = 0
    """The number of steps that this process has stored or read. Another process may store further ones."""

    def stored(self) -> list[bytes]:
        stored = self.ledger.steps(self.reservation)
        self._seen = len(stored)
        return stored

    def store(self, number: int, body: bytes, *, mechanism: Mechanism | None) -> bytes:
        stored = self.ledger.step(self.reservation, number, body, paid=mechanism)
        self._seen = number + 1
        self.on_measurement(number + 1)
        return stored

    def write_entries(self) -> None:
        """Write the ledger entries of the steps seen so far, before anything computed from them is returned."""
        self.ledger.release_steps(self.reservation, self._seen)


class NoJournal:
    """The journal of a run that cannot be resumed: it is public and free, or draws only once."""

    def stored(self) -> list[bytes]:
        return []

    def store(self, number: int, body: bytes, *, mechanism: Mechanism | None) -> bytes:  # noqa: ARG002  the interface has it
        return body
