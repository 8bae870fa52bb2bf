"""When an answer leaves: at the end of a class of time that was chosen before anything was read, so that its duration is no second answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

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
    turn_ends: Callable[[], float] = lambda: 0.0
    """Takes a turn among all readings, and says when it is over if each takes as long as it was expected to."""

    def in_turn(self) -> Departure:
        """The departure of what is read now: in a later class, where those before it leave no room in its own.

        Who waits for a place waits for a reading to end. Counted in expected seconds, the wait is public; counted in real ones it would tell
        when others' readings, or one's own, had ended.
        """
        length, ends = self.length, self.turn_ends()
        while self.arrived + length < ends:
            length *= 2
        return replace(self, length=length)

    def next(self) -> float:
        """The first of them that is not over."""
        length, since = self.length, self.now() - self.arrived
        while length < since:
            length *= 2
        return self.arrived + length


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is expected to be read, from when to when."""

    who: str
    is_long: bool
    start: float
    end: float


class Turns:
    """When each reading would end, if all took as long as they were expected to: `most` places, `each` for one who asks, `long` for what takes
    long. The places themselves are free earlier, or a little later; this is what can be known without looking at them.
    """

    def __init__(self, most: int, *, each: int, long: int, now: Callable[[], float]) -> None:
        self._most, self._each, self._longest, self._now = most, each, long, now
        self._lock = threading.Lock()
        self._readings: list[_Reading] = []

    def end(self, who: str, seconds: float, *, is_long: bool) -> float:
        """Take the next turn of `who`, and say when it is over."""
        with self._lock:
            start = self._now()
            self._readings = [reading for reading in self._readings if reading.end > start]
            while (meanwhile := self._at(start)) and self._is_full(meanwhile, who, is_long=is_long):
                start = min(reading.end for reading in meanwhile)
            self._readings.append(_Reading(who, is_long, start, start + seconds))
            return start + seconds

    def _at(self, time: float) -> list[_Reading]:
        return [reading for reading in self._readings if reading.start <= time < reading.end]

    def _is_full(self, readings: list[_Reading], who: str, *, is_long: bool) -> bool:
        own = sum(reading.who == who for reading in readings)
        long = sum(reading.is_long for reading in readings)
        return len(readings) >= self._most or own >= self._each or (is_long and long >= self._longest)
