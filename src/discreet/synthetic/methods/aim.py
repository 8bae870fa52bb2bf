"""AIM: measure, round by round, the table that the model so far is most wrong about.

Citation: McKenna, Mullins, Sheldon, Miklau 2022 (arXiv:2201.12677). Different here: one-column tables share
their part by size; rare values and thin bins are merged before the rounds; tables whose noise exceeds their content
are not candidates; small data get one-column tables only; and the choice is charged for scores that are not monotone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import Measured, Measurer, TableMeasurer
from discreet.mechanisms import Gaussian, Laplace
from discreet.synthetic.methods.candidates import fitting_in, telling, weighted
from discreet.synthetic.methods.method_state import Progress, penalties_of
from discreet.synthetic.methods.one_column_tables import measure_each
from discreet.synthetic.methods.reused_tables import Known
from discreet.synthetic.models.junction_trees import Columns as Numbers
from discreet.synthetic.models.synthetic_model import OfTables, Start, noise_in_a_cell, reused_groups

FIRST = Fraction(1, 20)
"""Least part of the budget for the one-column tables."""
LEAST_SIGNAL = 150
"""Unit of the signal, rows / L2 sensitivity * sqrt(rho): one-column tables get sqrt(LEAST_SIGNAL / signal) of the
budget.
"""
MOST_ALONE = Fraction(4, 5)
"""If the one-column tables would get more of the budget than this, they get all of it: wider tables are not worth their
cost."""
ROUNDS_PER_COLUMN = range(2, 9)
"""Planned rounds per column: sqrt(signal) / 8 within this range, if every round cost as little as the first."""
MEASURING = Fraction(9, 10)
"""Part of a round's budget for its table. The rest is for choosing the table."""
MOST_CELLS = 125_000
"""Largest model, in cells."""


class Aim(OfTables):
    """The default method: measure columns first, then the tables with the largest error."""

    version = 2
    least_group = 10
    is_penalised = True

    def measure(self, measurer: Measurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on one-column tables, then on rounds."""
        known = Known.of(measurer)
        if share := self._alone(measurer, known):
            weights = self.weights(measurer.domain, marginals)
            Rounds(measurer, weights, share, self.least_group, known.amount).run()

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:  # noqa: ARG002
        """Return True: the model can use every table of an earlier release."""
        return True

    def measure_before_choices(
        self,
        measurer: TableMeasurer,
        marginals: Mapping[Columns, int],  # noqa: ARG002
    ) -> Gaussian | Laplace | None:
        """Measure every column.

        Return the noise of the first round, or None without rounds; later rounds cost as much or more.
        """
        share = self._alone(measurer, Known.of(measurer))
        return measurer.noise((), share * MEASURING) if share else None

    def _alone(self, measurer: TableMeasurer, known: Known) -> Fraction:
        """Measure the columns that earlier releases do not cover.

        Return the budget of the first round, 0 without rounds.
        """
        domain, budget = measurer.domain, measurer.budget
        first = Fraction(0) if known.has_every_column and known.alone >= budget * FIRST else budget * FIRST
        if first:
            measure_each(measurer, first)
        whole = budget + known.amount
        rho = float(whole) ** 2 / 2 if measurer.is_pure else float(whole)
        rows = Start.of(domain, measurer.measurements).total / float(domain.l2)
        signal = max(round(rows * math.sqrt(rho)), LEAST_SIGNAL)
        alone = Fraction(math.isqrt(10**6 * LEAST_SIGNAL // signal), 1000) * whole - known.alone
        if alone > MOST_ALONE * budget or len(domain.columns) == 1:
            measure_each(measurer, measurer.left)
            return Fraction(0)
        if alone - first >= budget / 1000:
            measure_each(measurer, alone - first)
        rounds = min(max(math.isqrt(signal) // 8, ROUNDS_PER_COLUMN[0]), ROUNDS_PER_COLUMN[-1])
        columns = max(len(telling(domain, domain.names)), 1)
        return min((measurer.left + known.amount - known.alone) / (rounds * columns), measurer.left / 2)

    def rounds(self, domain: Domain) -> int:
        """Return half of the largest possible number of rounds: uninformative rounds make later ones more expensive."""
        return ROUNDS_PER_COLUMN[-1] * len(domain.columns) // 2

    def weights(self, domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:
        """Return the candidate tables with their weights."""
        return weighted(domain, marginals)


class Rounds:
    """The rounds after the one-column tables.

    Args:
        measurer: Measures tables over all codes, none merged.
        weights: Weight of each candidate table.
        share: Budget of the first round.
        least_group: Smallest group of merged codes, in multiples of the noise of a cell.
        known: Value of the reused tables, in units of the budget.
    """

    def __init__(
        self,
        measurer: Measurer,
        weights: dict[Columns, int],
        share: Fraction,
        least_group: float,
        known: Fraction = Fraction(0),
    ) -> None:
        self._all_codes, self._weights, self._share, self._known = measurer, weights, share, known
        found = Start.of(measurer.domain, measurer.measurements).groups(least_group * self._noise(measurer))
        groups = {**found, **reused_groups(measurer.measurements)}
        self._measurer = measurer.merged(groups) if groups else measurer
        self._progress = Progress(measurer.domain, measurer.measurements, groups)
        places = {name: place for place, name in enumerate(measurer.domain.names)}
        self._candidates = {tuple(places[name] for name in columns): columns for columns in weights}

    def run(self) -> None:
        """Run rounds until the budget is spent."""
        is_last = False
        while not is_last:
            is_last = self._measurer.left < 2 * self._share
            if is_last:
                self._share = self._measurer.left
            numbers = self._chosen()
            if numbers is None:
                measure_each(self._all_codes, self._all_codes.left)
                return
            columns = self._candidates[numbers]
            amount = self._measurer.left if is_last else self._share * MEASURING
            measurement = self._measurer.noisy(columns, self._measurer.noise(columns, amount))
            if not is_last:
                self._learn(numbers, measurement)

    def _noise(self, measurer: Measurer) -> float:
        """Return the expected absolute noise of a cell in this round, in rows."""
        column = measurer.domain.names[:1]
        return noise_in_a_cell(measurer.noise(column, self._share * MEASURING))

    def _chosen(self) -> Numbers | None:
        noise = self._noise(self._measurer)
        spent = 1 - (self._measurer.left - self._share) / (self._measurer.budget + self._known)
        progress = self._progress
        candidates = fitting_in(
            self._candidates,
            progress.sizes,
            progress.fit.evidence,
            noise=noise,
            rows=progress.rows,
            cells=float(MOST_CELLS * spent),
        )
        if not candidates:
            return None
        names = {self._candidates[numbers]: numbers for numbers in candidates}
        estimates = progress.estimates(names)
        weights = {columns: self._weights[columns] for columns in names}
        choice = self._measurer.choice(weights.values(), self._share * (1 - MEASURING))
        return names[self._measurer.worst(estimates, weights, penalties_of(estimates, noise), choice)]

    def _learn(self, numbers: Numbers, measurement: Measured) -> None:
        """Add a table to the model, and raise the next round's budget if the table changed the model by less than its
        noise.
        """
        before = self._progress.expected(numbers)
        self._progress.take(measurement)
        learned = float(np.abs(self._progress.expected(numbers) - before).sum())
        if round(learned) <= round(noise_in_a_cell(measurement.mechanism) * measurement.values.size):
            self._share *= 2 if self._measurer.is_pure else 4
