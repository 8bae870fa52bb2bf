"""A measurer of rows that nobody has: what a method looks at whatever the data are, and what noise that will have, before anything is paid or read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.core.exact import Number
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import Measured, MeasurementResult
from discreet.measurement.run_budget import table_noise
from discreet.mechanisms import Gaussian, Laplace, PureAdaptive
from discreet.mechanisms.adaptive_budget import AdaptiveBudget, Meter

Noise: TypeAlias = Gaussian | Laplace


class Rehearsal:
    """So many rows, spread evenly over all codes, and without noise; what is measured is paid for as in a run."""

    def __init__(self, domain: Domain, budget: AdaptiveBudget, rows: int) -> None:
        self.domain, self.rows = domain, rows
        self._meter, self._measurements = Meter(budget), list[Measured]()

    @property
    def is_pure(self) -> bool:
        """Whether noise is Laplace's."""
        return isinstance(self._meter.budget, PureAdaptive)

    @property
    def budget(self) -> Fraction:
        """All that would be paid."""
        return self._meter.budget.amount

    @property
    def left(self) -> Fraction:
        """What is left of it."""
        return self._meter.left

    @property
    def measurements(self) -> tuple[MeasurementResult, ...]:
        """All tables so far."""
        return tuple(self._measurements)

    @property
    def tables(self) -> dict[Columns, list[Noise]]:
        """The noise of each table, as often as it was measured."""
        tables: dict[Columns, list[Noise]] = {}
        for measurement in self._measurements:
            tables.setdefault(measurement.columns, []).append(measurement.mechanism)
        return tables

    def shares(self, weights: Sequence[Number], *, of: Number | None = None) -> list[Fraction]:
        """Parts of an amount."""
        return self._meter.shares(weights, of=self.left if of is None else of)

    def noise(self, columns: Columns, share: Fraction) -> Noise:
        """The noise that so much buys."""
        return table_noise(self._meter.budget, self.domain, columns, share)

    def noisy(self, columns: Columns, mechanism: Noise) -> Measured:
        """The table of rows that are spread evenly."""
        self._meter.pay(mechanism)
        shape = self.domain.shape(columns)
        each, over = divmod(self.rows, math.prod(shape))
        values = np.broadcast_to(np.int64(each), shape)  # takes no room, however many cells there are
        if len(columns) <= 1:
            values = values.copy()
            values.flat[0] += over
        measurement = Measured(columns, values, mechanism)
        self._measurements.append(measurement)
        return measurement
