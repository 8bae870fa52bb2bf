"""Meanings of functions of dates and timestamps: years 1 to 9999 of the Gregorian calendar."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, timedelta

from tests.reference.number_functions import strict

_FURTHEST = 10**6
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def part(of):
    return strict(of)


def _quarter(day):
    return (day.month - 1) // 3 + 1


@strict
def trunc_week(day):
    return day - timedelta(day.weekday())


@strict
def add_days(day, count):
    ordinal = day.toordinal() + count
    if abs(count) > _FURTHEST or not 1 <= ordinal <= date.max.toordinal():
        return None
    return date.fromordinal(ordinal)


@strict
def add_months(day, count):
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    if abs(count) > _FURTHEST or not 1 <= year <= 9999:
        return None
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


@strict
def days_between(a, b):
    return b.toordinal() - a.toordinal()


@strict
def weeks_between(a, b):
    days = b.toordinal() - a.toordinal()
    return days // 7 if days >= 0 else -(-days // 7)


@strict
def months_between(a, b):
    return (b.year - a.year) * 12 + b.month - a.month


@strict
def quarters_between(a, b):
    return (b.year - a.year) * 4 + _quarter(b) - _quarter(a)


@strict
def years_between(a, b):
    return b.year - a.year


@strict
def age_years(a, b):
    """Full years from the first day to the second; negative where the second is earlier."""
    if b < a:
        return -age_years(b, a)
    return b.year - a.year - ((b.month, b.day) < (a.month, a.day))


_DIRECTIVES = {
    "Y": lambda day: f"{day.year:04d}",
    "y": lambda day: f"{day.year % 100:02d}",
    "m": lambda day: f"{day.month:02d}",
    "d": lambda day: f"{day.day:02d}",
    "j": lambda day: f"{day.timetuple().tm_yday:03d}",
    "B": lambda day: _MONTHS[day.month - 1],
    "b": lambda day: _MONTHS[day.month - 1][:3],
    "A": lambda day: _DAYS[day.weekday()],
    "a": lambda day: _DAYS[day.weekday()][:3],
    "u": lambda day: str(day.isoweekday()),
    "H": lambda day: f"{day.hour:02d}" if isinstance(day, datetime) else "00",
    "M": lambda day: f"{day.minute:02d}" if isinstance(day, datetime) else "00",
    "S": lambda day: f"{day.second:02d}" if isinstance(day, datetime) else "00",
    "%": lambda _: "%",
}


@strict
def format_date(day, pattern):
    signs = iter(pattern)
    return "".join(_DIRECTIVES[next(signs)](day) if sign == "%" else sign for sign in signs)


@strict
def make_date(year, month, day):
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def microseconds(moment):
    """Since 1970."""
    return (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def _beginning(**parts):
    return strict(lambda moment: moment.replace(**parts, microsecond=0))


def _beginnings_between(seconds):
    return strict(lambda a, b: microseconds(b) // (seconds * 10**6) - microseconds(a) // (seconds * 10**6))


@strict
def add_seconds(moment, count):
    if abs(count) > 10**12:
        return None
    try:
        return moment + timedelta(seconds=count)
    except OverflowError:
        return None


MEANINGS = {
    "year": part(lambda day: day.year),
    "quarter": part(_quarter),
    "month": part(lambda day: day.month),
    "week": part(lambda day: day.isocalendar().week),
    "day": part(lambda day: day.day),
    "dayofweek": part(lambda day: day.isoweekday() % 7),
    "isodow": part(lambda day: day.isoweekday()),
    "dayofyear": part(lambda day: day.timetuple().tm_yday),
    "decade": part(lambda day: day.year // 10),
    "isoyear": part(lambda day: day.isocalendar().year),
    "trunc_year": part(lambda day: day.replace(month=1, day=1)),
    "trunc_quarter": part(lambda day: day.replace(month=3 * _quarter(day) - 2, day=1)),
    "trunc_month": part(lambda day: day.replace(day=1)),
    "trunc_week": trunc_week,
    "trunc_day": part(lambda day: day),
    "add_days": add_days, "add_months": add_months, "days_between": days_between, "weeks_between": weeks_between,
    "months_between": months_between, "quarters_between": quarters_between, "years_between": years_between,
    "age_years": age_years, "format_date": format_date, "format_timestamp": format_date, "date": make_date,
    "date_of_timestamp": strict(lambda moment: moment.date()),
    "timestamp_of_date": strict(lambda day: datetime(day.year, day.month, day.day)),
    "hour": part(lambda moment: moment.hour), "minute": part(lambda moment: moment.minute), "second": part(lambda moment: moment.second),
    "trunc_hour": _beginning(minute=0, second=0), "trunc_minute": _beginning(second=0), "trunc_second": _beginning(),
    "hours_between": _beginnings_between(3600), "minutes_between": _beginnings_between(60), "seconds_between": _beginnings_between(1),
    "add_seconds": add_seconds,
}  # fmt: skip
