"""Pad response times, so that the duration of a query does not reveal anything about the data.

A query gets a latency bucket before any protected row is read. Its answer is returned at the end of that bucket or, if the work took
longer, at the end of the next doubling of it. Bucket and doublings depend on public values only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

SHORTEST_BUCKET = 0.05
"""Seconds. Every other bucket is twice as long as the one before."""


def bucket_for(expected_seconds: float, *, shortest: float, longest: float) -> float:
    """Return the shortest bucket that fits the expected duration, or the longest bucket allowed."""
    bucket = shortest
    while bucket < expected_seconds and 2 * bucket <= longest:
        bucket *= 2
    return bucket


@dataclass(frozen=True, slots=True)
class ReturnSchedule:
    """When one answer may be returned, and how long its read slot is held.

    A slot is held for `expected_reading` seconds, not until the reading ends: otherwise the next query in the queue could measure how long
    this one really took.
    """

    arrived: float
    bucket: float
    expected_reading: float
    now: Callable[[], float]

    def slot_release_time(self, acquired: float) -> float:
        """Return when a slot that was acquired at `acquired` becomes free again."""
        now = self.now()
        if now <= acquired + self.expected_reading:
            return acquired + self.expected_reading
        end_of_bucket = self.arrived + self.bucket
        if now <= end_of_bucket:
            return end_of_bucket
        # Overrun: count doublings from when the slot was acquired, so that waiting for the slot does not lengthen its use.
        return _next_doubling(acquired, self.bucket, now)

    def return_time(self, finished: float) -> float:
        """Return the first allowed time at or after `finished`."""
        return _next_doubling(self.arrived, self.bucket, finished)


def _next_doubling(start: float, length: float, at_least: float) -> float:
    """Return the first of start + length, start + 2 * length, start + 4 * length, … that is not before `at_least`."""
    while length and start + length < at_least:
        length *= 2
    return start + length


NO_PADDING = ReturnSchedule(arrived=0.0, bucket=0.0, expected_reading=0.0, now=lambda: 0.0)
"""For callers who hold the data themselves and may know how long a query takes."""
