"""Differences between dates, and dates shifted by intervals."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction

from discreet.algebra.functions.intervals import overlap, summed
from discreet.algebra.functions.record_rules import (
    FIRST_DAY,
    LAST_DAY,
    Rule,
    counted,
    day,
    first_day,
    is_nullable,
    last_day,
    listed_image,
    ordinals,
)
from discreet.algebra.registry import Effort, Function, Nulls, Signature, register
from discreet.algebra.value_properties import Bounds, ValueProperties
from discreet.catalog import Type

_D, _I = Type.DATE, Type.INTEGER
_FURTHEST = 1_000_000
_FIRST_MONTH, _LAST_MONTH = 13, 120_000
"""Months of the calendar, as 12 · year + month."""

# Shifts


def shifted_days(value: date, days: int) -> date | None:
    """Shift a date by days; None outside of the years 1 to 9999."""
    at = value.toordinal() + days
    return date.fromordinal(at) if abs(days) <= _FURTHEST and FIRST_DAY <= at <= LAST_DAY else None


def shifted_months(value: date, months: int) -> date | None:
    """Shift a date by months, to at most the last day of the month; None outside of the years 1 to 9999."""
    at = value.year * 12 + value.month + months
    if abs(months) > _FURTHEST or not _FIRST_MONTH <= at <= _LAST_MONTH:
        return None
    year, month = (at - 1) // 12, (at - 1) % 12 + 1
    return date(year, month, min(value.day, monthrange(year, month)[1]))


def _shift(args: Sequence[ValueProperties]) -> Bounds:
    """Return the bounds of shifts that are not NULL."""
    return overlap(args[1].bounds, (Fraction(-_FURTHEST), Fraction(_FURTHEST)))


def _days_added(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    low, high = summed(args[0].bounds, args[1].bounds)
    is_sure = (
        low is not None
        and high is not None
        and low >= FIRST_DAY
        and high <= LAST_DAY
        and _shift(args) == args[1].bounds
    )
    bounds = summed(args[0].bounds, _shift(args))
    return day(bounds, nullable=is_nullable(args) or not is_sure, values=listed_image(args, shifted_days))


def _months_added(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    """Return the shifted bounds, within the calendar."""
    first, last = first_day(args[0]), last_day(args[0])
    least, most = _shift(args)
    low = None if first is None or least is None else shifted_months(first, int(least))
    high = None if last is None or most is None else shifted_months(last, int(most))
    is_sure = low is not None and high is not None and _shift(args) == args[1].bounds
    return day(
        ordinals(low, high), nullable=is_nullable(args) or not is_sure, values=listed_image(args, shifted_months)
    )


def quarter(value: date) -> int:
    """Return the quarter of a date."""
    return (value.month + 2) // 3


# Differences: increasing in the second date, decreasing in the first


def _between(distance: Callable[[date, date], int]) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        (a, d), (b, c) = ((first_day(arg), last_day(arg)) for arg in args)
        low = None if d is None or b is None else Fraction(distance(d, b))
        high = None if a is None or c is None else Fraction(distance(a, c))
        return counted((low, high), nullable=is_nullable(args), values=listed_image(args, distance))

    return rule


def _days(a: date, b: date) -> int:
    return (b - a).days


def _weeks(a: date, b: date) -> int:
    days = _days(a, b)
    return days // 7 if days >= 0 else -(-days // 7)


def _months(a: date, b: date) -> int:
    return (b.year - a.year) * 12 + b.month - a.month


def _quarters(a: date, b: date) -> int:
    return (b.year - a.year) * 4 + quarter(b) - quarter(a)


def _years(a: date, b: date) -> int:
    return b.year - a.year


def age(a: date, b: date) -> int:
    """Return full years between two dates. A person born on 29 February turns a year older on 1 March."""
    if b < a:
        return -age(b, a)
    return b.year - a.year - ((b.month, b.day) < (a.month, a.day))


# Records


def _between_record(unit: str, distance: Callable[[date, date], int], template: str, says: str) -> Function:
    return Function(
        name=f"{unit}s_between",
        version=1,
        spelled=("DATE_DIFF", "DATEDIFF"),
        signature=Signature(says=f"DATE_DIFF('{unit}', a, b)", takes=(_D, _D), gives=_I),
        nulls=Nulls.IF_ANY,
        properties=_between(distance),
        accepts=None,
        effort=Effort(800),
        engines={"duckdb": template},
        says=says,
    )


def _shift_record(unit: str, properties: Rule, template: str, says: str) -> Function:
    return Function(
        name=f"add_{unit}s",
        version=1,
        spelled=("+", "-", "DATE_ADD", "DATE_SUB"),
        signature=Signature(says=f"d + INTERVAL (n) {unit.upper()}", takes=(_D, _I), gives=_D),
        nulls=Nulls.RULE,
        properties=properties,
        accepts=None,
        effort=Effort(800),
        engines={"duckdb": template},
        says=f"{says}; NULL outside of the years 1 to 9999 and for shifts of more than a million",
    )


_CLAMPED = f"GREATEST(LEAST({{1}}, {_FURTHEST}), -{_FURTHEST})"
_DAYS_SQL = (
    f"(CASE WHEN ({{1}} BETWEEN GREATEST((DATE '0001-01-01' - {{0}}), -{_FURTHEST}) AND LEAST((DATE '9999-12-31' - {{0}}), {_FURTHEST})) "
    f"THEN ({{0}} + CAST({_CLAMPED} AS INTEGER)) END)"
)
_MONTHS_SQL = (
    f"(CASE WHEN (({{1}} BETWEEN -{_FURTHEST} AND {_FURTHEST}) AND "
    f"((((year({{0}}) * 12) + month({{0}})) + {_CLAMPED}) BETWEEN {_FIRST_MONTH} AND {_LAST_MONTH})) "
    f"THEN CAST(({{0}} + to_months(CAST({_CLAMPED} AS INTEGER))) AS DATE) END)"
)
_BIRTHDAY = "((month({0}) * 100) + day({0}))", "((month({1}) * 100) + day({1}))"
_AGE_SQL = (
    f"(CASE WHEN ({{1}} >= {{0}}) THEN ((year({{1}}) - year({{0}})) - CAST(({_BIRTHDAY[1]} < {_BIRTHDAY[0]}) AS BIGINT)) "
    f"ELSE ((year({{1}}) - year({{0}})) + CAST(({_BIRTHDAY[0]} < {_BIRTHDAY[1]}) AS BIGINT)) END)"
)
RECORDS = (
    _shift_record("day", _days_added, _DAYS_SQL, "the date n days later"),
    _shift_record("month", _months_added, _MONTHS_SQL, "the date n months later, at most the last day of that month"),
    _between_record("day", _days, "({1} - {0})", "number of days from the first date to the second"),
    _between_record("week", _weeks, "(({1} - {0}) // 7)", "number of full weeks from the first date to the second"),
    _between_record(
        "month", _months, "date_diff('month', {0}, {1})", "number of month boundaries from the first date to the second"
    ),
    _between_record(
        "quarter",
        _quarters,
        "date_diff('quarter', {0}, {1})",
        "number of quarter boundaries from the first date to the second",
    ),
    _between_record(
        "year", _years, "date_diff('year', {0}, {1})", "number of year boundaries from the first date to the second"
    ),
    Function(
        name="age_years",
        version=1,
        spelled=("DATE_SUB", "DATESUB"),
        signature=Signature(says="DATE_SUB('year', a, b)", takes=(_D, _D), gives=_I),
        nulls=Nulls.IF_ANY,
        properties=_between(age),
        accepts=None,
        effort=Effort(800),
        engines={"duckdb": _AGE_SQL},
        says="number of full years from the first date to the second, as for an age",
    ),
)
register(*RECORDS)
