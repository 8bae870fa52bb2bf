"""Real and synthetic shares of a column, and of a pair of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.comparing.counted_rows import CountedRows
from discreet.measurement.domain import Column, Columns, label_text, range_text

MOST_SIDE = 24
"""Most groups of neighbouring values per axis of a pair."""


def overlay(column: Column, real: CountedRows, synthetic: CountedRows) -> dict[str, Any]:
    """Return the values of a column with both shares.

    Args:
        column: Of the domain.
        real: Protected rows.
        synthetic: Synthetic rows.
    """
    both = zip(column.labels, real.shares((column.name,)), synthetic.shares((column.name,)), strict=True)
    values = [{"label": label_text(label), "real": float(one), "synthetic": float(other)} for label, one, other in both]
    return {"column": column.name, "values": values}


def pair_of(columns: Columns, real: CountedRows, synthetic: CountedRows) -> dict[str, Any]:
    """Return the table of two columns with both shares; many values are grouped with their neighbours.

    Args:
        columns: Two, in the order of the domain.
        real: Protected rows.
        synthetic: Synthetic rows.
    """
    sides = [real.domain.column(name) for name in columns]
    firsts = [_firsts(side.size) for side in sides]
    return {
        "columns": list(columns),
        "labels": [_texts(side, starts) for side, starts in zip(sides, firsts, strict=True)],
        "real": _grouped(real.shares(columns), firsts),
        "synthetic": _grouped(synthetic.shares(columns), firsts),
    }


def _firsts(size: int) -> list[int]:
    """Return the first code of each group."""
    count = min(size, MOST_SIDE)
    return [at * size // count for at in range(count)]


def _texts(column: Column, firsts: list[int]) -> list[str]:
    ends = [*firsts[1:], column.size]
    return [range_text(column.labels[first], column.labels[end - 1]) for first, end in zip(firsts, ends, strict=True)]


def _grouped(shares: NDArray[np.float64], firsts: list[list[int]]) -> list[list[float]]:
    for axis, starts in enumerate(firsts):
        shares = np.add.reduceat(shares, starts, axis=axis)
    return [[float(share) for share in line] for line in shares]
