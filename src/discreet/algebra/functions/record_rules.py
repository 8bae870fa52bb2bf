"""Helpers of the records: derive properties and possible values of results, and check constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import product
from math import ceil, floor, prod
from typing import TypeAlias

from discreet.algebra.expressions import Expression, Literal
from discreet.algebra.functions.intervals import is_held, whole
from discreet.algebra.value_properties import (
    AS_READ,
    LONGEST_TEXT,
    MOST_VALUES,
    UNBOUNDED,
    Bounds,
    Magnitudes,
    Value,
    ValueProperties,
    every_value,
    round_outwards,
)
from discreet.catalog import Type
from discreet.catalog.timestamps import FIRST_MOMENT, LAST_MOMENT, ordinal_of
from discreet.errors import TooLarge

Rule: TypeAlias = Callable[[Sequence[ValueProperties], Type], ValueProperties]
Accepts: TypeAlias = Callable[[Sequence[Expression]], str | None]
Domain: TypeAlias = tuple[Value | None, ...] | None
MOST_CANDIDATES = 10 * MOST_VALUES
"""Maximum number of combinations of argument values to evaluate for the values of a result."""
FIRST_DAY, LAST_DAY = Fraction(date.min.toordinal()), Fraction(date.max.toordinal())


# Properties of results


def is_nullable(args: Sequence[ValueProperties]) -> bool:
    """Whether any argument may be NULL."""
    return any(arg.nullable for arg in args)


def truth(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    """Return a BOOLEAN that is NULL if an argument is."""
    return ValueProperties(type=Type.BOOLEAN, nullable=is_nullable(args))


def integer(bounds: Bounds, *, nullable: bool, values: Domain = None) -> ValueProperties:
    """Return an integer that is NULL if it exceeds 64 bits."""
    low, high = whole(round_outwards(bounds))
    return ValueProperties(
        type=Type.INTEGER, low=low, high=high, values=values, nullable=nullable or not is_held(bounds)
    )


def counted(bounds: Bounds, *, nullable: bool, values: Domain = None) -> ValueProperties:
    """Return an integer that always fits into 64 bits, even if its bounds are unknown."""
    low, high = bounds
    return ValueProperties(type=Type.INTEGER, low=low, high=high, values=values, nullable=nullable)


def real(bounds: Bounds, magnitudes: Magnitudes, *, nullable: bool, values: Domain = None) -> ValueProperties:
    """Return a real."""
    low, high = round_outwards(bounds)
    return ValueProperties(type=Type.REAL, low=low, high=high, values=values, nullable=nullable, magnitudes=magnitudes)


def text(longest: int, *, nullable: bool, values: Domain = None) -> ValueProperties:
    """Return a text of at most `longest` characters. Refused if that is too long."""
    if longest > LONGEST_TEXT:
        raise TooLarge(
            f"A text could become longer than {LONGEST_TEXT:,} characters.",
            next_step="Shorten its parts first, for example with LEFT(x, 100).",
        )
    return ValueProperties(type=Type.TEXT, longest=longest, values=values, nullable=nullable)


def day(bounds: Bounds, *, nullable: bool, values: Domain = None) -> ValueProperties:
    """Return a date that is NULL outside of the years 1 to 9999."""
    low, high = bounds
    return ValueProperties(
        type=Type.DATE,
        low=None if low is None else min(max(low, FIRST_DAY), LAST_DAY),
        high=None if high is None else min(max(high, FIRST_DAY), LAST_DAY),
        values=values,
        nullable=nullable,
    )


def moment(bounds: Bounds, *, nullable: bool, values: Domain = None) -> ValueProperties:
    """Return a timestamp that is NULL outside of the years 1 to 9999."""
    low, high = (
        None if end is None else min(max(end, Fraction(FIRST_MOMENT)), Fraction(LAST_MOMENT)) for end in bounds
    )
    return ValueProperties(type=Type.TIMESTAMP, low=low, high=high, values=values, nullable=nullable)


def as_given(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    """Return the properties of the first argument, without those of a column."""
    return replace(args[0], person=False, unique_per_person=False, origin=None)


def magnitudes_of(properties: ValueProperties) -> Magnitudes:
    """Return the magnitudes of a real."""
    return properties.magnitudes or AS_READ


def longest_of(properties: ValueProperties) -> int:
    """Return the maximum length of a text."""
    return properties.longest or 0


def first_day(properties: ValueProperties) -> date | None:
    """Return the first possible date, or None if unknown."""
    return None if properties.low is None else date.fromordinal(ceil(properties.low))


def last_day(properties: ValueProperties) -> date | None:
    """Return the last possible date, or None if unknown."""
    return None if properties.high is None else date.fromordinal(floor(properties.high))


def ordinals(first: date | None, last: date | None) -> Bounds:
    """Return dates as bounds."""
    return (None if first is None else Fraction(first.toordinal())), (
        None if last is None else Fraction(last.toordinal())
    )


def is_null(properties: ValueProperties) -> bool:
    """Whether the value is the constant NULL, which has no bounds."""
    return properties.values == (None,)


# Domains


def image(args: Sequence[ValueProperties], rule: Callable[..., Value | None]) -> Domain:
    """Return the values of a strict function if the values of all arguments can be listed, else None.

    NULL is a group if it is a group of an argument. Combinations for which the function is undefined form no group.
    """
    domains = [_candidates(arg) for arg in args]
    known = [domain for domain in domains if domain is not None]
    if len(known) < len(domains) or prod(len(domain) for domain in known) > MOST_CANDIDATES:
        return None
    _spend(prod(len(domain) for domain in known))
    values: dict[Value | None, None] = {}
    for combination in product(*known):
        is_missing = None in combination
        value = None if is_missing else rule(*combination)
        if value is not None or is_missing:
            values[value] = None
        if len(values) > MOST_VALUES:
            return None
    return tuple(values)


_left: ContextVar[list[int] | None] = ContextVar("candidates left", default=None)


@contextmanager
def listing_at_most(candidates: int) -> Iterator[None]:
    """Limit the number of candidate values that reading one query may evaluate. Beyond it, the query is refused."""
    token = _left.set([candidates])
    try:
        yield
    finally:
        _left.reset(token)


def _spend(candidates: int) -> None:
    left = _left.get()
    if left is None:
        return
    left[0] -= candidates
    if left[0] < 0:
        raise TooLarge(
            "Too many values of dates and numbers would have to be listed as groups.",
            next_step="Use fewer functions in GROUP BY, or coarser ones.",
        )


def listed_image(args: Sequence[ValueProperties], rule: Callable[..., Value | None]) -> Domain:
    """Return `image`, unless all arguments are intervals or constants: then the bounds are enough."""
    is_interval = any(arg.values is None for arg in args) and all(
        arg.values is None or _is_constant(arg) for arg in args
    )
    return None if is_interval else image(args, rule)


def _is_constant(properties: ValueProperties) -> bool:
    return properties.values is not None and len(properties.values) == 1 and not is_null(properties)


def _candidates(properties: ValueProperties) -> Domain:
    """Return every value. Dates may have ten times the maximum number of groups, because they have few months."""
    if (
        properties.values is None
        and properties.type is Type.DATE
        and properties.low is not None
        and properties.high is not None
    ):
        first, last = ceil(properties.low), floor(properties.high)
        return None if last - first >= MOST_CANDIDATES else tuple(date.fromordinal(n) for n in range(first, last + 1))
    return every_value(properties)


def union(parts: Sequence[ValueProperties]) -> Domain:
    """Return the values of all parts in order, or None if those of one part cannot be listed."""
    domains = [every_value(part) for part in parts]
    values = dict.fromkeys(value for domain in domains for value in domain or ())
    return None if None in domains or len(values) > MOST_VALUES else tuple(values)


def ends_of(values: Domain) -> Bounds:
    """Return the bounds of listed numbers, dates or timestamps."""
    numbers = [
        Fraction(ordinal_of(v) if isinstance(v, date) else v)
        for v in values or ()
        if v is not None and not isinstance(v, str)
    ]
    return (min(numbers), max(numbers)) if numbers else UNBOUNDED


# Constants


def constant(expression: Expression) -> Value | None:
    """Return the value of a constant other than NULL, else None."""
    return expression.value if isinstance(expression, Literal) else None


def constant_of(properties: ValueProperties) -> Value:
    """Return the value of a constant from its properties. `accepts` has checked that it is one."""
    (value,) = properties.values or (None,)
    assert value is not None  # noqa: S101  checked by `accepts`
    return value


def whole_constant(expression: Expression) -> int | None:
    """Return the value of an integer constant, else None."""
    value = constant(expression)
    return value if isinstance(value, int) else None


def text_constant(expression: Expression) -> str | None:
    """Return the value of a quoted text, else None."""
    value = constant(expression)
    return value if isinstance(value, str) else None
