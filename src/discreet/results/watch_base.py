"""What a caller sees of a watch, local or remote."""

from __future__ import annotations

from abc import ABC, abstractmethod


class WatchBase(ABC):
    """A count that is watched. Every data version has one bit, said as often as it is asked for; the first *above* is the last.

    It is evaluated when somebody calls `evaluate`: by the clock or by request, never because data came.
    """

    receipt: str
    """Under which the ledger has what was paid for it."""

    @property
    @abstractmethod
    def answers(self) -> dict[int, bool]:
        """What was said, by data version."""

    @property
    @abstractmethod
    def ended(self) -> str | None:
        """Why there is nothing more to come: above, failed or lost; None while it goes on."""

    @abstractmethod
    def evaluate(self) -> bool:
        """Whether the count of this data version is above, noisily: as stored, or read and stored before it is returned."""
