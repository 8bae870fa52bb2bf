"""What is computed after the noise: expressions over noisy numbers, and tables made of released tables.

Nothing here sees data: a `Release` names a query, everything above it is arithmetic on what left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from discreet.algebra.value_properties import Value

# Numbers of one released group


@dataclass(frozen=True, slots=True)
class KeyOf:
    """The value of a key of the query."""

    key: int


@dataclass(frozen=True, slots=True)
class Grouping:
    """1 where a key is rolled up, else 0."""

    key: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number read off noisy measures.

    `kind` is measure, average, var_samp, var_pop, std_samp, std_pop, quantile, covar_samp, covar_pop, corr, slope or intercept; `measures` are
    the numbers of what it is read from, in the order that `postprocessing/estimates.py` says.
    """

    kind: str
    measures: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """The number of people, exact and free, where it is public."""

    query: int = 0


# Over columns of a table


@dataclass(frozen=True, slots=True)
class ColumnOf:
    """A column of the table below, by position."""

    at: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant; None is NULL."""

    value: Value | None


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator or function of `postprocessing/operators.py`, by name: + - * / neg = <> < <= > >= and or not case round coalesce …"""

    op: str
    args: tuple[After, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """A window over released rows: sum, avg, min, max, count, row_number, rank, dense_rank; running where there is an order."""

    op: str
    args: tuple[After, ...]
    partition: tuple[After, ...]
    order: tuple[tuple[After, bool], ...]


After: TypeAlias = KeyOf | Grouping | Estimate | Known | ColumnOf | Constant | Apply | Over


def parts_of(after: After) -> Iterator[After]:
    """An expression and all within it."""
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
    """One row for each group of a query (by its number in the plan); columns are expressions over keys and noisy measures."""

    query: int
    columns: tuple[tuple[str, After], ...]
    having: After | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """Columns computed from each row of a table, after `where`."""

    table: View
    columns: tuple[tuple[str, After], ...]
    where: After | None = None


@dataclass(frozen=True, slots=True)
class Folded:
    """Rows of a table put together: sum, avg, min, max, count of columns, by keys. Columns are keys, then folds."""

    table: View
    keys: tuple[tuple[str, After], ...]
    folds: tuple[tuple[str, str, After | None], ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every row of one table beside every row of the other, the columns of the left first."""

    left: View
    right: View


@dataclass(frozen=True, slots=True)
class Stacked:
    """The rows of several tables, below each other, under the names of the first."""

    tables: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows in an order, the first `limit` of them."""

    table: View
    order: tuple[tuple[After, bool], ...]
    limit: int | None = None


View: TypeAlias = Release | Select | Folded | Pairs | Stacked | Sorted


def tables_in(view: View) -> Iterator[View]:
    """A table and all tables that it is computed from."""
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
