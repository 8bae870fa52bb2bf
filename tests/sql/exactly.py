"""The answer that exact integers would give, to hold it against DuckDB's own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from discreet.algebra.query import MeasureKind
from discreet.core.loss import Loss
from discreet.postprocessing.noisy_groups import ARROW, Noisy
from discreet.results.answer import Answer, stored_form
from tests.sql.checking import every_key, groups, people


def without_noise(plan, exact):
    """Every group that is declared, or in the data; a quantile is its first candidate."""
    noisy = [
        [_noisy(query, grouping, rows) for grouping, rows in zip(sets, results, strict=True)]
        for query, sets, results in zip(plan.queries, plan.grouping_sets, exact, strict=True)
    ]
    return Answer(plan, stored_form(noisy), loss=Loss(1), replayed=False, receipt="")


def _noisy(query, grouping, rows):
    by_key = groups(rows)
    keys = sorted(people(rows), key=repr) if grouping.selection else every_key(query, grouping.keys)
    arrays = tuple(
        pa.array([key[at] for key in keys], ARROW[query.keys[index].expression.properties.type])
        for at, index in enumerate(grouping.keys)
    )
    measures = []
    for index, measure in enumerate(query.measures):
        draws = 3 if measure.kind is MeasureKind.QUANTILE else 1
        values = [[0 if draws == 3 or key not in by_key else by_key[key][index]] * draws for key in keys]
        measures.append(np.array(values, np.int64).reshape(len(keys), draws))
    return Noisy(arrays, tuple(measures))
