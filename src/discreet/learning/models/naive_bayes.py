"""Naive Bayes from noisy tables of each feature by class."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.learning.data.features import name_of
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Floats
from discreet.learning.models.product_moments import label_name
from discreet.learning.runs.measurement_plan import NoisyMeasurement
from discreet.learning.runs.model_card import LearnedNumber
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.feature_vectors import Deciding, SumMeasurer
from discreet.measurement.measurer import Measured
from discreet.measurement.transcript import Transcript, measurements_in
from discreet.mechanisms import Gaussian, Laplace


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayes(Classifier):
    """One table of each feature by class; features are assumed independent within a class.

    Pure epsilon-DP if the cost is an epsilon. The interval of a logarithm covers the noise of its counts.
    """

    prior: Floats = field(init=False)
    likelihoods: dict[str, Floats] = field(init=False)
    """Logarithms, one row per code and one column per class."""
    prior_deviations: Floats = field(init=False)
    deviations: dict[str, Floats] = field(init=False)

    bins = 16

    def _tables(self, domain: Domain) -> list[Columns]:
        return [domain.ordered((name_of(feature), self.target)) for feature in self.features]

    def measurements(self, measurer: SumMeasurer) -> list[NoisyMeasurement[Gaussian | Laplace]]:
        tables = self._tables(measurer.domain)
        shares = measurer.shares([1] * len(tables))
        noises = [measurer.noise(columns, share) for columns, share in zip(tables, shares, strict=True)]
        return [NoisyMeasurement("table", noise.size, noise) for noise in noises]

    def measure(self, measurer: SumMeasurer) -> None:
        for columns, planned in zip(self._tables(measurer.domain), self.measurements(measurer), strict=True):
            measurer.noisy(columns, planned.noise)

    def check(self, domain: Domain) -> None:
        super().check(domain)
        for columns in self._tables(domain):
            domain.check(columns)

    def conclude(self, _domain: Domain, transcript: Transcript) -> None:
        tables = [measured for measured in measurements_in(transcript.steps) if isinstance(measured, Measured)]
        by_class = [self._by_class(measured) for measured in tables]
        totals = np.mean([table.sum(axis=0) for table in by_class], axis=0)
        rows = np.maximum(totals, 1.0)
        of_totals = math.sqrt(
            sum(measured.variance * len(table) for measured, table in zip(tables, by_class, strict=True))
        ) / len(tables)
        self.prior, self.prior_deviations = np.log(rows / rows.sum()), _of_shares(rows, of_totals)
        self.likelihoods, self.deviations = {}, {}
        for feature, measured, table in zip(self.features, tables, by_class, strict=True):
            deviation = math.sqrt(measured.variance)
            counts = np.maximum(table, deviation / 4 + 0.5)  # counts below the noise do not show that a value is rare
            self.likelihoods[name_of(feature)] = np.log(counts / counts.sum(axis=0))
            self.deviations[name_of(feature)] = _of_shares(counts, deviation)

    def _by_class(self, measured: Measured) -> Floats:
        values = measured.values.astype(np.float64)
        return values.T if measured.columns[0] == self.target else values

    @property
    def learned(self) -> list[LearnedNumber]:
        numbers = [
            LearnedNumber(f"log P({label})", float(value), float(deviation))
            for label, value, deviation in zip(self.classes_, self.prior, self.prior_deviations, strict=True)
        ]
        for name, table in self.likelihoods.items():
            cells = [label_name(name, label) for label in self.domain.column(name).labels]
            for at, cell in enumerate(cells):
                numbers += [
                    LearnedNumber(f"log P({cell} | {label})", float(table[at, k]), float(self.deviations[name][at, k]))
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
    """Return the deviation of log-shares in each column if every count has noise of this deviation, to first order."""
    total = counts.sum(axis=0)
    return deviation * np.sqrt((1 / counts - 1 / total) ** 2 + (len(counts) - 1) / total**2)
