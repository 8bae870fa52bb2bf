"""What is learned from synthetic rows, tried on real ones that were held out, beside what is learned from the other real ones.

The model is naive Bayes, from tables of a column with each other one: it is learned and tried without a row leaving the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.comparing.counted_rows import CountedRows
from discreet.comparing.distances import MOST_COLUMNS
from discreet.engines.tables.residual_sums import Score
from discreet.measurement.domain import MOST_CELLS, Domain

MOST_CLASSES, MOST_TARGETS = 20, 8
"""Values of a column that is foretold from the others; and how many such columns are tried."""
_STEPS = 2**20
"""Scores are whole: logarithms times this."""
_SMOOTHING = 0.5
"""Added to every count, so that what was never seen is not impossible."""


def trained(
    known: CountedRows, synthetic: CountedRows, held_out: CountedRows, is_over: Callable[[], bool]
) -> list[dict[str, Any]]:
    """For columns of few values, the share of held-out rows whose value is foretold: learned from real rows, from synthetic ones, and by always
    saying the most frequent value.

    Args:
        known: Real rows that are not held out.
        synthetic: Rows of nobody.
        held_out: Real rows.
        is_over: Whether time is up.
    """
    found: list[dict[str, Any]] = []
    for target in _targets(known.domain) if held_out.number else []:
        most_frequent = int(np.argmax(known.counts((target,))))
        found.append(
            {
                "column": target,
                "real": _accuracy(known, held_out, target),
                "synthetic": _accuracy(synthetic, held_out, target),
                "guess": float(held_out.shares((target,))[most_frequent]),
                "rows": held_out.number,
            }
        )
        if is_over():
            break
    return found


def _targets(domain: Domain) -> list[str]:
    few = [column.name for column in domain.columns[:MOST_COLUMNS] if 2 <= column.size <= MOST_CLASSES]
    return few[:MOST_TARGETS] if len(domain.columns) > 1 else []


def _accuracy(rows: CountedRows, held_out: CountedRows, target: str) -> float:
    """Of what these rows teach."""
    decided = held_out.decided(_scores(rows, target), target)
    return float(np.trace(decided) / held_out.number)


def _scores(rows: CountedRows, target: str) -> list[Score]:
    """How likely each value is, by the other columns: a sum of logarithms."""
    domain = rows.domain
    by_column = {}
    for at, name in enumerate(domain.names[:MOST_COLUMNS]):
        columns = domain.ordered((name, target))
        if name != target and domain.cells(columns) <= MOST_CELLS:
            counts = np.moveaxis(rows.counts(columns), columns.index(target), 0) + _SMOOTHING
            by_column[at] = np.log(counts / counts.sum(axis=1, keepdims=True))
    first = rows.counts((target,)) + _SMOOTHING
    constants = _whole(np.log(first / first.sum()))
    return [
        Score({at: tuple(_whole(table[value])) for at, table in by_column.items()}, constants[value])
        for value in range(len(constants))
    ]


def _whole(logarithms: Any) -> list[int]:
    return [int(each) for each in np.rint(logarithms * _STEPS)]
