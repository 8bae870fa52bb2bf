"""AIM: measure, round by round, the table that the model so far is most wrong about.

Citation: McKenna, Mullins, Sheldon, Miklau 2022 (arXiv:2201.12677). Different here: one-column tables share their part by size; rare values and thin
bins are merged before the rounds; tables that noise would drown are no candidates; small data get one-column tables only; and the choice is priced
for scores that are not monotone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from discreet.answering.domain import Columns, Domain
from discreet.answering.measurer import GRID, Chosen, Measured, Measurer, on_grid
from discreet.synthetic.candidates import fitting_in, weighted
from discreet.synthetic.codings import merged
from discreet.synthetic.first import measure_each
from discreet.synthetic.methods import Model
from discreet.synthetic.model import Start, begun, coarser, evidence_of, model_of
from discreet.synthetic.trees import Columns as Numbers

FIRST = Fraction(1, 20)
"""Of the budget, at least, for the one-column tables."""
ROUNDS_PER_COLUMN = range(2, 9)
"""How many rounds the rest would pay for if none were dearer than the first, though most are: sqrt(signal) / 8 of them, within these."""
MEASURING = Fraction(9, 10)
"""Of a round, for its table; what is left chooses it."""
LEAST_GROUP = 10
"""A group of codes has at least so many rows for each row of the first round's noise."""
LEAST_SIGNAL = 150
"""Of rows times sqrt(rho): below it, tables of several columns say less than they cost. Above, one-column tables get sqrt(this / signal) of the budget."""
MOST_ALONE = Fraction(4, 5)
"""Of the budget: where one-column tables would get more, they get all."""
MOST_CELLS = 125_000
"""Of a model."""


class Aim:
    """The default."""

    def measure(self, measurer: Measurer, wanted: Mapping[Columns, int]) -> None:
        """Spend the budget on one-column tables, then on rounds.

        Args:
            measurer: Through which rows are seen.
            wanted: Tables the model shall be good at, with their weights.
        """
        measure_each(measurer, measurer.budget * FIRST)
        rho = float(measurer.budget) ** 2 / 2 if measurer.is_pure else float(measurer.budget)
        signal = round(Start.of(measurer.domain, measurer.looks).total * math.sqrt(rho))
        alone = Fraction(math.isqrt(10**6 * LEAST_SIGNAL // max(signal, LEAST_SIGNAL)), 1000)
        if alone > MOST_ALONE or len(measurer.domain.columns) == 1:
            measure_each(measurer, measurer.left)
            return
        if alone > FIRST:
            measure_each(measurer, measurer.budget * (alone - FIRST))
        rounds = min(max(math.isqrt(signal) // 8, ROUNDS_PER_COLUMN[0]), ROUNDS_PER_COLUMN[-1])
        Rounds(measurer, weighted(measurer.domain, wanted), rounds * len(measurer.domain.columns)).run()

    def model(self, domain: Domain, looks: Sequence[Measured | Chosen]) -> Model:
        """What follows from the looks.

        Args:
            domain: What is public.
            looks: Those of a finished run.
        """
        return model_of(domain, looks)


class Rounds:
    """A run after its one-column tables: codes merged, a model under way, what the next round may spend."""

    def __init__(self, measurer: Measurer, weights: dict[Numbers, int], rounds: int) -> None:
        domain, start = measurer.domain, Start.of(measurer.domain, measurer.looks)
        self._names, self._weights, self._all_codes = domain.names, weights, measurer
        self._share = measurer.left / rounds
        least = LEAST_GROUP * self._noise(measurer)
        groups = {
            column.name: tuple(int(group) for group in merged(counts, least=least, is_ordered=column.is_ordered))
            for column, counts in zip(domain.columns, start.counts, strict=True)
        }
        groups = {name: codes for name, codes in groups.items() if max(codes) + 1 < len(codes)}
        self._measurer = measurer.merged(groups) if groups else measurer
        self._domain, self._rows = self._measurer.domain, start.total
        self._codings = start.codings(groups)
        self._fit = begun(domain, start, self._codings, measurer.looks)
        self._beliefs = self._fit.solved()

    def run(self) -> None:
        """Round after round, until all is spent."""
        is_last = False
        while not is_last:
            is_last = self._measurer.left < 2 * self._share
            if is_last:
                self._share = self._measurer.left
            columns = self._chosen()
            if columns is None:
                measure_each(self._all_codes, self._all_codes.left)
                return
            look = self._measured(columns, self._measurer.left if is_last else self._share * MEASURING)
            if not is_last:
                self._learn(columns, look)

    def _noise(self, measurer: Measurer) -> float:
        """The expected size of a round's noise in a cell, in rows."""
        mechanism = measurer.noise(self._names[:1], self._share * MEASURING)
        return math.sqrt(2 / math.pi * Measured(self._names[:1], np.zeros(1, np.int64), mechanism).variance)

    def _chosen(self) -> Numbers | None:
        sizes, noise = self._fit.sizes, self._noise(self._measurer)
        spent = 1 - (self._measurer.left - self._share) / self._measurer.budget
        candidates = fitting_in(
            self._weights, sizes, self._fit.evidence, noise=noise, rows=self._rows, cells=float(MOST_CELLS * spent)
        )
        if not candidates:
            return None
        names = {self._named(columns): columns for columns in candidates}
        weights = {name: self._weights[columns] for name, columns in names.items()}
        estimates = {name: on_grid(self._beliefs.table(columns) * self._rows) for name, columns in names.items()}
        penalties = {name: round(noise * estimate.size * GRID) for name, estimate in estimates.items()}
        choice = self._measurer.choice(weights.values(), self._share * (1 - MEASURING))
        return names[self._measurer.worst(estimates, weights, penalties, choice)]

    def _measured(self, columns: Numbers, amount: Fraction) -> Measured:
        name = self._named(columns)
        return self._measurer.noisy(name, self._measurer.noise(name, amount))

    def _learn(self, columns: Numbers, look: Measured) -> None:
        """Fit a table, and make the next round dearer where it taught less than its noise."""
        before = self._beliefs.table(columns)
        self._fit.add(coarser(evidence_of(self._domain, look), self._codings))
        self._beliefs = self._fit.solved()
        learned = self._rows * float(np.abs(self._beliefs.table(columns) - before).sum())
        if round(learned) <= round(self._noise(self._measurer) * look.values.size):
            self._share *= 2 if self._measurer.is_pure else 4

    def _named(self, columns: Numbers) -> Columns:
        return tuple(self._names[column] for column in columns)
