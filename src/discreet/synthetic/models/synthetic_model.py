"""A model of rows in the codes of a domain, and its fit to the measurements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from discreet.measurement.domain import MOST_COUNTED, Columns, Domain
from discreet.measurement.measurer import Chosen, Groups, Measured, MeasurementResult, TableMeasurer
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise import RandomBits
from discreet.synthetic.methods.method import Model
from discreet.synthetic.models.beliefs import Beliefs, Table, spread
from discreet.synthetic.models.codings import Coding, merged, smoothed, without_negatives
from discreet.synthetic.models.fitting import Evidence, Fit
from discreet.synthetic.models.junction_trees import Columns as Numbers
from discreet.synthetic.models.row_generation import rows_of

LEAST_COUNT = 0.5
"""Least count of a group of codes, in rows. Noise alone must not make a group impossible."""
FINAL_GAP, FINAL_SWEEPS = 0.002, 300


@dataclass(frozen=True)
class TreeModel:
    """Shares of code groups along a tree, and the share of each code in its group."""

    domain: Domain
    total: float
    beliefs: Beliefs
    codings: tuple[Coding, ...]

    def table(self, columns: Columns) -> Table:
        """Expected counts over some columns of the domain, not negative, that add up to `total`."""
        numbers = numbers_of(self.domain, self.domain.check(columns, most=MOST_COUNTED))
        table = self.beliefs.table(numbers) * self.total
        for axis, number in enumerate(numbers):
            coding = self.codings[number]
            if not coding.is_identity:
                table = np.take(table, coding.groups, axis=axis) * spread(
                    coding.shares, (axis,), tuple(range(table.ndim))
                )
        return table

    def rows(self, count: int, bits: RandomBits) -> NDArray[np.int64]:
        """So many rows of codes, a line each."""
        return rows_of(self.beliefs, self.codings, count, bits)


def numbers_of(domain: Domain, columns: Columns) -> Numbers:
    """Columns by their place in the domain."""
    places = {name: place for place, name in enumerate(domain.names)}
    return tuple(places[name] for name in columns)


@dataclass(frozen=True)
class Start:
    """What the one-column tables say: how many rows there are, and how often each code comes, without what noise
    explains.
    """

    domain: Domain
    total: float
    counts: tuple[Table, ...]
    variances: tuple[float, ...]
    """Of the noise that the counts had, cell by cell."""

    @classmethod
    def of(cls, domain: Domain, measurements: Sequence[MeasurementResult]) -> Start:
        """Estimate them from the tables over all codes."""
        tables: dict[int, Evidence] = {}
        weight = rows = 0.0
        for measurement in measurements:
            if is_of_codes(measurement):
                evidence = evidence_of(domain, measurement)
                precision = 1 / float(evidence.variance.sum())
                weight, rows = weight + precision, rows + precision * float(evidence.counts.sum())
                if len(measurement.columns) == 1:
                    place = evidence.columns[0]
                    tables[place] = tables[place].and_also(evidence) if place in tables else evidence
        total = max(rows / weight, 1.0) if weight else 1.0
        counts, variances = [], []
        for i, column in enumerate(domain.columns):
            variance = float(tables[i].variance[0]) if i in tables else math.inf
            noisy = tables[i].counts if i in tables else np.full(column.size, total / column.size)
            if column.is_ordered and i in tables:
                noisy = smoothed(noisy, math.sqrt(variance))
            counts.append(without_negatives(noisy, total))
            variances.append(variance)
        return cls(domain, total, tuple(counts), tuple(variances))

    def groups(self, least: float) -> Groups:
        """Return the codes to merge so that every group has at least `least` rows.

        Args:
            least: How many rows.
        """
        groups = {
            column.name: tuple(int(group) for group in merged(counts, least=least, is_ordered=column.is_ordered))
            for column, counts in zip(self.domain.columns, self.counts, strict=True)
        }
        return {name: codes for name, codes in groups.items() if max(codes) + 1 < len(codes)}

    def codings(self, groups: Groups) -> tuple[Coding, ...]:
        """Return the mapping from groups to codes. A column without groups is not merged."""
        return tuple(
            Coding.of(np.array(groups.get(column.name, range(column.size)), np.int64), counts)
            for column, counts in zip(self.domain.columns, self.counts, strict=True)
        )


def is_of_codes(measurement: MeasurementResult) -> TypeGuard[Measured]:
    """Return whether this is a table without merged codes."""
    return isinstance(measurement, Measured) and not measurement.groups


def evidence_of(domain: Domain, measurement: Measured) -> Evidence:
    """Convert a noisy table to evidence for the fit."""
    counts = measurement.values.astype(np.float64)
    return Evidence(numbers_of(domain, measurement.columns), counts, np.full(counts.shape, measurement.variance))


def grouped(domain: Domain, measurement: Measured, codings: Sequence[Coding]) -> Evidence:
    """Sum a noisy table over the groups of a model, which are unions of the table's own groups."""
    evidence = evidence_of(domain, measurement)
    for axis, name in enumerate(measurement.columns):
        coding = codings[evidence.columns[axis]]
        groups = coding.groups
        if name in measurement.groups:
            merged_before = np.array(measurement.groups[name])
            groups = np.zeros(merged_before.max() + 1, np.int64)
            groups[merged_before] = coding.groups
        evidence = evidence.grouped(axis, groups)
    return evidence


def begun(domain: Domain, start: Start, codings: Sequence[Coding], measurements: Sequence[MeasurementResult]) -> Fit:
    """A fit that has taken in every table of some measurements."""
    columns = [
        Evidence((i,), counts, np.full(counts.size, variance)).grouped(0, codings[i].groups)
        for i, (counts, variance) in enumerate(zip(start.counts, start.variances, strict=True))
    ]
    fit = Fit(tuple(np.maximum(column.counts, LEAST_COUNT) for column in columns), start.total)
    for column in columns:
        if np.isfinite(column.variance).all():
            fit.add(column)
    for measurement in measurements:
        if isinstance(measurement, Measured) and (len(measurement.columns) > 1 or measurement.groups):
            fit.add(grouped(domain, measurement, codings))
    return fit


def noise_in_a_cell(mechanism: Gaussian | Laplace) -> float:
    """The expected size of a table's noise in a cell, in rows; of Laplace noise a little more than that."""
    return math.sqrt(2 / math.pi * Measured((), np.zeros(1, np.int64), mechanism).variance)


def groups_in(domain: Domain, measurements: Sequence[MeasurementResult], least_group: float) -> Groups:
    """Which codes a run merged: as its first choice's table was measured, and every later one says of its own columns.

    Where nothing was chosen, as earlier releases did that it reuses.
    """
    place = next(
        (place for place, measurement in enumerate(measurements) if isinstance(measurement, Chosen)), len(measurements)
    )
    later = [measurement for measurement in measurements[place:] if isinstance(measurement, Measured)]
    if not least_group:
        return {}
    noise = noise_in_a_cell(later[0].mechanism) if later else 0.0
    groups = {**Start.of(domain, measurements[:place]).groups(least_group * noise), **reused_groups(measurements)}
    for measurement in later:
        groups.update(measurement.groups)
    return groups


def reused_groups(measurements: Sequence[MeasurementResult]) -> Groups:
    """Groups of codes that tables of earlier releases are over: a run that reuses them keeps to these, so that they
    fit its model.
    """
    groups: dict[str, tuple[int, ...]] = {}
    for measurement in measurements:
        if isinstance(measurement, Measured) and measurement.is_reused:
            groups.update(measurement.groups)
    return groups


_CANDIDATE, _CELL = 0.2e-3, 5e-9
"""Seconds of a round for each table that it chooses among, and for each of their cells."""


class OfTables:
    """Base of the methods whose model follows from tables alone."""

    version: int = 1
    """Raised with every change of what is asked for after which outcomes: so that no run is gone on with by other
    rules.
    """
    least_group: float = 0
    """A group of codes has at least so many rows for each row of a first round's noise in a cell; 0 merges none."""
    is_penalised = False
    """Whether a candidate's score has its expected noise taken off."""

    def check(self, domain: Domain, marginals: Mapping[Columns, int]) -> None:
        """Refuse, before the charge, what this method cannot do."""

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:  # noqa: ARG002
        """Whether a table of an earlier release enters its model: one of a single column, unless a method says
        otherwise.
        """
        return len(columns) <= 1

    def least_share(self, domain: Domain, marginals: Mapping[Columns, int]) -> Fraction:  # noqa: ARG002
        """What part of the budget a look gets at least: a thousandth, divided among rounds and columns by their sizes."""
        return Fraction(1, 1000 * len(domain.columns) * sum(domain.shape(domain.names)))

    def rounds(self, domain: Domain) -> int:  # noqa: ARG002
        """Return the number of rounds, 0 by default."""
        return 0

    def max_measurements(self, domain: Domain) -> int:
        """How many tables and choices there are at most, unless that follows from what is wanted: columns alone up to
        three times, and rounds.
        """
        return 3 * len(domain.columns) + 4 * self.rounds(domain)

    def seconds(self, domain: Domain, *, candidates: int, cells: int) -> float:
        """About how long it computes: every round makes and scores every table that it chooses among."""
        return self.rounds(domain) * (candidates * _CANDIDATE + cells * _CELL)

    def measure_before_choices(
        self,
        measurer: TableMeasurer,  # noqa: ARG002
        marginals: Mapping[Columns, int],  # noqa: ARG002
    ) -> Gaussian | Laplace | None:
        """Take the measurements that precede any choice. By default there are none."""
        return None

    def weights(self, domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:  # noqa: ARG002
        """What may be chosen, and how much each counts; nothing, where nothing is chosen."""
        return {}

    def model(self, domain: Domain, measurements: Sequence[MeasurementResult]) -> Model:
        """Fit the model to the measurements."""
        start = Start.of(domain, measurements)
        codings = start.codings(groups_in(domain, measurements, self.least_group))
        beliefs = begun(domain, start, codings, measurements).solved(gap=FINAL_GAP, most=FINAL_SWEEPS)
        return TreeModel(domain, start.total, beliefs, codings)
