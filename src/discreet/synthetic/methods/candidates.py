"""Which tables a round may choose among, and how much each is worth."""

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
"""Tables of more columns are no candidates: their noise drowns them, and there are too many."""


def weighted(domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:
    """Every table that has a part in a wanted one, and its weight: what it says about each wanted table, in columns they share.

    Citation: McKenna, Mullins, Sheldon, Miklau 2022 (arXiv:2201.12677), AIM's weights.

    Args:
        domain: Whose columns they are.
        marginals: Tables with their weights, whole and positive.
    """
    # A column of one code says nothing, and is in no candidate.
    tables = [
        (frozenset(numbers_of(domain, telling(domain, columns))), weight) for columns, weight in marginals.items()
    ]
    parts = {part for table, _ in tables for k in range(1, WIDEST + 1) for part in combinations(sorted(table), k)}
    # A table's weight is a sum over its columns of all that is wanted with them.
    alone = {part: sum(weight for table, weight in tables if part[0] in table) for part in parts if len(part) == 1}
    weights = {part: sum(alone[(column,)] for column in part) for part in parts}
    order = sorted(weights, key=lambda part: (len(part), part))
    return within_limits({tuple(domain.names[column] for column in part): weights[part] for part in order})


def telling(domain: Domain, columns: Columns) -> Columns:
    """Those of more than one code.

    Args:
        domain: Whose columns they are.
        columns: In its order.
    """
    return tuple(name for name, size in zip(columns, domain.shape(columns), strict=True) if size > 1)


def number_of(domain: Domain, marginals: Iterable[Columns]) -> int:
    """How many candidates there are at most, without making them.

    Args:
        domain: Whose columns they are.
        marginals: Tables.
    """
    widths = [len(telling(domain, columns)) for columns in marginals]
    every = len(telling(domain, domain.names))
    return min(sum(_parts(width, WIDEST) for width in widths), _parts(every, min(max(widths), WIDEST)))


def check_number(candidates: int) -> None:
    """Refuse more candidates than a round can choose among in good time; before anything is paid.

    Args:
        candidates: How many there are.
    """
    if candidates > MOST_CANDIDATES:
        raise TooLarge(
            f"There would be {candidates:,} tables to choose among, more than {MOST_CANDIDATES:,}.",
            next_step="Ask for tables over fewer columns, or select fewer columns.",
        )


def _parts(columns: int, widest: int) -> int:
    return sum(math.comb(columns, k) for k in range(1, widest + 1))


def within_limits(weights: Mapping[Columns, int]) -> dict[Columns, int]:
    """The same weights, in proportion, none larger than a choice takes.

    Args:
        weights: Whole and positive.
    """
    largest = max(weights.values(), default=0)
    if largest <= LARGEST_WEIGHT:
        return dict(weights)
    return {columns: -(-weight * LARGEST_WEIGHT // largest) for columns, weight in weights.items()}


def is_drowned(cells: int, noise: float, rows: float) -> bool:
    """Whether noise is larger than what a table can say: no two tables of so many rows are further apart than twice these.

    Args:
        cells: Of the table.
        noise: The expected size of the noise in a cell.
        rows: How many rows there are, about.
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
    """Those whose noise is not larger than what it would say, and whose model is not too large.

    Args:
        candidates: Tables.
        sizes: How many codes each column has.
        measured: Tables that the model has already.
        noise: The expected size of the noise in a cell.
        rows: How many rows there are, about.
        cells: How many numbers the model may have.
    """
    around = neighbours_of(measured, len(sizes))
    known: dict[tuple[int, ...], bool] = {tuple(around): True}
    kept = []
    for columns in candidates:
        shape = [sizes[column] for column in columns]
        if min(shape) == 1 or is_drowned(math.prod(shape), noise, rows):  # a column of one code says nothing
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
