"""A plan: the queries that are measured, their mechanisms, and the table that is computed from the released numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import chain

from discreet.algebra.query import Key, Query
from discreet.algebra.released_expressions import View
from discreet.catalog import Type
from discreet.mechanisms import Mechanism
from discreet.postprocessing.grouping_sets import GroupingSet
from discreet.postprocessing.table_shape import TableShape, shape_of

_PYTHON: dict[Type, type] = {
    Type.INTEGER: int, Type.REAL: float, Type.TEXT: str, Type.DATE: date, Type.BOOLEAN: bool,
    Type.TIMESTAMP: datetime,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything the charge, the engine and the answer need. It depends on public values only.

    `grouping_sets` has the sets of each query, `people` the number of people if it is public. A plan that cannot be carried out
    is refused here, before anything is charged.
    """

    queries: tuple[Query, ...]
    grouping_sets: tuple[tuple[GroupingSet, ...], ...]
    view: View
    notes: tuple[str, ...] = ()
    people: int | None = None
    shape: TableShape = field(init=False, repr=False, compare=False)
    """The columns and the size of the answer."""

    def __post_init__(self) -> None:
        for query, sets in zip(self.queries, self.grouping_sets, strict=True):
            for key in query.keys:
                _check_values(key)
            for grouping in sets:
                grouping.check(query)
        object.__setattr__(self, "shape", shape_of(self.view, self.queries))

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """The mechanisms that are charged; the same objects are sampled."""
        return tuple(chain.from_iterable(grouping.releases for sets in self.grouping_sets for grouping in sets))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answer's columns."""
        return tuple(column.name for column in self.shape.columns)


def _check_values(key: Key) -> None:
    """Refuse values of another type or repeated values. Types are compared exactly: True is not 1, and 1 is not 1.0."""
    values = [value for value in key.values or () if value is not None]
    if any(type(value) is not _PYTHON[key.expression.properties.type] for value in values):
        message = "a declared value has another type than its key"
        raise ValueError(message)
    if len(set(key.values or ())) != len(key.values or ()):
        message = "a declared value is repeated"
        raise ValueError(message)
