"""The time of entries: it does not go back by itself, and a clock that was wrong once does not stop the books.

Entries are ordered by their number. Their times follow the clock, and stay where they are while it is a little behind.
A clock that is far behind the last entry was ahead before: that is written down, and times go on from what it says now.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from discreet.ledger.chain.entries import Entry

KIND = "clock"
_SKEW = timedelta(minutes=5)
_BETWEEN_REMARKS = timedelta(hours=1)
"""Two machines whose clocks disagree would otherwise remark on each other with every entry."""


def utc_now() -> datetime:
    """The clock of this machine."""
    return datetime.now(UTC)


def earliest_after(entry: Entry) -> str:
    """The time that the next entry has at least."""
    return str(entry.body["now"]) if entry.kind == KIND else entry.time


def time_after(last: Entry | None, now: datetime) -> str:
    """The time of the entry that follows."""
    return now.isoformat() if last is None else max(now.isoformat(), earliest_after(last))


def day_of(time: str) -> date:
    """The day of an entry, in UTC."""
    return date.fromisoformat(time[:10])


class Clock:
    """Times for entries, from a clock that may be wrong."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.now = now
        self._remarked: datetime | None = None

    def remark(self, last: Entry | None, now: datetime) -> dict[str, str] | None:
        """What is to be written down before the next entry, if the clock is far behind the last one."""
        if last is None or now >= datetime.fromisoformat(earliest_after(last)) - _SKEW:
            return None
        if self._remarked is not None and abs(now - self._remarked) < _BETWEEN_REMARKS:
            return None
        self._remarked = now
        return {"now": now.isoformat()}
