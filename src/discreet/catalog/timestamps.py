"""Dates and timestamps as integers: `date.toordinal`, and microseconds since 1970 without time zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  timestamps have no zone here
_MICROSECOND = timedelta(microseconds=1)


def microseconds_of(value: datetime) -> int:
    """Return the microseconds from 1970 to a timestamp."""
    return (value - _EPOCH) // _MICROSECOND


def timestamp_at(microseconds: int) -> datetime:
    """Return the timestamp at a number of microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)


_DAY = timedelta(days=1) // _MICROSECOND
FIRST_MOMENT = (date.min.toordinal() - _EPOCH.toordinal()) * _DAY
LAST_MOMENT = (date.max.toordinal() + 1 - _EPOCH.toordinal()) * _DAY - 1


def ordinal_of(value: date) -> int:
    """Return a date or timestamp as the integer in which bounds are expressed."""
    return microseconds_of(value) if isinstance(value, datetime) else value.toordinal()


def in_utc(value: datetime) -> datetime | None:
    """Convert a timestamp to UTC without time zone; None outside of the calendar.

    Without a time zone, it stays as it is.
    """
    if value.tzinfo is None:
        return value
    try:
        return value.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        return None


def timestamp_text(value: datetime) -> str:
    """Format a timestamp as in queries and answers, without trailing zeros of the fraction."""
    return value.isoformat(sep=" ").rstrip("0") if value.microsecond else value.isoformat(sep=" ")
