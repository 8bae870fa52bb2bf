"""The interface of a watch, local or remote."""

from __future__ import annotations

from abc import ABC, abstractmethod


class WatchBase(ABC):
    """A watched count. Each data version has one answer, above or not, which is repeated for free. The first *above* is the last answer.

    Call `evaluate` on a schedule or on request, never because data arrived: the time of a call would reveal the arrival.
    """

    receipt: str
    """The receipt of its charge."""

    @property
    @abstractmethod
    def answers(self) -> dict[int, bool]:
        """The answers so far, by data version."""

    @property
    @abstractmethod
    def ended(self) -> str | None:
        """Why the watch has ended: above, failed or lost; None while it goes on."""

    @abstractmethod
    def evaluate(self) -> bool:
        """Return whether the count of the current data version is above the threshold, with noise. A repeated call is free."""
