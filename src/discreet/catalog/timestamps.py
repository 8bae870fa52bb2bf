"""Days and timestamps as whole numbers: days as `date.toordinal` counts them, timestamps as microseconds since 1970, without a zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  timestamps have no zone here
_MICROSECOND = timedelta(microseconds=1)


def microseconds_of(value: datetime) -> int:
    """The microseconds from 1970 to a timestamp."""
    return (value - _EPOCH) // _MICROSECOND


def timestamp_at(microseconds: int) -> datetime:
    """The timestamp that so many microseconds lie before."""
    return _EPOCH + timedelta(microseconds=microseconds)


_DAY = timedelta(days=1) // _MICROSECOND
FIRST_MOMENT = (date.min.toordinal() - _EPOCH.toordinal()) * _DAY
LAST_MOMENT = (date.max.toordinal() + 1 - _EPOCH.toordinal()) * _DAY - 1


def place_of(value: date) -> int:
    """A day or a timestamp as the whole number that bounds are in."""
    return microseconds_of(value) if isinstance(value, datetime) else value.toordinal()


def in_utc(value: datetime) -> datetime | None:
    """A timestamp as it is stored: with a zone in UTC, without one as it is; None outside of the calendar."""
    if value.tzinfo is None:
        return value
    try:
        return value.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        return None


def timestamp_text(value: datetime) -> str:
    """A timestamp as queries and answers write it: a fraction of a second without zeros at its end."""
    return value.isoformat(sep=" ").rstrip("0") if value.microsecond else value.isoformat(sep=" ")
