"""The candidate tables of a round and their weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations

from discreet.errors import TooLarge
from discreet.measurement.domain import Columns, Domain
from discreet.synthetic.models.junction_trees import Columns as Numbers
from discreet.synthetic.models.junction_trees import cells_of, mask_of, neighbours_of
from discreet.synthetic.models.synthetic_model import numbers_of

LARGEST_WEIGHT = 1000
MOST_CANDIDATES = 20_000
WIDEST = 4
"""Wider tables are not candidates: their noise exceeds their content, and there are too many of them."""


def weighted(domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:
    """Return every subset of a workload marginal, weighted by the columns that it shares with each marginal.

    Citation: McKenna, Mullins, Sheldon, Miklau 2022 (arXiv:2201.12677), AIM's weights.
    """
    # A column with one code has no information, so no candidate contains it.
    tables = [
        (frozenset(numbers_of(domain, telling(domain, columns))), weight) for columns, weight in marginals.items()
    ]
    parts = {part for table, _ in tables for k in range(1, WIDEST + 1) for part in combinations(sorted(table), k)}
    # A table's weight is the sum, over its columns, of the weights of all marginals that contain the column.
    alone = {part: sum(weight for table, weight in tables if part[0] in table) for part in parts if len(part) == 1}
    weights = {part: sum(alone[(column,)] for column in part) for part in parts}
    order = sorted(weights, key=lambda part: (len(part), part))
    return within_limits({tuple(domain.names[column] for column in part): weights[part] for part in order})


def telling(domain: Domain, columns: Columns) -> Columns:
    """Return the columns that have more than one code."""
    return tuple(name for name, size in zip(columns, domain.shape(columns), strict=True) if size > 1)


def number_of(domain: Domain, marginals: Iterable[Columns]) -> int:
    """Return an upper bound on the number of candidates without building them."""
    widths = [len(telling(domain, columns)) for columns in marginals]
    every = len(telling(domain, domain.names))
    return min(sum(_parts(width, WIDEST) for width in widths), _parts(every, min(max(widths), WIDEST)))


def check_number(candidates: int) -> None:
    """Refuse, before the charge, more candidates than a round can score in reasonable time."""
    if candidates > MOST_CANDIDATES:
        raise TooLarge(
            f"There would be {candidates:,} tables to choose among, more than {MOST_CANDIDATES:,}.",
            next_step="Ask for tables over fewer columns, or select fewer columns.",
        )


def _parts(columns: int, widest: int) -> int:
    return sum(math.comb(columns, k) for k in range(1, widest + 1))


def within_limits(weights: Mapping[Columns, int]) -> dict[Columns, int]:
    """Scale weights down in proportion, so that none exceeds the largest weight of a choice."""
    largest = max(weights.values(), default=0)
    if largest <= LARGEST_WEIGHT:
        return dict(weights)
    return {columns: -(-weight * LARGEST_WEIGHT // largest) for columns, weight in weights.items()}


def is_drowned(cells: int, noise: float, rows: float) -> bool:
    """Return whether the noise of a table exceeds the largest distance between two tables, which is twice the row
    count.

    Args:
        cells: Number of cells of the table.
        noise: Expected absolute noise of a cell, in rows.
        rows: Estimated number of rows.
    """
    return cells * noise > 2 * rows


def fitting_in(
    candidates: Iterable[Numbers],
    sizes: tuple[int, ...],
    measured: Iterable[Numbers],
    *,
    noise: float,
    rows: float,
    cells: float,
) -> list[Numbers]:
    """Return the candidates whose noise does not exceed their content and whose model is small enough.

    Args:
        candidates: Tables to filter.
        sizes: Number of codes of each column.
        measured: Tables that the model already contains.
        noise: Expected absolute noise of a cell, in rows.
        rows: Estimated number of rows.
        cells: Largest model, in cells.
    """
    around = neighbours_of(measured, len(sizes))
    known: dict[tuple[int, ...], bool] = {tuple(around): True}
    kept = []
    for columns in candidates:
        shape = [sizes[column] for column in columns]
        if min(shape) == 1 or is_drowned(math.prod(shape), noise, rows):  # a column with one code has no information
            continue
        mask = mask_of(columns)
        joined = tuple(
            others | (mask & ~(1 << column)) if mask >> column & 1 else others for column, others in enumerate(around)
        )
        if joined not in known:
            known[joined] = cells_of(list(joined), sizes) <= cells
        if known[joined]:
            kept.append(columns)
    return kept
