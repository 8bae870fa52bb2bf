"""Where a run keeps what it drew along the way: the first that is stored for a number is the step, whoever drew it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from discreet.ledger import Ledger, Reservation
from discreet.mechanisms import Mechanism


class Steps(Protocol):
    """The steps of one run."""

    def stored(self) -> list[bytes]:
        """Those of before, in order."""

    def store(self, number: int, body: bytes, *, paid: Mechanism | None) -> bytes:
        """Keep one, durably, and return the one that is kept."""


@dataclass(slots=True)
class StepsInBooks:
    """Under the charge that pays for them."""

    ledger: Ledger
    reservation: Reservation
    on_look: Callable[[int], None]
    """Hears how many there are, once they are on disk."""
    _known: int = 0
    """Those that whoever holds this has seen: another process may be drawing further ones."""

    def stored(self) -> list[bytes]:
        stored = self.ledger.steps(self.reservation)
        self._known = len(stored)
        return stored

    def store(self, number: int, body: bytes, *, paid: Mechanism | None) -> bytes:
        kept = self.ledger.step(self.reservation, number, body, paid=paid)
        self._known = number + 1
        self.on_look(number + 1)
        return kept

    def leave(self) -> None:
        """Write the entries of what was drawn or taken up here: what it brought about leaves."""
        self.ledger.steps_leave(self.reservation, self._known)


class NoSteps:
    """Of what is public and free, or draws one thing only: there is nothing to go on from."""

    def stored(self) -> list[bytes]:
        return []

    def store(self, number: int, body: bytes, *, paid: Mechanism | None) -> bytes:  # noqa: ARG002  as all of them take it
        return body
