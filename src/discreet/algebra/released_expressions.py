"""Postprocessing as data: expressions over noisy results, and tables computed from released tables.

Nothing here accesses data: a `Release` names a query, and all else is arithmetic on its noisy result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from discreet.algebra.value_properties import Value

# Values of one released group


@dataclass(frozen=True, slots=True)
class KeyOf:
    """The value of a group key."""

    key: int


@dataclass(frozen=True, slots=True)
class Grouping:
    """GROUPING(key): 1 if the key is rolled up, else 0."""

    key: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number computed from noisy measures.

    `kind` is the name of an estimate in `postprocessing/estimation/estimates.py`, and `measures` are the numbers of the measures
    that it needs, in the order given there.
    """

    kind: str
    measures: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """The exact number of people, if it is public."""

    query: int = 0


# Over columns of a table


@dataclass(frozen=True, slots=True)
class ColumnOf:
    """A column of the input table, by position."""

    at: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant; None is NULL."""

    value: Value | None


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator or function of `postprocessing/operators.py`, by name."""

    op: str
    args: tuple[After, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """A window function over released rows, by name. An aggregate with an order is a running aggregate."""

    op: str
    args: tuple[After, ...]
    partition: tuple[After, ...]
    order: tuple[tuple[After, bool], ...]


After: TypeAlias = KeyOf | Grouping | Estimate | Known | ColumnOf | Constant | Apply | Over


def parts_of(after: After) -> Iterator[After]:
    """Yield an expression and all its parts."""
    yield after
    if isinstance(after, Apply | Over):
        for arg in after.args:
            yield from parts_of(arg)
    if isinstance(after, Over):
        for part in (*after.partition, *(key for key, _ in after.order)):
            yield from parts_of(part)


# Tables


@dataclass(frozen=True, slots=True)
class Release:
    """One row per group of a query (by its number in the plan).

    Columns are expressions over keys and noisy measures.
    """

    query: int
    columns: tuple[tuple[str, After], ...]
    having: After | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """Columns computed from each row of a table that fulfils `where`."""

    table: View
    columns: tuple[tuple[str, After], ...]
    where: After | None = None


@dataclass(frozen=True, slots=True)
class Folded:
    """Aggregates (sum, avg, min, max, count) of a table, grouped by keys. Columns are the keys, then the aggregates."""

    table: View
    keys: tuple[tuple[str, After], ...]
    folds: tuple[tuple[str, str, After | None], ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The cross product of two tables."""

    left: View
    right: View


@dataclass(frozen=True, slots=True)
class Stacked:
    """UNION ALL of several tables, with the column names of the first."""

    tables: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class Sorted:
    """The first `limit` rows of a table in an order."""

    table: View
    order: tuple[tuple[After, bool], ...]
    limit: int | None = None


View: TypeAlias = Release | Select | Folded | Pairs | Stacked | Sorted


def tables_in(view: View) -> Iterator[View]:
    """Yield a table and all tables that it is computed from."""
    yield view
    match view:
        case Pairs():
            below: tuple[View, ...] = (view.left, view.right)
        case Stacked():
            below = view.tables
        case Select() | Folded() | Sorted():
            below = (view.table,)
        case Release():
            below = ()
    for table in below:
        yield from tables_in(table)
