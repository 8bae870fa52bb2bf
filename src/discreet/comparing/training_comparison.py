"""Classifiers trained on synthetic and on real rows, both tested on real rows that were held out.

The classifier is naive Bayes, from tables of two columns: no row leaves the engine for training or testing.
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
"""Most values of a target column, and most target columns."""
_STEPS = 2**20
"""Scores are integers: logarithms times this."""
_SMOOTHING = 0.5
"""Added to every count, so that an unseen value has a positive probability."""


def trained(
    known: CountedRows, synthetic: CountedRows, held_out: CountedRows, is_over: Callable[[], bool]
) -> list[dict[str, Any]]:
    """Return, for columns with few values, the accuracy on held-out rows.

    It is that of a model of real rows, of a model of synthetic rows, and of always guessing the most frequent value.

    Args:
        known: Real rows that are not held out.
        synthetic: Synthetic rows.
        held_out: Real rows for testing.
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
    """Train on these rows and return the accuracy on the held-out rows."""
    decided = held_out.decided(_scores(rows, target), target)
    return float(np.trace(decided) / held_out.number)


def _scores(rows: CountedRows, target: str) -> list[Score]:
    """Return the score of each value, from the other columns: a sum of log-probabilities."""
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
