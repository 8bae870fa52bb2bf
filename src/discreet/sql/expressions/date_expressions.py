"""Dates and timestamps: parts, differences, intervals, formats, and CURRENT_DATE."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from sqlglot import exp

from discreet.algebra.expressions import Expression, Literal, call
from discreet.algebra.registry import spelled
from discreet.catalog import Type
from discreet.errors import NotAllowed
from discreet.sql.expressions.type_matching import apply, as_type, cast, type_mismatch, unsupported
from discreet.sql.reader.reader_model import Environment

Rule: TypeAlias = Callable[[Any, Environment], Expression]
_PARTS = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "WEEK": "week", "WEEKOFYEAR": "week", "DAY": "day", "DAYOFMONTH": "day",
    "DOW": "dayofweek", "DAYOFWEEK": "dayofweek", "WEEKDAY": "dayofweek", "ISODOW": "isodow", "DOY": "dayofyear",
    "DAYOFYEAR": "dayofyear", "DECADE": "decade", "ISOYEAR": "isoyear",
}  # fmt: skip
_TIMES = {"HOUR": 3600, "MINUTE": 60, "SECOND": 1}
"""Units of the time of day, in seconds."""
_TRUNCATIONS = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY"}
_STEPS = {
    "DAY": ("add_days", 1),
    "WEEK": ("add_days", 7),
    "MONTH": ("add_months", 1),
    "QUARTER": ("add_months", 3),
    "YEAR": ("add_months", 12),
}
_LATER = {**_TIMES, "DAY": 86_400, "WEEK": 604_800}
"""Units of intervals for timestamps, in seconds."""
_AMOUNT = re.compile(r"-?\d{1,5}", re.ASCII)
_FORMATS = {
    "YYYY": "%Y",
    "YY": "%y",
    "MM": "%m",
    "DDD": "%j",
    "DD": "%d",
    "Month": "%B",
    "Mon": "%b",
    "Day": "%A",
    "Dy": "%a",
}
_TO_CHAR_FORMAT = re.compile("|".join(sorted(_FORMATS, key=len, reverse=True)) + r"|[^A-Za-z%\"]", re.ASCII)


def _day(node: exp.Expr, env: Environment) -> Expression:
    """Read a date, or the day of a timestamp."""
    value = env.read(node)
    return call("date_of_timestamp", value) if value.properties.type is Type.TIMESTAMP else as_type(value, Type.DATE)


def _timestamp(node: exp.Expr, env: Environment) -> Expression:
    """Read a timestamp. Dates are refused, because they have no hour."""
    value = env.read(node)
    if value.properties.type is Type.DATE:
        raise NotAllowed(
            "A DATE has no time of day.", next_step="Use year, quarter, month, week or day, or a TIMESTAMP column."
        )
    return as_type(value, Type.TIMESTAMP)


def _part(unit: str, node: exp.Expr, env: Environment) -> Expression:
    """Read one part of a date, or the whole years of AGE(a, b)."""
    inner = node.unnest()
    if isinstance(inner, exp.Anonymous) and inner.name.upper() == "AGE" and unit == "YEAR":
        return _age(inner, env)
    if unit in _TIMES:
        return call(unit.lower(), _timestamp(node, env))
    name = _PARTS.get(unit)
    if name is None:
        raise _unsupported_date_part()
    return call(name, _day(node, env))


def _age(node: exp.Anonymous, env: Environment) -> Expression:
    """Read AGE(a, b), the whole years from b to a, or AGE(b), the years until CURRENT_DATE."""
    days = [_day(part, env) for part in node.expressions]
    if len(days) not in (1, 2):
        raise type_mismatch()
    return call("age_years", days[-1], days[0] if len(days) == 2 else today(env))


def today(env: Environment) -> Literal:
    """Return CURRENT_DATE, the day of the data version. The same query stays the same tomorrow."""
    if env.context.today is None:
        raise NotAllowed(
            "CURRENT_DATE is not known here.", next_step="Write the date itself, for example DATE '2024-01-31'."
        )
    return Literal(Type.DATE, env.context.today)


def _extract(node: exp.Extract, env: Environment) -> Expression:
    return _part(node.this.name.upper(), node.expression, env)


def _typed_part(unit: str) -> Rule:
    def rule(node: exp.Expr, env: Environment) -> Expression:
        _plain(node, "this")
        return _part(unit, node.this, env)

    return rule


def _truncated(node: exp.DateTrunc | exp.TimestampTrunc, env: Environment) -> Expression:
    _plain(node, "this", "unit", "unabbreviate")
    unit = node.args["unit"].name.upper()
    if unit in _TIMES:
        return call(f"trunc_{unit.lower()}", _timestamp(node.this, env))
    if unit not in _TRUNCATIONS:
        raise _unsupported_date_part()
    return call(f"trunc_{unit.lower()}", _day(node.this, env))


def _difference(node: exp.DateDiff, env: Environment) -> Expression:
    """Read DATE_DIFF(unit, a, b): the number of boundaries of the unit between the dates."""
    _plain(node, "this", "expression", "unit", "date_part_boundary")
    unit = node.args["unit"].name.upper() if node.args.get("unit") is not None else "DAY"
    if unit not in _TRUNCATIONS | _TIMES.keys():
        raise _unsupported_date_part()
    read = _timestamp if unit in _TIMES else _day
    return call(f"{unit.lower()}s_between", read(node.expression, env), read(node.this, env))


def _sum(node: exp.Add | exp.Sub, env: Environment) -> Expression:
    """Read + and - of numbers, of a date and an interval or a number of days, and of two dates."""
    left, right = node.this, node.expression
    minus = isinstance(node, exp.Sub)
    if isinstance(left, exp.Interval) and not minus:
        left, right = right, left
    if isinstance(right, exp.Interval):
        return _add_interval(left, right, env, minus=minus)
    a, b = env.read(left), env.read(right)
    kinds = a.properties.type, b.properties.type
    if kinds == (Type.DATE, Type.INTEGER):
        return call("add_days", a, _times(b, -1 if minus else 1))
    if kinds == (Type.INTEGER, Type.DATE) and not minus:
        return call("add_days", b, a)
    if Type.TIMESTAMP in kinds:
        raise NotAllowed(
            "Timestamps cannot be added or subtracted with + and -.",
            next_step="Write DATE_DIFF('hour', a, b) for a difference, or t + INTERVAL 2 HOUR.",
        )
    if minus and Type.DATE in kinds:
        return call("days_between", as_type(b, Type.DATE), as_type(a, Type.DATE))
    return apply("-" if minus else "+", a, b)


def _add_interval(day: exp.Expr, interval: exp.Interval, env: Environment, *, minus: bool) -> Expression:
    unit = interval.args["unit"].name.upper().removesuffix("S") if interval.args.get("unit") is not None else ""
    value, sign = env.read(day), -1 if minus else 1
    if value.properties.type is Type.TIMESTAMP:
        if unit not in _LATER:
            raise _unsupported_interval()
        return call("add_seconds", value, _times(_amount(interval.this, env), sign * _LATER[unit]))
    if unit not in _STEPS:
        raise _unsupported_interval()
    name, size = _STEPS[unit]
    return call(name, as_type(value, Type.DATE), _times(_amount(interval.this, env), sign * size))


def _amount(node: exp.Expr, env: Environment) -> Expression:
    """Read the amount of an interval: a small integer, or an integer expression in parentheses."""
    if isinstance(node, exp.Literal):
        if not _AMOUNT.fullmatch(node.name):
            raise _unsupported_interval()
        return Literal(Type.INTEGER, int(node.name))
    amount = env.read(node)
    if amount.properties.type is not Type.INTEGER:
        raise _unsupported_interval()
    return amount


def _times(amount: Expression, factor: int) -> Expression:
    """Multiply an amount; a constant directly."""
    if isinstance(amount, Literal) and isinstance(amount.value, int):
        return Literal(Type.INTEGER, amount.value * factor)
    return amount if factor == 1 else apply("*", amount, Literal(Type.INTEGER, factor))


def _added(node: exp.DateAdd, env: Environment) -> Expression:
    _plain(node, "this", "expression")
    if not isinstance(node.expression, exp.Interval):
        raise _unsupported_interval()
    return _add_interval(node.this, node.expression, env, minus=False)


def _last_day(node: exp.LastDay, env: Environment) -> Expression:
    _plain(node, "this")
    first = call("trunc_month", _day(node.this, env))
    return call("add_days", call("add_months", first, Literal(Type.INTEGER, 1)), Literal(Type.INTEGER, -1))


def _formatted(node: exp.TimeToStr, env: Environment) -> Expression:
    _plain(node, "this", "format")
    return apply("STRFTIME", _day_or_moment(node.this, env), env.read(node.args["format"]))


def _day_or_moment(node: exp.Expr, env: Environment) -> Expression:
    value = env.read(node)
    return value if value.properties.type is Type.TIMESTAMP else as_type(value, Type.DATE)


def _to_char(node: exp.ToChar, env: Environment) -> Expression:
    """Read TO_CHAR(day, 'YYYY-MM') as STRFTIME with the corresponding format."""
    _plain(node, "this", "format", "is_numeric")
    form = node.args.get("format")
    template = form.name if isinstance(form, exp.Literal) and form.is_string else ""
    pieces = _TO_CHAR_FORMAT.findall(template)
    if not pieces or "".join(pieces) != template:
        raise NotAllowed(
            "TO_CHAR supports only YYYY, YY, MM, DD, DDD, Mon, Month, Dy and Day.",
            next_step="Write for example TO_CHAR(day, 'YYYY-MM').",
        )
    written = Literal(Type.TEXT, "".join(_FORMATS.get(piece, piece) for piece in pieces))
    return apply("STRFTIME", _day_or_moment(node.this, env), written)


def _as_name(form: str) -> Rule:
    def rule(node: exp.Expr, env: Environment) -> Expression:
        _plain(node, "this")
        return apply("STRFTIME", _day(node.this, env), Literal(Type.TEXT, form))

    return rule


def _date(node: exp.Date, env: Environment) -> Expression:
    _plain(node, "this")
    return cast(env.read(node.this), Type.DATE)


def _from_parts(node: exp.DateFromParts, env: Environment) -> Expression:
    _plain(node, "year", "month", "day")
    return apply("MAKE_DATE", *(env.read(node.args[name]) for name in ("year", "month", "day")))


def _current(node: exp.CurrentDate, env: Environment) -> Expression:
    _plain(node)
    return today(env)


def of_unit(node: exp.Anonymous, env: Environment) -> Expression | None:
    """Read date functions without a node class in the parser; return None for other functions."""
    word, parts = node.name.upper(), node.expressions
    unit = parts[0].name.upper() if parts and isinstance(parts[0], exp.Literal) and parts[0].is_string else None
    if word in ("DATE_PART", "DATEPART") and unit is not None and len(parts) == 2:
        return _part(unit, parts[1], env)
    if word in ("DATE_SUB", "DATESUB") and len(parts) == 3 and unit == "YEAR":
        return call("age_years", *(_day(part, env) for part in parts[1:]))
    if word == "DATE_SUB" and len(parts) == 2 and isinstance(parts[1], exp.Interval):
        return _add_interval(parts[0], parts[1], env, minus=True)
    if (word in _PARTS or word in _TIMES) and len(parts) == 1:
        return _part(word, parts[0], env)
    if word == "AGE":
        raise NotAllowed(
            "AGE is supported only inside DATE_PART('year', …), in whole years.",
            next_step="Write DATE_PART('year', AGE(a, b)).",
        )
    return None


def _named(node: exp.Anonymous, env: Environment) -> Expression:
    """Read a function without a node class in the parser, by its SQL spelling."""
    _plain(node, "this", "expressions")
    special = of_unit(node, env)
    if special is not None:
        return special
    word = node.name.upper()
    if word in _SYNTAX or not spelled(word):
        raise unsupported(word)
    return apply(word, *(env.read(part) for part in node.expressions))


_SYNTAX = {"AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "ILIKE", "CASE", "CAST", "EXTRACT"}
"""Spellings of the registry that are syntax, not function names."""


def _plain(node: exp.Expr, *places: str) -> None:
    if any(value for name, value in node.args.items() if name not in places):
        raise unsupported(type(node).__name__)


def _unsupported_date_part() -> NotAllowed:
    return NotAllowed(
        "This date part is not supported.",
        next_step="Use year, quarter, month, week or day; for a TIMESTAMP also hour, minute or second.",
    )


def _unsupported_interval() -> NotAllowed:
    return NotAllowed(
        "An interval must be a small whole number: of days, weeks, months, quarters or years for a DATE; of seconds, minutes, hours, days or weeks for a TIMESTAMP.",
        next_step="Write INTERVAL 30 DAY. To add months to a TIMESTAMP, write CAST(t AS DATE) + INTERVAL 1 MONTH.",
    )


DAYS: Mapping[type[exp.Expr], Rule] = {
    exp.Add: _sum, exp.Sub: _sum, exp.Extract: _extract, exp.DateTrunc: _truncated, exp.TimestampTrunc: _truncated,
    exp.DateDiff: _difference, exp.DateAdd: _added, exp.LastDay: _last_day, exp.TimeToStr: _formatted, exp.ToChar: _to_char,
    exp.Date: _date, exp.DateFromParts: _from_parts, exp.CurrentDate: _current, exp.Anonymous: _named,
    exp.Monthname: _as_name("%B"), exp.Dayname: _as_name("%A"),
    exp.Year: _typed_part("YEAR"), exp.Quarter: _typed_part("QUARTER"), exp.Month: _typed_part("MONTH"),
    exp.Week: _typed_part("WEEK"), exp.WeekOfYear: _typed_part("WEEK"), exp.Day: _typed_part("DAY"),
    exp.DayOfMonth: _typed_part("DAY"), exp.DayOfWeek: _typed_part("DOW"), exp.DayOfWeekIso: _typed_part("ISODOW"),
    exp.DayOfYear: _typed_part("DOY"), exp.Hour: _typed_part("HOUR"), exp.Minute: _typed_part("MINUTE"), exp.Second: _typed_part("SECOND"),
}  # fmt: skip
