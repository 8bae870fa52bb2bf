"""How far synthetic rows are from real ones: the mean distance of tables over one, two and three columns, beside what others would reach.

A distance is the sum of all differences of shares, from 0 to 2. Two baselines need no privacy at all: columns taken as independent, which is what
one-column tables alone can do; and as many real rows drawn again, which is what chance does to a table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.comparing.counted_rows import CountedRows
from discreet.engines.tables.exact_tables import Counts
from discreet.measurement.domain import MOST_CELLS, Columns, Domain

WIDTHS = (1, 2, 3)
MOST_TABLES, MOST_COLUMNS = 100, 32
"""Of one width, evenly among all; and of the rows, whose first columns are taken where there are more."""


def distances(real: CountedRows, synthetic: CountedRows, is_over: Callable[[], bool]) -> list[dict[str, Any]]:
    """For each width the mean distances, of how many tables.

    Args:
        real: People's rows.
        synthetic: Rows of nobody.
        is_over: Whether time is up: what was compared until then counts, and one table of a width at least.
    """
    return [_mean(real, synthetic, width, is_over) for width in WIDTHS if tables_of(real.domain, width)[0]]


def _mean(real: CountedRows, synthetic: CountedRows, width: int, is_over: Callable[[], bool]) -> dict[str, Any]:
    chosen, every = tables_of(real.domain, width)
    found: list[tuple[float, float, float]] = []
    for columns in chosen:
        shares = real.shares(columns)
        found.append(
            (
                distance(shares, synthetic.shares(columns)),
                distance(shares, independent(real, columns)),
                resampled(real.counts(columns)),
            )
        )
        if is_over():
            break
    means = [float(mean) for mean in np.mean(found, axis=0)]
    names = ("synthetic", "independent", "resampled")
    return {"width": width, "tables": len(found), "of": every, **dict(zip(names, means, strict=True))}


def tables_of(domain: Domain, width: int) -> tuple[list[Columns], int]:
    """Tables over so many columns, evenly among all that are not too large, in an order that any beginning of is spread out; and how many there are.

    Args:
        domain: Its columns.
        width: How many each table is over.
    """
    names = domain.names[:MOST_COLUMNS]
    every = [columns for columns in itertools.combinations(names, width) if domain.cells(columns) <= MOST_CELLS]
    spread = sorted(range(len(every)), key=lambda at: (at * (math.sqrt(5) - 1) / 2) % 1)
    return [every[at] for at in spread[:MOST_TABLES]], math.comb(len(domain.names), width)


def distance(shares: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """The sum of all differences.

    Args:
        shares: Of one kind of rows.
        others: Of the other.
    """
    return float(np.abs(shares - others).sum())


def independent(real: CountedRows, columns: Columns) -> NDArray[np.float64]:
    """The table as it would be if columns had nothing to do with each other.

    Args:
        real: People's rows.
        columns: Of the table.
    """
    return reduce(np.multiply.outer, [real.shares((name,)) for name in columns])


def resampled(counts: Counts) -> float:
    """The expected distance between a table and that of as many rows drawn from it with replacement.

    Each cell is then binomial, and by de Moivre's formula its mean distance from a whole mean c is 2c(1 − c/n)·P(c).

    Args:
        counts: The table.
    """
    total = int(counts.sum())
    values, often = np.unique(counts, return_counts=True)
    sums = [times * _mean_distance(int(count), total) for count, times in zip(values, often, strict=True)]
    return float(sum(sums) / max(total, 1))


def _mean_distance(count: int, total: int) -> float:
    """Of a binomial variable of `total` trials from its mean `count`."""
    if count in (0, total):
        return 0.0
    share, others = count / total, total - count
    ways = math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(others + 1)
    return 2 * count * (1 - share) * math.exp(ways + count * math.log(share) + others * math.log1p(-share))
