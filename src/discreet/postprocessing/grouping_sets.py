"""The mechanisms of one grouping set: how each measure is measured, and how private groups are selected."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from discreet.algebra.query import Measure, MeasureKind, Query
from discreet.mechanisms import Gaussian, Laplace, Mechanism, PartitionSelection, PermuteAndFlip, Quantile

QUANTILE_LEVEL = Fraction(95, 100)
"""The confidence level of the interval of a quantile. The interval is drawn together with the quantile, so its level is fixed."""


@dataclass(frozen=True, slots=True)
class GroupingSet:
    """One set of keys that a query groups by, with the mechanisms of each measure and the selection of private groups.

    A quantile has three mechanisms: for itself and for both ends of its interval. A public measure has none.
    """

    keys: tuple[int, ...]
    mechanisms: tuple[tuple[Mechanism, ...], ...]
    selection: PartitionSelection | None = None
    selections: int = 0
    """How many times the selection is charged: once for each group that one person can be in."""
    choices: tuple[PermuteAndFlip, ...] = ()
    """One for each winner, if groups compete. The measure that they compete by has no mechanism and is not released."""

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """Every mechanism that is charged."""
        selected = (self.selection,) * self.selections if self.selection is not None else ()
        return (*selected, *self.choices, *chain.from_iterable(self.mechanisms))

    def check(self, query: Query) -> None:
        """Raise an error if the mechanisms do not fit the query."""
        if any(query.keys[index].values is None for index in self.keys) != (self.selection is not None):
            message = "a grouping set needs a selection if, and only if, the values of a key are private"
            raise ValueError(message)
        winners = 0 if query.choose is None else query.choose.count
        if len(self.choices) != winners or (winners and self.selection is not None):
            message = "a grouping set needs one choice for each winner, and declared groups"
            raise ValueError(message)
        for index, (measure, mechanisms) in enumerate(zip(query.measures, self.mechanisms, strict=True)):
            if query.choose is not None and index == query.choose.measure and not mechanisms:
                continue
            if not _fits(query, measure, mechanisms):
                message = "a measure has mechanisms that do not fit it"
                raise ValueError(message)


def _fits(query: Query, measure: Measure, mechanisms: tuple[Mechanism, ...]) -> bool:
    """Only the number of all people may have no noise: it is public if every person has exactly one row."""
    if not mechanisms:
        return query.counts_all_people(measure)
    kinds: type | tuple[type, ...] = Quantile if measure.kind is MeasureKind.QUANTILE else (Laplace, Gaussian)
    count = 3 if measure.kind is MeasureKind.QUANTILE else 1
    return len(mechanisms) == count and all(isinstance(mechanism, kinds) for mechanism in mechanisms)
