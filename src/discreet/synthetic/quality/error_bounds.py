"""Error bounds of a model for any tables, measured or not. All bounds hold together with one confidence.

The noise of a measured table is independent, so the exact table is within the noise's quantile. By the utility
guarantee of the exponential mechanism, a candidate that was not chosen scored little more than the chosen table. So in
every round, by a union bound over all statements,

    w_A (‖exact_A − e_A‖ − b_A)  ≤  w_t (‖y_t − e_t‖ + quantile − b_t) + (2Δ / ε) ln(candidates / β)

where t was chosen, e are the estimates of that round and y_t is what was then measured. The distance of
the final model from e_A is added. The error of a part of a table is at most that of the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.exact import Number, exact, read_level
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import GRID, Chosen, Counts, Measured, MeasurementResult
from discreet.synthetic.methods.method import Method
from discreet.synthetic.methods.method_state import Progress, penalties_of
from discreet.synthetic.models.beliefs import Table
from discreet.synthetic.models.synthetic_model import TreeModel, grouped, groups_in, noise_in_a_cell, numbers_of
from discreet.synthetic.quality.table_tails import noise_quantile


@dataclass(frozen=True, slots=True)
class Bound:
    """Bound of one table: the model's counts and the exact ones differ by at most `rows`, summed over all cells.

    Where the run merged codes, cells are over the groups of codes.
    """

    columns: Columns
    rows: float
    share: float
    """The same as a share of the estimated row count. The largest possible error is about 2."""
    is_measured: bool


@dataclass(frozen=True, slots=True)
class _Round:
    """A choice, and the measurement of the chosen table."""

    chosen: Chosen
    estimates: Mapping[Columns, Counts]
    penalties: Mapping[Columns, int]
    measurement: Measured


class Bounds:
    """Error bounds that follow from the measurements of one run."""

    def __init__(
        self,
        model: TreeModel,
        measurements: Sequence[MeasurementResult],
        method: Method,
        marginals: Mapping[Columns, int],
    ) -> None:
        self._model, self._weights = model, method.weights(model.domain, marginals)
        self._measured = [
            measurement for measurement in measurements if isinstance(measurement, Measured) and measurement.columns
        ]
        self._rounds = _rounds(model.domain, measurements, method)
        reused = sum(measurement.is_reused for measurement in self._measured)
        taken = len(self._measured) + len(self._rounds) - reused
        # The number of measurements taken depends on sampled values; the largest possible number does not.
        self._statements = max(1, taken, method.max_measurements(model.domain)) + reused
        self._now: dict[Columns, Table] = {}

    def at(self, level: Number, tables: Sequence[Columns]) -> list[Bound]:
        """Return the smallest valid bound of each table. All hold together with probability `level`."""
        beta = float(1 - read_level(level)) / self._statements
        rows: dict[Columns, float] = {}
        quantiles = {
            id(measurement): noise_quantile(measurement.mechanism, measurement.values.size, beta)
            for measurement in self._measured
        }
        for measurement in self._measured:
            self._note(rows, measurement.columns, self._off(measurement) + quantiles[id(measurement)])
        for one_round in self._rounds:
            self._note_round(rows, one_round, quantiles[id(one_round.measurement)], beta)
        measured = {measurement.columns for measurement in self._measured}
        total = self._model.total
        # The row count is at most the sum of a measured table plus its noise quantile, which bounds the error of any
        # table.
        most = min(
            (float(measurement.values.sum()) + quantiles[id(measurement)] for measurement in self._measured),
            default=math.inf,
        )
        found = []
        for columns in tables:
            wider = [least for known, least in rows.items() if set(columns) <= set(known)]
            least = min([*wider, total + most])
            found.append(Bound(columns, least, least / total, columns in measured))
        return found

    def _note(self, rows: dict[Columns, float], columns: Columns, least: float) -> None:
        rows[columns] = min(least, rows.get(columns, math.inf))

    def _note_round(self, rows: dict[Columns, float], one_round: _Round, quantile: float, beta: float) -> None:
        chosen, estimates, penalties = one_round.chosen, one_round.estimates, one_round.penalties
        name = chosen.columns
        apart = float(np.abs(one_round.measurement.values - estimates[name] / GRID).sum())
        best = self._weights[name] * (apart + quantile - penalties[name] / GRID)
        luck = float(2 * exact(chosen.mechanism.sensitivity) / exact(chosen.mechanism.epsilon)) / GRID
        best += luck * math.log(len(chosen.candidates) / beta)
        for columns, estimate in estimates.items():
            moved = float(np.abs(estimate / GRID - self._final(columns)).sum())
            self._note(rows, columns, penalties[columns] / GRID + best / self._weights[columns] + moved)

    def _off(self, measurement: Measured) -> float:
        """Return the L1 distance of the final model from a measured table, over the groups of the model."""
        counts = grouped(self._model.domain, measurement, self._model.codings).counts
        return float(np.abs(counts - self._final(measurement.columns)).sum())

    def _final(self, columns: Columns) -> Table:
        if columns not in self._now:
            numbers = numbers_of(self._model.domain, columns)
            self._now[columns] = self._model.beliefs.table(numbers) * self._model.total
        return self._now[columns]


def _rounds(domain: Domain, measurements: Sequence[MeasurementResult], method: Method) -> list[_Round]:
    """Replay the models of the run, to find the estimates behind each choice."""
    first = next(
        (place for place, measurement in enumerate(measurements) if isinstance(measurement, Chosen)), len(measurements)
    )
    progress = Progress(domain, measurements[:first], groups_in(domain, measurements, method.least_group))
    rounds = []
    for place, measurement in enumerate(measurements[first:], first):
        if isinstance(measurement, Measured):
            progress.take(measurement)
        if not isinstance(measurement, Chosen):
            continue
        followed = (
            later
            for later in measurements[place:]
            if isinstance(later, Measured) and later.columns == measurement.columns
        )
        if after := next(followed, None):
            estimates = progress.estimates(measurement.candidates)
            noise = noise_in_a_cell(after.mechanism) if method.is_penalised else 0.0
            rounds.append(_Round(measurement, estimates, penalties_of(estimates, noise), after))
    return rounds
