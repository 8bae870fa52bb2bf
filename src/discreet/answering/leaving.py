"""When an answer leaves: at the end of a class of time that was chosen before anything was read, so that its duration is no second answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

UNIT = 0.05
"""Seconds of the shortest class; every other is twice the one before."""


def class_of(seconds: float, *, unit: float, most: float) -> float:
    """The shortest class that has room for so many seconds; the longest within `most` where none has."""
    length = unit
    while length < seconds and 2 * length <= most:
        length *= 2
    return length


@dataclass(frozen=True, slots=True)
class Departure:
    """The times at which one answer may leave, by the clock `now`: a class after its question arrived, and doublings of that."""

    arrived: float
    length: float
    now: Callable[[], float]

    def next(self) -> float:
        """The first of them that is not over."""
        length, since = self.length, self.now() - self.arrived
        while length < since:
            length *= 2
        return self.arrived + length
