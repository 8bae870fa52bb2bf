"""Time as analysts have it: so many seconds of each minute, and answers that leave at the end of their class."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.errors import TooLarge, TooMany
from discreet.pipeline.time_padding import AT_ONCE, Departure, class_of
from discreet.planning.effort import CHARGE

_MOST_REMEMBERED = 10_000


class Hours:
    """A bucket of seconds for each analyst, `a_minute` of them, refilled evenly.

    Classes are whole doublings of `unit` seconds, the longest within `longest`; with a unit of 0 answers leave when they are ready, and
    whoever asks hears how long the data was read. What is taken from a bucket is the time until an answer leaves, never how long it was read.
    """

    def __init__(
        self, *, unit: float, longest: float, a_minute: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._unit, self._longest, self._a_minute, self.now = unit, longest, a_minute, now
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def visit(self, analyst: str) -> Iterator[Visit]:
        """From the arrival of a query until its answer or refusal leaves."""
        self.take(analyst, 0.0)
        visit = Visit(self, analyst, self.now())
        try:
            yield visit
        finally:
            self.settle(analyst, visit.owed() - visit.taken)

    def departure(self, arrived: float, seconds: float) -> Departure:
        """When an answer leaves whose query arrived then, and will take about so many seconds; or a refusal, where they are more than one
        query has: nobody keeps a place for longer, and an engine may be slow to notice that time is up.
        """
        if self._unit <= 0:
            return AT_ONCE
        if seconds > self._longest:
            raise TooLarge(
                f"The question is expected to take {seconds:,.0f} seconds, and has {self._longest:g}.",
                next_step="Let fewer rows meet, look at fewer or shorter texts, or ask the owner for more (`[engine] seconds`).",
            )
        length = class_of(self.now() - arrived + seconds, unit=self._unit, most=max(self._unit, self._longest))
        return Departure(arrived, length, max(seconds - CHARGE, self._unit / 4), self.now)

    def take(self, analyst: str, seconds: float) -> None:
        """Take seconds out of a bucket that has them, or refuse."""
        with self._lock:
            left = self._left(analyst)
            if left <= 0 or left < min(seconds, self._a_minute):
                wait = math.ceil((min(seconds, self._a_minute) - left) * 60 / self._a_minute) + 1
                raise TooMany(
                    f"Your questions take more than {self._a_minute:g} seconds of a minute.",
                    next_step=f"Wait {wait} seconds, or ask what is read faster.",
                )
            self._buckets[analyst] = (left - seconds, self.now())

    def settle(self, analyst: str, seconds: float) -> None:
        """Take what was needed beside what was taken before, or put back what was not."""
        with self._lock:
            self._buckets[analyst] = (min(self._a_minute, self._left(analyst) - seconds), self.now())
            if len(self._buckets) > _MOST_REMEMBERED:
                self._buckets = {
                    name: bucket for name, bucket in self._buckets.items() if self._left(name) < self._a_minute
                }

    def _left(self, analyst: str) -> float:
        left, since = self._buckets.get(analyst, (self._a_minute, self.now()))
        return min(self._a_minute, left + (self.now() - since) * self._a_minute / 60)


class Visit:
    """One query at the door."""

    def __init__(self, hours: Hours, analyst: str, arrived: float) -> None:
        self._hours, self._analyst, self.arrived = hours, analyst, arrived
        self.taken = self._planned = self._waited = 0.0

    def leaving(self, seconds: float) -> Departure:
        """Choose the class of a query that will be read for about so long, and take its time from the analyst's; or refuse."""
        departure = self._hours.departure(self.arrived, seconds)
        if (
            not self.taken or departure.length > self.taken
        ):  # it may be asked twice: of this data version, and of an earlier one
            self._hours.take(self._analyst, departure.length - self.taken)
            self.taken = departure.length
        self._planned = self._hours.now()
        return departure

    def begin(self) -> None:
        """There is a place to read at: what was waited for it is others' time, and no less than the class is owed."""
        self._waited = self._hours.now() - self._planned

    def owed(self) -> float:
        """The seconds since the query arrived, but for those that others' places took."""
        seconds = self._hours.now() - self.arrived
        return max(seconds - self._waited, min(seconds, self.taken))
