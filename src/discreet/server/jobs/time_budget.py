"""Limit the seconds of query time per minute of each analyst, and choose the latency bucket of each answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.concurrency.token_bucket import TokenBuckets
from discreet.errors import TooLarge, TooMany
from discreet.pipeline.time_padding import NO_PADDING, ReturnSchedule, bucket_for
from discreet.planning.effort import CHARGE


class TimeBudget:
    """`seconds_per_minute` for each analyst, refilled evenly.

    Latency buckets are whole doublings of `unit` seconds, the longest within `longest`. With a unit of 0 answers are returned as soon as they are
    ready, and the caller learns how long the data was read. What is taken from an analyst's budget is the time until an answer is
    returned, never how long the data was read.
    """

    def __init__(
        self, *, unit: float, longest: float, seconds_per_minute: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._unit, self._longest, self.now = unit, longest, now
        self._seconds = TokenBuckets(capacity=seconds_per_minute, rate=seconds_per_minute / 60, now=now)

    @contextmanager
    def visit(self, analyst: str) -> Iterator[Visit]:
        """Account for one query, from its arrival until its answer or refusal is returned."""
        self.take(analyst, 0.0)
        visit = Visit(self, analyst, self.now())
        try:
            yield visit
        finally:
            self._seconds.take(analyst, visit.owed() - visit.taken)

    def schedule(self, arrived: float, seconds: float) -> ReturnSchedule:
        """Return the schedule of an answer that is expected to take `seconds`, or refuse if one query may not take as long.

        The refusal keeps slots free: an engine may be slow to notice that its time is up.
        """
        if self._unit <= 0:
            return NO_PADDING
        if seconds > self._longest:
            raise TooLarge(
                f"The query is expected to take {seconds:,.0f} seconds; the limit is {self._longest:g}.",
                next_step="Join fewer rows, use fewer or shorter text columns, or ask the owner to raise `[engine] seconds`.",
            )
        length = bucket_for(self.now() - arrived + seconds, shortest=self._unit, longest=max(self._unit, self._longest))
        return ReturnSchedule(arrived, length, max(seconds - CHARGE, self._unit / 4), self.now)

    def take(self, analyst: str, seconds: float) -> None:
        """Take seconds from an analyst's budget, or refuse."""
        if not self._seconds.try_take(analyst, seconds):
            missing = min(seconds, self._seconds.capacity) - self._seconds.remaining(analyst)
            raise TooMany(
                f"Your queries take more than {self._seconds.capacity:g} seconds of a minute.",
                next_step=f"Wait {math.ceil(missing / self._seconds.rate) + 1} seconds, or send queries that take less time.",
            )


class Visit:
    """One query of an analyst, while it is in the server."""

    def __init__(self, budget: TimeBudget, analyst: str, arrived: float) -> None:
        self._budget, self._analyst, self.arrived = budget, analyst, arrived
        self.taken = self._planned = self._waited = 0.0

    def schedule_return(self, seconds: float) -> ReturnSchedule:
        """Choose the latency bucket of a query that will be read for about `seconds`, and take its time; or refuse."""
        schedule = self._budget.schedule(self.arrived, seconds)
        # It may run twice: on the current data version, and on an earlier one.
        if not self.taken or schedule.bucket > self.taken:
            self._budget.take(self._analyst, schedule.bucket - self.taken)
            self.taken = schedule.bucket
        self._planned = self._budget.now()
        return schedule

    def begin(self) -> None:
        """The query has got its read slot. The time it waited for the slot is not charged, but never less than the bucket is."""
        self._waited = self._budget.now() - self._planned

    def owed(self) -> float:
        """Return the seconds since the query arrived, without those in which it waited for a slot."""
        seconds = self._budget.now() - self.arrived
        return max(seconds - self._waited, min(seconds, self.taken))
