"""A plan: the queries that are measured, by which mechanisms, and the table that is made of what leaves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import chain

from discreet.algebra.query import Key, Kind, Measure, Query
from discreet.algebra.released_expressions import View
from discreet.catalog import Type
from discreet.mechanisms import Gaussian, Laplace, Mechanism, PartitionSelection, PermuteAndFlip, Quantile
from discreet.postprocessing.expression_checks import check_view, names_of

QUANTILE_LEVEL = Fraction(95, 100)
"""How often the interval of a quantile covers: fixed when it is drawn."""
_PYTHON: dict[Type, type] = {
    Type.INTEGER: int, Type.REAL: float, Type.TEXT: str, Type.DATE: date, Type.BOOLEAN: bool,
    Type.TIMESTAMP: datetime,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Priced:
    """One grouping set of one query: its keys, the mechanisms of each measure, and the selection of keys that are not public.

    A quantile has three mechanisms, for itself and for the ends of its interval; a measure that is public and free has none. The selection is
    paid for `selections` times: so many groups one person can be in.
    """

    keys: tuple[int, ...]
    mechanisms: tuple[tuple[Mechanism, ...], ...]
    selection: PartitionSelection | None = None
    selections: int = 0
    choices: tuple[PermuteAndFlip, ...] = ()
    """One for each winner, where groups compete; the measure that they compete by has no mechanism, and never leaves."""

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """Every mechanism that is charged."""
        selected = (self.selection,) * self.selections if self.selection is not None else ()
        return (*selected, *self.choices, *chain.from_iterable(self.mechanisms))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything the charge, the engine and the answer need; nothing of it depends on protected rows.

    `priced` has, for each query, its grouping sets. `people` is how many people there are, where that is public. What cannot be carried out
    is refused here, before anything is charged.
    """

    queries: tuple[Query, ...]
    priced: tuple[tuple[Priced, ...], ...]
    view: View
    notes: tuple[str, ...] = ()
    people: int | None = None

    def __post_init__(self) -> None:
        for query, sets in zip(self.queries, self.priced, strict=True):
            for key in query.keys:
                _check_values(key)
            for priced in sets:
                _check_priced(query, priced)
        check_view(self.view, self.queries)

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """What is charged is what is sampled: every measure of every grouping, and the selections of keys."""
        return tuple(chain.from_iterable(priced.releases for sets in self.priced for priced in sets))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answer's columns."""
        return names_of(self.view)


def _check_values(key: Key) -> None:
    """Values are told apart by type too: True is not 1, and 1 is not 1.0."""
    values = [value for value in key.values or () if value is not None]
    if any(type(value) is not _PYTHON[key.expression.properties.type] for value in values):
        message = "a declared value has another type than its key"
        raise ValueError(message)
    if len(set(key.values or ())) != len(key.values or ()):
        message = "a declared value stands twice"
        raise ValueError(message)


def _check_priced(query: Query, priced: Priced) -> None:
    if any(query.keys[index].values is None for index in priced.keys) != (priced.selection is not None):
        message = "groups are selected where, and only where, keys are private"
        raise ValueError(message)
    wanted = 0 if query.choose is None else query.choose.count
    if len(priced.choices) != wanted or (wanted and priced.selection is not None):
        message = "there is a choice for each winner among declared groups, and no other"
        raise ValueError(message)
    for index, (measure, mechanisms) in enumerate(zip(query.measures, priced.mechanisms, strict=True)):
        if query.choose is not None and index == query.choose.measure and not mechanisms:
            continue
        if not _fits(query, measure, mechanisms):
            message = "a measure has mechanisms that do not fit it"
            raise ValueError(message)


def _fits(query: Query, measure: Measure, mechanisms: tuple[Mechanism, ...]) -> bool:
    """Noise for every measure; none for the number of all people alone, where every person has exactly one row."""
    if not mechanisms:
        return query.counts_everybody(measure)
    wanted: type | tuple[type, ...] = Quantile if measure.kind is Kind.QUANTILE else (Laplace, Gaussian)
    count = 3 if measure.kind is Kind.QUANTILE else 1
    return len(mechanisms) == count and all(isinstance(mechanism, wanted) for mechanism in mechanisms)
