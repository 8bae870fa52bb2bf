"""A query: rows of people, the keys they are grouped by, what is measured of them, and how much of one person counts."""

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
    """A group key, and the values that all appear, None (NULL) among them or not; without values, groups are selected privately."""

    expression: Expression
    values: tuple[Value | None, ...] | None


class MeasureKind(Enum):
    """What the engine is asked for: exact integers for each group."""

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
    """The candidates of a quantile: grid steps divided by `factor`, from `first` to `last`."""

    factor: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One exact integer a group, or a histogram for a quantile.

    TOTAL sums whole steps of a value, less `centre`; SQUARES the squares of these, and PRODUCTS their products with those of `other`, each
    divided by 2**`coarser` and rounded. QUANTILE counts rows at each candidate. DISTINCT counts combinations of `values` that have no NULL.
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
        """The least and the most that one row can add."""
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
        """A square or product in the coarser unit: floor(p / 2**coarser + 1/2)."""
        return (product + ((1 << self.coarser) >> 1)) >> self.coarser

    @property
    def largest(self) -> int:
        """The most that one row can add, in absolute value."""
        return max(1, *(abs(end) for end in self.ends))

    @property
    def bins(self) -> Bins:
        """The candidates of a quantile: its mechanism's, whatever its epsilon."""
        mechanism = quantile_of(self, epsilon=Fraction(1))
        return Bins(int(mechanism.grid.step), mechanism.candidates[0], mechanism.candidates[-1])

    @property
    def is_distinct(self) -> bool:
        """Whether people or values are told apart."""
        return self.kind in (MeasureKind.DISTINCT, MeasureKind.PEOPLE)

    @property
    def is_one_signed(self) -> bool:
        """Whether no row of anybody can take anything away."""
        return self.ends[0] >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionBounds:
    """What of one person counts: at most `rows` rows; or, where groups are limited, `groups` groups of `rows_per_group` rows."""

    rows: int
    groups: int | None = None
    rows_per_group: int | None = None

    def __post_init__(self) -> None:
        if any(limit is not None and limit < 1 for limit in (self.rows, self.groups, self.rows_per_group)):
            message = "a limit is at least 1"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Choose:
    """Only the keys of the best groups leave: `count` of them, by the largest `measure`, which is measured and never shown."""

    measure: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Rows, keys, measures, limits, and the sets of keys (by number) that are grouped by together.

    With `choose` the groups compete, and only the winners leave.
    """

    rows: Relation
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    limits: ContributionBounds
    sets: tuple[tuple[int, ...], ...] = ((),)
    choose: Choose | None = None

    def __post_init__(self) -> None:
        if self.rows.is_public:
            message = "a question is about people"
            raise ValueError(message)
        check_distinct(sum(measure.is_distinct for measure in self.measures))
        check_reads(
            self.rows, *(key.expression for key in self.keys), *(p for measure in self.measures for p in measure.parts)
        )

    @property
    def needs_bounding(self) -> bool:
        """Whether a person's rows must be cut at the release: the relation itself allows more than the limits, or groups are limited."""
        return self.rows.shape.most_rows > self.limits.rows or self.limits.groups is not None

    @property
    def drops_undeclared(self) -> bool:
        """Whether rows whose keys are not declared are dropped before anything else: always, unless the only groups are by all keys,
        where they would be dropped with their groups.
        """
        return self.needs_bounding or any(len(keys) < len(self.keys) for keys in self.sets)

    def counts_all_people(self, measure: Measure) -> bool:
        """Whether a measure is the number of all people and of nothing less: each has one row, none of which is filtered or cut; nor
        dropped, as those with an undeclared key are, in the grand total of a ROLLUP too.
        """
        counts = measure.kind in (MeasureKind.ROWS, MeasureKind.PEOPLE) and measure.where is None
        return counts and self.rows.shape.each_once and not self.keys and not self.needs_bounding

    @property
    def is_public_size(self) -> bool:
        """Whether nothing but the number of all people is asked, which is known without reading a row."""
        return bool(self.measures) and all(map(self.counts_all_people, self.measures))

    def groups_in(self, keys: tuple[int, ...]) -> int | None:
        """How many groups appear, where that is public."""
        lengths = [None if self.keys[index].values is None else len(self.keys[index].values or ()) for index in keys]
        return None if None in lengths else math.prod(length or 0 for length in lengths)


def quantile_of(measure: Measure, *, epsilon: Fraction, **details: Any) -> Quantile:
    """The mechanism for a measured histogram, in grid steps; a constant has one value, and candidates need two."""
    (steps,) = measure.steps
    upper = max(steps.high, steps.low + 1)
    return Quantile(
        q=measure.q or 0, lower=steps.low, upper=upper, epsilon=epsilon, whole=True, points=_QUANTILE_POINTS, **details
    )
