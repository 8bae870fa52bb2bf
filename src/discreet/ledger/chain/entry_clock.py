"""Times of entries: they do not go back, and a clock that was wrong once does not stop the ledger.

Entries are ordered by number. Their times follow the clock, and stay the same while it is a little behind the last
entry. A clock that is far behind the last entry was ahead before: an entry records this, and times continue from the
present clock.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from discreet.ledger.chain.entries import Entry

KIND = "clock"
_SKEW = timedelta(minutes=5)
_BETWEEN_REMARKS = timedelta(hours=1)
"""Otherwise two machines whose clocks disagree would add a clock entry before every entry."""


def utc_now() -> datetime:
    """Return the time of this machine."""
    return datetime.now(UTC)


def earliest_after(entry: Entry) -> str:
    """Return the earliest time of the next entry."""
    return str(entry.body["now"]) if entry.kind == KIND else entry.time


def time_after(last: Entry | None, now: datetime) -> str:
    """Return the time of the next entry."""
    return now.isoformat() if last is None else max(now.isoformat(), earliest_after(last))


def day_of(time: str) -> date:
    """Return the day of an entry, in UTC."""
    return date.fromisoformat(time[:10])


class Clock:
    """Source of entry times, based on a clock that may be wrong."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.now = now
        self._remarked: datetime | None = None

    def remark(self, last: Entry | None, now: datetime) -> dict[str, str] | None:
        """Return the body of a clock entry if the clock is far behind the last entry."""
        if last is None or now >= datetime.fromisoformat(earliest_after(last)) - _SKEW:
            return None
        if self._remarked is not None and abs(now - self._remarked) < _BETWEEN_REMARKS:
            return None
        self._remarked = now
        return {"now": now.isoformat()}
