"""What is public about the values of a column or an expression; derived from the catalog, never read from rows."""

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
"""What is derived is listed up to so many values; beyond, groups are selected privately. Declared values are always listed."""
LONGEST_TEXT = 4_096
LARGEST_INTEGER = 2**63 - 1
_WIDEST_END = Fraction(2) ** 1000
_END_BITS = 64


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Where the magnitudes of a real lie: 0, or from 2**-fine to 2**large. Kept so that arithmetic never leaves the doubles."""

    large: int
    fine: int


AS_READ = Magnitudes(100, 100)
"""Reals of a snapshot: larger ones are NULL, smaller ones 0."""
WHOLE = Magnitudes(63, 0)
FURTHEST = 500
"""Beyond this an expression is brought back to `AS_READ`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A column that is computed from one public relation alone: `expression` over `relation`.

    `outer` says that an outer join may put NULLs in place of the relation's row.
    """

    relation: Relation
    expression: Expression
    outer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueProperties:
    """Public properties about values. NULL is outside of every fact but `nullable` and `values`.

    `low` and `high` are numbers, or for dates and timestamps what `moments.place_of` makes of them. `values` lists every value that may be a group, None
    among them where NULL is a group like others. `person` says that the value is NULL or the owner of the row; `numbering` that no two
    rows of a person share it.
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
            message = "a text needs a longest length"
            raise ValueError(message)
        if self.type is Type.REAL and self.magnitudes is None:
            message = "a real needs a reach"
            raise ValueError(message)

    @property
    def bounds(self) -> Bounds:
        return self.low, self.high


def round_outwards(bounds: Bounds) -> Bounds:
    """Ends rounded away from each other to 64 bits, and dropped where they are absurd: nested products stay small."""
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
    """Every value that may be a group, where that is public and short enough to list; None elsewhere."""
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
