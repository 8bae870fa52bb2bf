"""A private query: protected rows, group keys, measures and contribution bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from discreet.algebra.aggregates import check_distinct
from discreet.algebra.expressions import Expression
from discreet.algebra.grids import Grid
from discreet.algebra.relation_checks import check_reads
from discreet.algebra.relations import Relation
from discreet.algebra.value_properties import Value
from discreet.mechanisms import Quantile

MOST_GROUPS = 10**6
_QUANTILE_POINTS = 2**13


@dataclass(frozen=True, slots=True)
class Key:
    """A group key. All `values` appear as groups (None is NULL); without values, groups are selected privately."""

    expression: Expression
    values: tuple[Value | None, ...] | None


class MeasureKind(Enum):
    """What the engine computes for each group: exact integers."""

    ROWS = "rows"
    PRESENT = "present"
    PEOPLE = "people"
    DISTINCT = "distinct"
    TOTAL = "total"
    SQUARES = "squares"
    PRODUCTS = "products"
    QUANTILE = "quantile"


@dataclass(frozen=True, slots=True)
class Bins:
    """Candidates of a quantile: grid steps divided by `factor`, from `first` to `last`."""

    factor: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One exact integer per group, or a histogram for a quantile.

    TOTAL sums the grid steps of a value minus its centre. SQUARES sums their squares, and PRODUCTS their products with
    those of a second value, each divided by 2**`coarser` and rounded. QUANTILE counts rows at each candidate. DISTINCT
    counts combinations of `values` without NULL.
    """

    kind: MeasureKind
    values: tuple[Expression, ...] = ()
    where: Expression | None = None
    steps: tuple[Grid, ...] = ()
    centres: tuple[int, ...] = ()
    coarser: int = 0
    q: Fraction | None = None

    @property
    def parts(self) -> Iterator[Expression]:
        yield from self.values
        yield from (self.where,) if self.where is not None else ()

    @property
    def ends(self) -> tuple[int, int]:
        """Return the smallest and the largest contribution of one row."""
        if self.kind is MeasureKind.TOTAL:
            return self.steps[0].low - self.centres[0], self.steps[0].high - self.centres[0]
        if self.kind in (MeasureKind.SQUARES, MeasureKind.PRODUCTS):
            (a, b), (c, d) = (self._about(0), self._about(len(self.steps) - 1))
            corners = [a * c, b * d] if self.kind is MeasureKind.SQUARES else [a * c, a * d, b * c, b * d]
            low = 0 if self.kind is MeasureKind.SQUARES else min(corners)
            return self.coarsened(low), self.coarsened(max(*corners, 0))
        return 0, 1

    def _about(self, index: int) -> tuple[int, int]:
        steps, centre = self.steps[index], self.centres[index]
        return steps.low - centre, steps.high - centre

    def coarsened(self, product: int) -> int:
        """Return floor(product / 2**coarser + 1/2)."""
        return (product + ((1 << self.coarser) >> 1)) >> self.coarser

    @property
    def largest(self) -> int:
        """Return the largest contribution of one row in absolute value, at least 1."""
        return max(1, *(abs(end) for end in self.ends))

    @property
    def bins(self) -> Bins:
        """Return the candidates of a quantile. They do not depend on epsilon."""
        mechanism = quantile_of(self, epsilon=Fraction(1))
        return Bins(int(mechanism.grid.step), mechanism.candidates[0], mechanism.candidates[-1])

    @property
    def is_distinct(self) -> bool:
        """Whether the measure counts distinct people or values."""
        return self.kind in (MeasureKind.DISTINCT, MeasureKind.PEOPLE)

    @property
    def is_one_signed(self) -> bool:
        """Whether no row can have a negative contribution."""
        return self.ends[0] >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionBounds:
    """At most `rows` rows of one person count. If `groups` is set, they are in at most `groups` groups, with at most
    `rows_per_group` rows in each.
    """

    rows: int
    groups: int | None = None
    rows_per_group: int | None = None

    def __post_init__(self) -> None:
        if any(limit is not None and limit < 1 for limit in (self.rows, self.groups, self.rows_per_group)):
            message = "a contribution bound must be at least 1"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Choose:
    """Select the `count` groups with the largest `measure`. Only their keys are released, never the measure."""

    measure: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Rows, keys, measures, contribution bounds (`limits`) and grouping sets (numbers of keys).

    With `choose`, only the keys of the winning groups are released.
    """

    rows: Relation
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    limits: ContributionBounds
    sets: tuple[tuple[int, ...], ...] = ((),)
    choose: Choose | None = None

    def __post_init__(self) -> None:
        if self.rows.is_public:
            message = "a private query needs protected rows"
            raise ValueError(message)
        check_distinct(sum(measure.is_distinct for measure in self.measures))
        check_reads(
            self.rows, *(key.expression for key in self.keys), *(p for measure in self.measures for p in measure.parts)
        )

    @property
    def needs_bounding(self) -> bool:
        """Whether the release must drop rows: the relation allows more than the limits, or groups are limited."""
        return self.rows.shape.most_rows > self.limits.rows or self.limits.groups is not None

    @property
    def drops_undeclared(self) -> bool:
        """Whether rows with undeclared keys must be dropped first.

        Not if all grouping sets use all keys: then these rows are dropped together with their groups.
        """
        return self.needs_bounding or any(len(keys) < len(self.keys) for keys in self.sets)

    def counts_all_people(self, measure: Measure) -> bool:
        """Whether a measure counts all people: each has exactly one row, and no row is filtered, bounded or dropped.

        With keys it does not, even in the grand total of a ROLLUP: rows with an undeclared key are dropped.
        """
        counts = measure.kind in (MeasureKind.ROWS, MeasureKind.PEOPLE) and measure.where is None
        return counts and self.rows.shape.each_once and not self.keys and not self.needs_bounding

    @property
    def is_public_size(self) -> bool:
        """Whether the query only asks for the number of all people, which is public."""
        return bool(self.measures) and all(map(self.counts_all_people, self.measures))

    def groups_in(self, keys: tuple[int, ...]) -> int | None:
        """Return the number of groups of a grouping set, or None if it is not public."""
        lengths = [None if self.keys[index].values is None else len(self.keys[index].values or ()) for index in keys]
        return None if None in lengths else math.prod(length or 0 for length in lengths)


def quantile_of(measure: Measure, *, epsilon: Fraction, **details: Any) -> Quantile:
    """Return the mechanism of a quantile, in grid steps. A constant gets two candidates, because one is not enough."""
    (steps,) = measure.steps
    upper = max(steps.high, steps.low + 1)
    return Quantile(
        q=measure.q or 0, lower=steps.low, upper=upper, epsilon=epsilon, whole=True, points=_QUANTILE_POINTS, **details
    )
