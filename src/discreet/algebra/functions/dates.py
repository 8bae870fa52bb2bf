"""Dates: their parts, and the first days of periods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from fractions import Fraction

from discreet.algebra.functions.casts import YEAR
from discreet.algebra.functions.intervals import overlap
from discreet.algebra.functions.record_rules import (
    Domain,
    Rule,
    as_given,
    counted,
    day,
    ends_of,
    first_day,
    image,
    is_nullable,
    last_day,
    listed_image,
    ordinals,
)
from discreet.algebra.functions.spans import quarter, shifted_days, shifted_months
from discreet.algebra.registry import Effort, Function, Nulls, Signature, register
from discreet.algebra.value_properties import MOST_VALUES, Bounds, ValueProperties
from discreet.catalog import Type

_D, _I = Type.DATE, Type.INTEGER

# Parts


def _part(
    part: Callable[[date], int],
    ends: tuple[int, int] | None,
    *,
    is_rising: bool = False,
    is_rising_in_year: bool = False,
) -> Rule:
    """Return bounds that hold for every date, or that follow from the dates if the part never falls (within a year)."""

    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        first, last = first_day(args[0]), last_day(args[0])
        is_known = is_rising or (
            is_rising_in_year and first is not None and last is not None and first.year == last.year
        )
        bounds: Bounds = (None, None) if ends is None else (Fraction(ends[0]), Fraction(ends[1]))
        if is_known:
            low, high = (None if end is None else Fraction(part(end)) for end in (first, last))
            bounds = overlap(bounds, (low, high))
        return counted(bounds, nullable=is_nullable(args), values=listed_image(args, part))

    return rule


# First days


def _week(value: date) -> date:
    return value - timedelta(value.weekday())


def _month(months: int) -> Callable[[date], date]:
    """Return the first day of the year, quarter or month."""
    return lambda value: date(value.year, (value.month - 1) // months * months + 1, 1)


def _truncated(first_of: Callable[[date], date], following: Callable[[date], date | None]) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        first, last = first_day(args[0]), last_day(args[0])
        bounds = ordinals(None if first is None else first_of(first), None if last is None else first_of(last))
        values = listed_image(args, first_of) if args[0].values is not None else _firsts(bounds, following)
        return day(bounds, nullable=is_nullable(args), values=values)

    return rule


def _firsts(bounds: Bounds, following: Callable[[date], date | None]) -> Domain:
    """Return all first days between two of them."""
    if bounds[0] is None or bounds[1] is None:
        return None
    values: list[date] = []
    at: date | None = date.fromordinal(int(bounds[0]))
    while at is not None and at.toordinal() <= bounds[1]:
        values.append(at)
        if len(values) > MOST_VALUES:
            return None
        at = following(at)
    return tuple(values)


def _next_week(value: date) -> date | None:
    return shifted_days(value, 7)


def _next(months: int) -> Callable[[date], date | None]:
    return lambda value: shifted_months(value, months)


# From parts


def _made(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    """Return the possible dates: bounded by the years, or all dates if the parts have few values."""
    values = image(args, _date)
    low, high = overlap(args[0].bounds, (Fraction(1), Fraction(9999)))
    is_known = (
        args[0].low is not None and args[0].high is not None and low is not None and high is not None and low <= high
    )
    if values is not None or not is_known or low is None or high is None:
        return day(ends_of(values), nullable=True, values=values)
    return day(ordinals(date(int(low), 1, 1), date(int(high), 12, 31)), nullable=True)


def _date(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except (ValueError, OverflowError):
        return None


# Records


def _part_record(name: str, spelled: tuple[str, ...], properties: Rule, says: str) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=(*spelled, "EXTRACT", "DATE_PART", "DATEPART"),
        signature=Signature(says=f"{spelled[0]}(d)", takes=(_D,), gives=_I),
        nulls=Nulls.IF_ANY,
        properties=properties,
        accepts=None,
        effort=Effort(300),
        engines={"duckdb": f"CAST({name}({{0}}) AS BIGINT)"},
        says=says,
    )


def _trunc_record(unit: str, properties: Rule, says: str) -> Function:
    return Function(
        name=f"trunc_{unit}",
        version=1,
        spelled=("DATE_TRUNC",),
        signature=Signature(says=f"DATE_TRUNC('{unit}', d)", takes=(_D,), gives=_D),
        nulls=Nulls.IF_ANY,
        properties=properties,
        accepts=None,
        effort=Effort(400),
        engines={"duckdb": "({0})" if unit == "day" else f"CAST(date_trunc('{unit}', {{0}}) AS DATE)"},
        says=says,
    )


RECORDS = (
    _part_record("year", ("YEAR",), _part(lambda d: d.year, None, is_rising=True), "the year"),
    _part_record("quarter", ("QUARTER",), _part(quarter, (1, 4), is_rising_in_year=True), "the quarter, 1 to 4"),
    _part_record("month", ("MONTH",), _part(lambda d: d.month, (1, 12), is_rising_in_year=True), "the month, 1 to 12"),
    _part_record(
        "week", ("WEEK", "WEEKOFYEAR"), _part(lambda d: d.isocalendar().week, (1, 53)), "the ISO 8601 week, 1 to 53"
    ),
    _part_record("day", ("DAY", "DAYOFMONTH"), _part(lambda d: d.day, (1, 31)), "the day of the month"),
    _part_record(
        "dayofweek",
        ("DAYOFWEEK", "WEEKDAY"),
        _part(lambda d: d.isoweekday() % 7, (0, 6)),
        "the day of the week; Sunday is 0",
    ),
    _part_record(
        "isodow", ("ISODOW",), _part(lambda d: d.isoweekday(), (1, 7)), "the day of the week; Monday is 1, Sunday is 7"
    ),
    _part_record(
        "dayofyear",
        ("DAYOFYEAR",),
        _part(lambda d: d.timetuple().tm_yday, (1, 366), is_rising_in_year=True),
        "the day of the year",
    ),
    _part_record(
        "decade",
        ("DECADE",),
        _part(lambda d: d.year // 10, None, is_rising=True),
        "the year divided by ten, rounded down",
    ),
    _part_record(
        "isoyear",
        ("ISOYEAR",),
        _part(lambda d: d.isocalendar().year, None, is_rising=True),
        "the year of the ISO week",
    ),
    _trunc_record("year", _truncated(_month(12), _next(12)), "the first day of the year"),
    _trunc_record("quarter", _truncated(_month(3), _next(3)), "the first day of the quarter"),
    _trunc_record("month", _truncated(_month(1), _next(1)), "the first day of the month"),
    _trunc_record("week", _truncated(_week, _next_week), "the Monday of the week"),
    _trunc_record("day", as_given, "the date itself"),
    Function(
        name="date",
        version=1,
        spelled=("MAKE_DATE",),
        signature=Signature(says="MAKE_DATE(year, month, day)", takes=(_I, _I, _I), gives=_D),
        nulls=Nulls.MAYBE,
        properties=_made,
        accepts=None,
        effort=Effort(4000),
        engines={
            "duckdb": (
                f"TRY_CAST(regexp_extract(printf('%04d-%02d-%02d', {{0}}, {{1}}, {{2}}), '^{YEAR}-[0-9][0-9]-[0-9][0-9]$', 0) AS DATE)"
            )
        },
        says="the date of a year, month and day; NULL if it does not exist",
    ),
)
register(*RECORDS)
