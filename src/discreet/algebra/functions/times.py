"""Timestamps without time zone: their dates, times of day, differences and shifts.

Date functions apply to their dates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from fractions import Fraction
from math import ceil, floor

from discreet.algebra.functions.intervals import overlap, summed
from discreet.algebra.functions.record_rules import (
    Domain,
    Rule,
    counted,
    day,
    is_nullable,
    listed_image,
    moment,
    ordinals,
)
from discreet.algebra.registry import Effort, Function, Nulls, Signature, register
from discreet.algebra.value_properties import MOST_VALUES, Bounds, ValueProperties
from discreet.catalog import Type
from discreet.catalog.timestamps import FIRST_MOMENT, LAST_MOMENT, microseconds_of, timestamp_at

_T, _D, _I = Type.TIMESTAMP, Type.DATE, Type.INTEGER
_SECOND = 10**6
_UNITS = {"hour": 3600 * _SECOND, "minute": 60 * _SECOND, "second": _SECOND}
"""In microseconds; each begins with the calendar, too."""
_FURTHEST = 10**12
"""In seconds: longer than the calendar."""


def _ends(properties: ValueProperties) -> tuple[datetime | None, datetime | None]:
    """Return the first and last possible timestamp, or None if unknown."""
    return (None if properties.low is None else timestamp_at(ceil(properties.low))), (
        None if properties.high is None else timestamp_at(floor(properties.high))
    )


# Days


def _day_of(value: datetime) -> date:
    return value.date()


def _midnight(value: date) -> datetime:
    return datetime.combine(value, time.min)


def _days(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    first, last = (None if end is None else end.date() for end in _ends(args[0]))
    return day(ordinals(first, last), nullable=is_nullable(args), values=listed_image(args, _day_of))


def _midnights(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    low, high = (
        None if end is None else Fraction(microseconds_of(_midnight(date.fromordinal(int(end)))))
        for end in args[0].bounds
    )
    return moment((low, high), nullable=is_nullable(args), values=listed_image(args, _midnight))


# Times of day


def _part(part: Callable[[datetime], int], last: int) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        bounds = (Fraction(0), Fraction(last))
        return counted(bounds, nullable=is_nullable(args), values=listed_image(args, part))

    return rule


def _beginning(unit: int) -> Callable[[datetime], datetime]:
    return lambda value: timestamp_at(microseconds_of(value) // unit * unit)


def _truncated(unit: int) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        low, high = (None if end is None else Fraction(floor(end) // unit * unit) for end in args[0].bounds)
        values = listed_image(args, _beginning(unit)) if args[0].values is not None else _beginnings(low, high, unit)
        return moment((low, high), nullable=is_nullable(args), values=values)

    return rule


def _beginnings(low: Fraction | None, high: Fraction | None, unit: int) -> Domain:
    """Return all starts of hours, minutes or seconds between two of them, if they are few."""
    if low is None or high is None or (high - low) / unit >= MOST_VALUES:
        return None
    return tuple(timestamp_at(at) for at in range(int(low), int(high) + 1, unit))


# Distances and shifts


def _distance(unit: int) -> Callable[[datetime, datetime], int]:
    return lambda a, b: microseconds_of(b) // unit - microseconds_of(a) // unit


def _between(unit: int) -> Rule:
    distance = _distance(unit)

    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        (a, d), (b, c) = map(_ends, args)
        low = None if d is None or b is None else Fraction(distance(d, b))
        high = None if a is None or c is None else Fraction(distance(a, c))
        return counted((low, high), nullable=is_nullable(args), values=listed_image(args, distance))

    return rule


def _shifted(value: datetime, seconds: int) -> datetime | None:
    at = microseconds_of(value) + seconds * _SECOND
    return timestamp_at(at) if abs(seconds) <= _FURTHEST and FIRST_MOMENT <= at <= LAST_MOMENT else None


def _added(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    shift: Bounds = overlap(args[1].bounds, (Fraction(-_FURTHEST), Fraction(_FURTHEST)))
    least, most = (None if end is None else end * _SECOND for end in shift)
    low, high = summed(args[0].bounds, (least, most))
    is_inside = low is not None and high is not None and low >= FIRST_MOMENT and high <= LAST_MOMENT
    is_sure = is_inside and shift == args[1].bounds
    return moment((low, high), nullable=is_nullable(args) or not is_sure, values=listed_image(args, _shifted))


# Records


def _record(
    name: str,
    spelled: tuple[str, ...],
    signature: Signature,
    *,
    properties: Rule,
    template: str,
    says: str,
    nulls: Nulls = Nulls.IF_ANY,
) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=spelled,
        signature=signature,
        nulls=nulls,
        properties=properties,
        accepts=None,
        effort=Effort(800),
        engines={"duckdb": template},
        says=says,
    )


def _part_record(unit: str, part: Callable[[datetime], int], last: int, says: str) -> Function:
    return _record(
        unit,
        (unit.upper(), "EXTRACT", "DATE_PART", "DATEPART"),
        Signature(says=f"{unit.upper()}(t)", takes=(_T,), gives=_I),
        properties=_part(part, last),
        template=f"CAST({unit}({{0}}) AS BIGINT)",
        says=says,
    )


def _trunc_record(unit: str) -> Function:
    return _record(
        f"trunc_{unit}",
        ("DATE_TRUNC",),
        Signature(says=f"DATE_TRUNC('{unit}', t)", takes=(_T,), gives=_T),
        properties=_truncated(_UNITS[unit]),
        template=f"date_trunc('{unit}', {{0}})",
        says=f"the start of the {unit}",
    )


def _between_record(unit: str) -> Function:
    """Divide integers after shifting them above 0, because `//` rounds towards 0."""
    first, second = (f"((epoch_us({{{at}}}) - CAST({FIRST_MOMENT} AS BIGINT)) // {_UNITS[unit]})" for at in (0, 1))
    return _record(
        f"{unit}s_between",
        ("DATE_DIFF", "DATEDIFF"),
        Signature(says=f"DATE_DIFF('{unit}', a, b)", takes=(_T, _T), gives=_I),
        properties=_between(_UNITS[unit]),
        template=f"({second} - {first})",
        says=f"number of {unit} boundaries from the first timestamp to the second",
    )


_MOVED = f"(epoch_us({{0}}) + (GREATEST(LEAST({{1}}, {_FURTHEST}), -{_FURTHEST}) * {_SECOND}))"
_ADDED_SQL = (
    f"(CASE WHEN (({{1}} BETWEEN -{_FURTHEST} AND {_FURTHEST}) AND ({_MOVED} BETWEEN {FIRST_MOMENT} AND {LAST_MOMENT})) "
    f"THEN make_timestamp({_MOVED}) END)"
)
RECORDS = (
    _record(
        "date_of_timestamp",
        ("CAST", "DATE_TRUNC"),
        Signature(says="CAST(t AS DATE)", takes=(_T,), gives=_D),
        properties=_days,
        template="CAST({0} AS DATE)",
        says="the date of a timestamp; date functions of a timestamp use it",
    ),
    _record(
        "timestamp_of_date",
        ("CAST",),
        Signature(says="CAST(d AS TIMESTAMP)", takes=(_D,), gives=_T),
        properties=_midnights,
        template="CAST({0} AS TIMESTAMP)",
        says="the start of the day",
    ),
    _part_record("hour", lambda t: t.hour, 23, "the hour of the day, 0 to 23"),
    _part_record("minute", lambda t: t.minute, 59, "the minute of the hour, 0 to 59"),
    _part_record("second", lambda t: t.second, 59, "the full second of the minute, 0 to 59"),
    *map(_trunc_record, _UNITS),
    *map(_between_record, _UNITS),
    _record(
        "add_seconds",
        ("+", "-", "DATE_ADD", "DATE_SUB"),
        Signature(says="t + INTERVAL (n) SECOND", takes=(_T, _I), gives=_T),
        properties=_added,
        template=_ADDED_SQL,
        says="the timestamp n seconds later (also minutes, hours, days, weeks); NULL outside of the years 1 to 9999",
        nulls=Nulls.RULE,
    ),
)
register(*RECORDS)
