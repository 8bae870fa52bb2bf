"""Public properties of the values of a column or expression. They are derived from the catalog, never from rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from discreet.catalog import Type

if TYPE_CHECKING:
    from discreet.algebra.expressions import Expression
    from discreet.algebra.relations import Relation

Value: TypeAlias = int | float | str | bool | date
"""A canonical value: never NaN, infinite or -0.0."""
Bounds: TypeAlias = tuple[Fraction | None, Fraction | None]
UNBOUNDED: Bounds = (None, None)
MOST_VALUES = 10_000
"""Derived values are listed up to this number; beyond it, groups are selected privately.

Declared values are always listed.
"""
LONGEST_TEXT = 4_096
LARGEST_INTEGER = 2**63 - 1
_WIDEST_END = Fraction(2) ** 1000
_END_BITS = 64


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Range of the magnitude of a real: 0, or from 2**-fine to 2**large.

    It ensures that arithmetic never overflows a double.
    """

    large: int
    fine: int


AS_READ = Magnitudes(100, 100)
"""Reals of a snapshot: larger magnitudes are stored as NULL, smaller ones as 0."""
WHOLE = Magnitudes(63, 0)
FURTHEST = 500
"""An expression with a larger exponent is clipped back to `AS_READ`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The public source of a value: `expression` over the columns of one public `relation`.

    `outer` means that an outer join may replace the relation's row by NULLs.
    """

    relation: Relation
    expression: Expression
    outer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueProperties:
    """Type, bounds, possible values and nullability of a value. Only `nullable` and `values` speak about NULL.

    `low` and `high` are numbers; for dates and timestamps, those of `timestamps.ordinal_of`. `values` lists every
    value that may form a group, including None if NULL forms one. `person` means that the value is NULL or the id of
    the row's person; `unique_per_person`, that no two rows of one person share the value.
    """

    type: Type
    low: Fraction | None = None
    high: Fraction | None = None
    values: tuple[Value | None, ...] | None = None
    nullable: bool = True
    longest: int | None = None
    magnitudes: Magnitudes | None = None
    person: bool = False
    unique_per_person: bool = False
    origin: Origin | None = None

    def __post_init__(self) -> None:
        if self.type is Type.TEXT and self.longest is None:
            message = "a text needs `longest`"
            raise ValueError(message)
        if self.type is Type.REAL and self.magnitudes is None:
            message = "a real needs `magnitudes`"
            raise ValueError(message)

    @property
    def bounds(self) -> Bounds:
        return self.low, self.high


def round_outwards(bounds: Bounds) -> Bounds:
    """Return the bounds rounded outward to 64 bits, so that nested products stay small.

    A bound beyond 2**1000 is dropped.
    """
    low, high = bounds
    return (None if low is None else _rounded(low, math.floor)), (None if high is None else _rounded(high, math.ceil))


def _rounded(end: Fraction, towards: type | object) -> Fraction | None:
    if abs(end) > _WIDEST_END:
        return None
    if end.denominator == 1 and abs(end) < 2**_END_BITS:
        return end
    size = abs(end.numerator).bit_length() - end.denominator.bit_length() - _END_BITS
    unit = Fraction(2) ** size
    return towards(end / unit) * unit  # type: ignore[operator]


def every_value(properties: ValueProperties) -> tuple[Value | None, ...] | None:
    """Return every value that may form a group, or None if the list is not public or too long."""
    if properties.values is not None:
        return properties.values
    if properties.type is Type.BOOLEAN:
        return (False, True)
    if properties.low is None or properties.high is None or properties.high - properties.low >= MOST_VALUES:
        return None
    first, last = math.ceil(properties.low), math.floor(properties.high)
    if properties.type is Type.INTEGER:
        return tuple(range(first, last + 1))
    if properties.type is Type.DATE:
        return tuple(date.fromordinal(first) + timedelta(days) for days in range(last - first + 1))
    return None
