"""The distance of synthetic from real rows: the mean L1 distance of tables over one, two and three columns, with two
baselines.

A distance is the sum of absolute differences of shares, from 0 to 2. The baselines are not private: independent
columns, which is the best that one-column tables can do, and a bootstrap sample of the real rows, which shows the
sampling error.
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
"""Most tables of one width, evenly spread among all; and most columns, of which the first are taken."""


def distances(real: CountedRows, synthetic: CountedRows, is_over: Callable[[], bool]) -> list[dict[str, Any]]:
    """Return the mean distances for each width, and the number of tables.

    Args:
        real: Protected rows.
        synthetic: Synthetic rows.
        is_over: Whether time is up. At least one table of each width is compared.
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
    """Choose tables of a width, in an order whose every prefix is evenly spread; and return the number of all tables.

    Args:
        domain: Has the columns.
        width: Number of columns of each table.
    """
    names = domain.names[:MOST_COLUMNS]
    every = [columns for columns in itertools.combinations(names, width) if domain.cells(columns) <= MOST_CELLS]
    spread = sorted(range(len(every)), key=lambda at: (at * (math.sqrt(5) - 1) / 2) % 1)
    return [every[at] for at in spread[:MOST_TABLES]], math.comb(len(domain.names), width)


def distance(shares: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the L1 distance.

    Args:
        shares: One table of shares.
        others: The other table.
    """
    return float(np.abs(shares - others).sum())


def independent(real: CountedRows, columns: Columns) -> NDArray[np.float64]:
    """Return the table of shares that independent columns would have.

    Args:
        real: Protected rows.
        columns: Columns of the table.
    """
    return reduce(np.multiply.outer, [real.shares((name,)) for name in columns])


def resampled(counts: Counts) -> float:
    """Return the expected distance between a table and that of a bootstrap sample of the same size.

    Each cell is binomial. By de Moivre's formula its mean absolute deviation from an integer mean c is 2c(1 −
    c/n)·P(c).

    Args:
        counts: The table.
    """
    total = int(counts.sum())
    values, often = np.unique(counts, return_counts=True)
    sums = [times * _mean_distance(int(count), total) for count, times in zip(values, often, strict=True)]
    return float(sum(sums) / max(total, 1))


def _mean_distance(count: int, total: int) -> float:
    """Return the mean absolute deviation of a binomial variable of `total` trials with mean `count`."""
    if count in (0, total):
        return 0.0
    share, others = count / total, total - count
    ways = math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(others + 1)
    return 2 * count * (1 - share) * math.exp(ways + count * math.log(share) + others * math.log1p(-share))
