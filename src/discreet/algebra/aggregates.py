"""Aggregates and window functions within one person's rows.

Sums are integers until the last step, so results do not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from discreet.algebra.expressions import Expression
from discreet.algebra.grids import Grid
from discreet.algebra.value_properties import AS_READ, Bounds, Magnitudes, ValueProperties
from discreet.catalog import Type
from discreet.errors import NotAllowed, TooLarge

MOST_TILES = 1_000
MOST_DISTINCT = 32
"""Maximum number of COUNT(DISTINCT) in one group. Their time grows with the square of their number, or faster."""
_EXACT = 2**32
"""Up to this magnitude, doubles represent all integers and all multiples of 2**-20 exactly."""


class Fold(Enum):
    """How an aggregate combines rows."""

    ROWS = "rows"
    PRESENT = "present"
    DISTINCT = "distinct"
    SUM = "sum"
    AVERAGE = "average"
    LEAST = "least"
    LARGEST = "largest"
    ANY = "any"
    EVERY = "every"


def check_distinct(count: int) -> None:
    """Refuse more COUNT(DISTINCT), of people or of values, than one group may have."""
    if count > MOST_DISTINCT:
        raise TooLarge(
            f"One SELECT contains {count} COUNT(DISTINCT …).", next_step=f"Use at most {MOST_DISTINCT} in one SELECT."
        )


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of `value` over the rows for which `where` is true.

    Reals are summed as whole steps of a grid and scaled once at the end. Sums of integers are exact, and NULL beyond
    64 bits.
    """

    fold: Fold
    value: Expression | None
    where: Expression | None = None
    steps: Grid | None = None

    def __post_init__(self) -> None:
        kind = None if self.value is None else self.value.properties.type
        summed = self.fold in (Fold.SUM, Fold.AVERAGE)
        if (
            (kind is None) != (self.fold is Fold.ROWS)
            or (self.where is not None and self.where.properties.type is not Type.BOOLEAN)
            or (self.fold in (Fold.ANY, Fold.EVERY) and kind is not Type.BOOLEAN)
            or (summed and kind not in (Type.INTEGER, Type.REAL))
        ):
            raise NotAllowed(
                "This aggregate does not accept values of this type.",
                next_step="Use SUM and AVG for numbers, BOOL_OR and BOOL_AND for BOOLEANs, COUNT for anything.",
            )
        if (self.steps is not None) != (summed and kind is Type.REAL):
            message = "reals, and only reals, are summed on a grid"
            raise ValueError(message)

    @property
    def parts(self) -> Iterator[Expression]:
        return (part for part in (self.value, self.where) if part is not None)

    def properties(self, most: int, *, grouped: bool) -> ValueProperties:
        """Return the properties of the result over at most `most` rows. If `grouped`, there is at least one row."""
        if self.fold in (Fold.ROWS, Fold.PRESENT, Fold.DISTINCT):
            least = 1 if grouped and self.fold is Fold.ROWS and self.where is None else 0
            return ValueProperties(type=Type.INTEGER, low=Fraction(least), high=Fraction(most), nullable=False)
        value = self.value
        assert value is not None  # noqa: S101  checked on construction
        if self.fold in (Fold.LEAST, Fold.LARGEST):
            return replace(value.properties, nullable=True, person=False, unique_per_person=False, origin=None)
        if self.fold in (Fold.ANY, Fold.EVERY):
            return ValueProperties(type=Type.BOOLEAN, nullable=True)
        low, high = self._ends(value.properties)
        if self.fold is Fold.AVERAGE:
            low, high = _as_doubles(low, high)
            return ValueProperties(type=Type.REAL, low=low, high=high, magnitudes=_wider(value.properties.magnitudes))
        kind = value.properties.type
        low, high = _summed(low, high, most)
        if kind is Type.REAL:
            low, high = _as_doubles(low, high)
        return ValueProperties(
            type=kind, low=low, high=high, magnitudes=_wider(value.properties.magnitudes) if kind is Type.REAL else None
        )

    def _ends(self, properties: ValueProperties) -> Bounds:
        return (
            properties.bounds
            if self.steps is None
            else (self.steps.low * self.steps.step, self.steps.high * self.steps.step)
        )


def _wider(magnitudes: Magnitudes | None) -> Magnitudes:
    """Return the magnitudes of sums of up to 2**40 values, and of their averages."""
    known = magnitudes or AS_READ
    return Magnitudes(known.large + 40, known.fine + 100)


def _as_doubles(low: Fraction | None, high: Fraction | None) -> Bounds:
    """Widen bounds so that they hold after rounding to a double."""
    wide = [end is not None and abs(end) > _EXACT for end in (low, high)]
    return (
        low - abs(low) / _EXACT if low is not None and wide[0] else low,
        high + abs(high) / _EXACT if high is not None and wide[1] else high,
    )


def _summed(low: Fraction | None, high: Fraction | None, most: int) -> Bounds:
    """Return the bounds of a sum of between one and `most` values."""
    return (None if low is None else min(low, low * most)), (None if high is None else max(high, high * most))


class RowFunction(Enum):
    """Window functions that return the position of a row or the value of another row."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    NTILE = "ntile"
    LAG = "lag"
    LEAD = "lead"
    FIRST = "first_value"
    LAST = "last_value"


BY_POSITION = frozenset(
    {RowFunction.ROW_NUMBER, RowFunction.NTILE, RowFunction.LAG, RowFunction.LEAD, RowFunction.FIRST, RowFunction.LAST}
)
"""Window functions that need a total order: ties in ORDER BY are broken by the row ids."""


@dataclass(frozen=True, slots=True)
class Order:
    """A sort key; NULLs come last."""

    by: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """ROWS BETWEEN: offsets from the current row, negative before it. None is UNBOUNDED."""

    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Window:
    """A window function over the rows of one person that share `partition`.

    `operation` is a row function, with `value` and `offset` where it takes them (LAG, LEAD, NTILE), or an aggregate:
    over all rows, with `order` over the rows up to the peers of the current row, or over `frame`.
    """

    operation: RowFunction | Aggregate
    value: Expression | None
    offset: int
    partition: tuple[Expression, ...]
    order: tuple[Order, ...]
    frame: Frame | None

    def __post_init__(self) -> None:
        valued = self.operation in (RowFunction.LAG, RowFunction.LEAD, RowFunction.FIRST, RowFunction.LAST)
        if valued != (self.value is not None):
            message = "a window function has a value exactly if it returns the value of another row"
            raise ValueError(message)
        if self.operation is RowFunction.NTILE and not 1 <= self.offset <= MOST_TILES:
            raise NotAllowed("NTILE needs a whole number from 1 to 1,000.", next_step="Write NTILE(4).")
        if self.operation in (RowFunction.LAG, RowFunction.LEAD) and not 0 <= self.offset <= MOST_TILES:
            raise NotAllowed(
                "The offset of LAG and LEAD must be a whole number from 0 to 1,000.",
                next_step="Write LAG(x) or LAG(x, 2).",
            )
        if self.frame is not None and not isinstance(self.operation, Aggregate):
            raise NotAllowed("A window frame is supported only for aggregates.", next_step="Remove the frame.")
        if isinstance(self.operation, Aggregate) and self.operation.fold is Fold.DISTINCT:
            raise NotAllowed(
                "COUNT(DISTINCT …) is not supported as a window function.",
                next_step="Use COUNT(DISTINCT …) with GROUP BY the person's id instead.",
            )

    @property
    def parts(self) -> Iterator[Expression]:
        yield from self.operation.parts if isinstance(self.operation, Aggregate) else ()
        yield from (self.value,) if self.value is not None else ()
        yield from self.partition
        yield from (key.by for key in self.order)

    @property
    def is_by_position(self) -> bool:
        """Whether ties in the order must be broken."""
        return self.operation in BY_POSITION or self.frame is not None

    def properties(self, most: int, *, owned: bool) -> ValueProperties:
        """Return the properties of the result, for at most `most` rows in a window."""
        if isinstance(self.operation, Aggregate):
            return self.operation.properties(most, grouped=self.frame is None)
        if self.value is not None:
            return replace(
                self.value.properties,
                nullable=True,
                unique_per_person=False,
                origin=None,
                person=self.value.properties.person and owned,
            )
        high = Fraction(self.offset if self.operation is RowFunction.NTILE else most)
        unique_per_person = self.operation is RowFunction.ROW_NUMBER and owned and not self.partition
        return ValueProperties(
            type=Type.INTEGER, low=Fraction(1), high=high, nullable=False, unique_per_person=unique_per_person
        )
