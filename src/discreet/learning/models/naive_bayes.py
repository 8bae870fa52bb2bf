"""Naive Bayes from noisy tables: how often each class has each value of each column."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.learning.data.features import name_of
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Floats
from discreet.learning.models.product_moments import label_name
from discreet.learning.runs.measurement_plan import NoisyLook
from discreet.learning.runs.model_card import Learned
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.feature_vectors import Deciding, SumMeasurer
from discreet.measurement.measurer import Measured
from discreet.measurement.transcript import Transcript, measurements_in
from discreet.mechanisms import Gaussian, Laplace


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayes(Classifier):
    """Class by class a table for each column, as if columns were independent within a class. Pure where it is paid for in epsilon.

    ± of a logarithm is what the noise of its counts does to it.
    """

    prior: Floats = field(init=False)
    likelihoods: dict[str, Floats] = field(init=False)
    """Logarithms: a row for each code, a column for each class."""
    prior_deviations: Floats = field(init=False)
    deviations: dict[str, Floats] = field(init=False)

    bins = 16

    def _tables(self, domain: Domain) -> list[Columns]:
        return [domain.ordered((name_of(feature), self.target)) for feature in self.features]

    def looks(self, measurer: SumMeasurer) -> list[NoisyLook[Gaussian | Laplace]]:
        tables = self._tables(measurer.domain)
        shares = measurer.shares([1] * len(tables))
        noises = [measurer.noise(columns, share) for columns, share in zip(tables, shares, strict=True)]
        return [NoisyLook("table", noise.size, noise) for noise in noises]

    def measure(self, measurer: SumMeasurer) -> None:
        for columns, look in zip(self._tables(measurer.domain), self.looks(measurer), strict=True):
            measurer.noisy(columns, look.noise)

    def check(self, domain: Domain) -> None:
        super().check(domain)
        for columns in self._tables(domain):
            domain.check(columns)

    def conclude(self, _domain: Domain, transcript: Transcript) -> None:
        tables = [look for look in measurements_in(transcript.steps) if isinstance(look, Measured)]
        by_class = [self._by_class(look) for look in tables]
        totals = np.mean([table.sum(axis=0) for table in by_class], axis=0)
        rows = np.maximum(totals, 1.0)
        of_totals = math.sqrt(
            sum(look.variance * len(table) for look, table in zip(tables, by_class, strict=True))
        ) / len(tables)
        self.prior, self.prior_deviations = np.log(rows / rows.sum()), _of_shares(rows, of_totals)
        self.likelihoods, self.deviations = {}, {}
        for feature, look, table in zip(self.features, tables, by_class, strict=True):
            deviation = math.sqrt(look.variance)
            counts = np.maximum(table, deviation / 4 + 0.5)  # below what noise hides, nothing is known to be rare
            self.likelihoods[name_of(feature)] = np.log(counts / counts.sum(axis=0))
            self.deviations[name_of(feature)] = _of_shares(counts, deviation)

    def _by_class(self, look: Measured) -> Floats:
        values = look.values.astype(np.float64)
        return values.T if look.columns[0] == self.target else values

    @property
    def learned(self) -> list[Learned]:
        numbers = [
            Learned(f"log P({label})", float(value), float(deviation))
            for label, value, deviation in zip(self.classes_, self.prior, self.prior_deviations, strict=True)
        ]
        for name, table in self.likelihoods.items():
            cells = [label_name(name, label) for label in self.domain.column(name).labels]
            for at, cell in enumerate(cells):
                numbers += [
                    Learned(f"log P({cell} | {label})", float(table[at, k]), float(self.deviations[name][at, k]))
                    for k, label in enumerate(self.classes_)
                ]
        return numbers

    def predict_proba(self, rows: Any) -> Floats:
        scores = self.prior + self._by_column(self.likelihoods, self.codes(rows))
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def deciding(self) -> Deciding:
        return self._by_scores(self.prior, self.likelihoods)


def _of_shares(counts: Floats, deviation: float) -> Floats:
    """What noise of that deviation on every count does to the logarithms of their shares of the sum, down each column: to first order."""
    total = counts.sum(axis=0)
    return deviation * np.sqrt((1 / counts - 1 / total) ** 2 + (len(counts) - 1) / total**2)
