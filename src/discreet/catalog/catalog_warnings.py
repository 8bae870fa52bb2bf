"""Choices in a catalog that are allowed and may be regretted: said to the owner, decided by nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from discreet.catalog.declarations import Catalog, Column, Network, Table, Type
from discreet.core.loss import Loss

_LARGE_EPSILON = 10
_LARGE_DELTA = 1e-5
_MANY_ROWS = 100
_WIDE = 10**9


def warnings_of(catalog: Catalog) -> list[str]:
    """What an expert would ask about."""
    tables = (said for table in catalog.tables.values() for said in _table(table))
    return [*_budget(catalog), *tables, *(said for graph in catalog.graphs.values() for said in _graph(graph))]


def _graph(graph: Network) -> Iterator[str]:
    if graph.privacy == "edge":
        yield f"{graph.name}: protects single edges, not people. A person with k edges is protected at k times epsilon."
    elif graph.max_degree is None:
        yield f"{graph.name}: has no max_degree, so every query must set one."


def _budget(catalog: Catalog) -> Iterator[str]:
    cap = catalog.cap.cap
    if cap.epsilon > _LARGE_EPSILON:
        yield f"budget: at epsilon {cap.epsilon:g} {Loss(cap.epsilon).in_words()}."
    if catalog.cap.renews is not None:
        a_year = cap.times(catalog.cap.renews.most_in_a_year)
        yield (
            f"budget: renews {catalog.cap.renews.value}, so losses add up from {catalog.cap.renews.noun} to "
            f"{catalog.cap.renews.noun}; after a year, epsilon {a_year.epsilon:g}, {a_year.in_words()}."
        )
    if cap.delta > _LARGE_DELTA:
        yield f"budget: delta {cap.delta:g} should be far below one over the number of people."
    beyond = [name for name, own in catalog.analysts.items() if own.cap.epsilon > cap.epsilon]
    if beyond:
        yield f"budget: the cap of {', '.join(beyond)} is above the dataset's cap, which applies as well."
    if catalog.anchor is None:
        yield "ledger: without an anchor, a ledger restored from an old copy is not detected."


def _table(table: Table) -> Iterator[str]:
    if table.is_public:
        yield f"{table.name}: is public. Anyone may see every row of it, so it must not contain a view of protected rows."
        return
    if table.max_rows > _MANY_ROWS:
        yield f"{table.name}: {table.max_rows} rows per person make the noise {table.max_rows} times as large as one row."
    if not table.is_bounded_once:
        yield f"{table.name}: rows are bounded by each query. This is slower, and the snapshot keeps more rows."
    for column in table.columns.values():
        yield from _column(table, column)


def _column(table: Table, column: Column) -> Iterator[str]:
    name = f"{table.name}.{column.name}"
    owns = column.name == table.own_column
    if column.type in (Type.INTEGER, Type.REAL) and column.lower is None and column.values is None and not owns:
        yield f"{name}: has no bounds, so it cannot be summed or averaged."
    if (
        isinstance(column.lower, Fraction)
        and isinstance(column.upper, Fraction)
        and column.upper - column.lower > _WIDE
    ):
        yield f"{name}: the bounds are very wide, and the noise grows with them."
    if column.type is Type.TEXT and column.values is None and not owns:
        yield f"{name}: has no declared values, so grouping by it costs delta."
