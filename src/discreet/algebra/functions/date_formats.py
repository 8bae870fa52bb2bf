"""Format dates and timestamps as text, with directives that mean the same on every engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time

from discreet.algebra.expressions import Expression
from discreet.algebra.functions.record_rules import constant_of, image, text, text_constant
from discreet.algebra.registry import Effort, Function, Nulls, Signature, register
from discreet.algebra.value_properties import ValueProperties
from discreet.catalog import Type

_MONTHS = (
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
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _time(value: date) -> time:
    """Return a timestamp; a date becomes its midnight."""
    return value.time() if isinstance(value, datetime) else time.min


_DIRECTIVES: dict[str, tuple[int, Callable[[date], str]]] = {
    "%Y": (4, lambda d: f"{d.year:04}"),
    "%y": (2, lambda d: f"{d.year % 100:02}"),
    "%m": (2, lambda d: f"{d.month:02}"),
    "%d": (2, lambda d: f"{d.day:02}"),
    "%j": (3, lambda d: f"{d.timetuple().tm_yday:03}"),
    "%B": (9, lambda d: _MONTHS[d.month - 1]),
    "%b": (3, lambda d: _MONTHS[d.month - 1][:3]),
    "%A": (9, lambda d: _DAYS[d.weekday()]),
    "%a": (3, lambda d: _DAYS[d.weekday()][:3]),
    "%u": (1, lambda d: str(d.isoweekday())),
    "%H": (2, lambda d: f"{_time(d).hour:02}"),
    "%M": (2, lambda d: f"{_time(d).minute:02}"),
    "%S": (2, lambda d: f"{_time(d).second:02}"),
    "%%": (1, lambda _: "%"),
}
"""Maximum length and value of each directive."""
_PARTS = re.compile("%.|[^%]+|%$", re.DOTALL)


def formatted(value: date, pattern: str) -> str:
    """Format a date or a timestamp."""
    return "".join(_DIRECTIVES[part][1](value) if part in _DIRECTIVES else part for part in _PARTS.findall(pattern))


def _formatted(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    parts = _PARTS.findall(str(constant_of(args[1])))
    longest = sum(_DIRECTIVES[part][0] if part in _DIRECTIVES else len(part) for part in parts)
    return text(longest, nullable=args[0].nullable, values=image(args, formatted))


def _accepts_format(args: Sequence[Expression]) -> str | None:
    pattern = text_constant(args[1])
    if not pattern or any(part[0] == "%" and part not in _DIRECTIVES for part in _PARTS.findall(pattern)):
        return f"The format of STRFTIME must be a quoted text of {' '.join(_DIRECTIVES)} and other characters."
    return None


def _record(name: str, kind: Type, usage: str, says: str) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=("STRFTIME", "TO_CHAR", "DATE_FORMAT"),
        signature=Signature(says=usage, takes=(kind, Type.TEXT), gives=Type.TEXT),
        nulls=Nulls.IF_ANY,
        properties=_formatted,
        accepts=_accepts_format,
        effort=Effort(800, 4),
        engines={"duckdb": "strftime({0}, {1})"},
        says=f"{says}: {' '.join(_DIRECTIVES)}, names in English",
    )


RECORDS = (
    _record("format_date", Type.DATE, "STRFTIME(d, '%Y-%m')", "a date as text"),
    _record("format_timestamp", Type.TIMESTAMP, "STRFTIME(t, '%H:%M')", "a timestamp as text"),
)
register(*RECORDS)
