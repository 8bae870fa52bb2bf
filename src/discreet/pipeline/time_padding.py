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
    """The times at which one answer may leave, by the clock `now`: a class after its query arrived, and doublings of that.

    `reading` is how many seconds its place among the readings is kept, from when it was taken. Whoever waits for a place waits for such an
    end and not for the end of a reading, which nobody may know; so they leave in a class that others' readings do not choose either.
    """

    arrived: float
    length: float
    reading: float
    now: Callable[[], float]

    def place_ends(self, begun: float) -> float:
        """When a place that was taken then is free again: after the seconds of a reading; where those are over, with the answer in its class;
        and then after doublings of the class, counted from when the place was taken: what was waited for it makes it no longer.
        """
        now = self.now()
        if now <= begun + self.reading:
            return begun + self.reading
        in_class = self.arrived + self.length
        return in_class if now <= in_class else _doubled(begun, self.length, now)

    def after(self, time: float) -> float:
        """The first of the times at which the answer may leave that does not come before `time`."""
        return _doubled(self.arrived, self.length, time)


def _doubled(start: float, length: float, time: float) -> float:
    """The first end of a length or a doubling of it, counted from a start, that does not come before a time; nothing has no end to wait for."""
    while length and start + length < time:
        length *= 2
    return start + length


AT_ONCE = Departure(0.0, 0.0, 0.0, lambda: 0.0)
"""The departure of who may know how long the data is read: nothing waits."""
