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
    """The times at which one answer may leave, by the clock `now`: a class after its question arrived, and doublings of that.

    `reading` is how many seconds its place among the readings is kept, from when it was taken. Whoever waits for a place waits for such an
    end and not for the end of a reading, which nobody may know; so they leave in a class that others' readings do not choose either.
    """

    arrived: float
    length: float
    reading: float
    now: Callable[[], float]

    def place_ends(self, begun: float) -> float:
        """When a place that was taken then is free again: after the seconds of a reading, or with the answer where those are over."""
        expected = begun + self.reading
        return expected if self.now() <= expected else self.after(self.now())

    def after(self, time: float) -> float:
        """The first of the times at which the answer may leave that does not come before `time`."""
        length = self.length
        while self.arrived + length < time:
            length *= 2
        return self.arrived + length


AT_ONCE = Departure(0.0, 0.0, 0.0, lambda: 0.0)
"""The departure of who may know how long the data is read: nothing waits."""
