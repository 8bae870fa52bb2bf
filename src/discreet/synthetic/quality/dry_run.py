"""Dry run of a method on made-up rows, before any charge or read.

It shows which measurements a method takes whatever the data are, and their noise.
"""

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


class DryRun:
    """A measurer of `rows` made-up rows, spread evenly over all codes.

    It charges a budget as a run does, and adds no noise.
    """

    def __init__(self, domain: Domain, budget: AdaptiveBudget, rows: int) -> None:
        self.domain, self.rows = domain, rows
        self._meter, self._measurements = Meter(budget), list[Measured]()

    @property
    def is_pure(self) -> bool:
        """Whether the noise is Laplace noise."""
        return isinstance(self._meter.budget, PureAdaptive)

    @property
    def budget(self) -> Fraction:
        """The whole budget."""
        return self._meter.budget.amount

    @property
    def left(self) -> Fraction:
        """The remaining budget."""
        return self._meter.left

    @property
    def measurements(self) -> tuple[MeasurementResult, ...]:
        """All tables measured so far."""
        return tuple(self._measurements)

    @property
    def tables(self) -> dict[Columns, list[Noise]]:
        """The noise of each measurement, by table."""
        tables: dict[Columns, list[Noise]] = {}
        for measurement in self._measurements:
            tables.setdefault(measurement.columns, []).append(measurement.mechanism)
        return tables

    def shares(self, weights: Sequence[Number], *, of: Number | None = None) -> list[Fraction]:
        """Divide an amount, by default the remaining budget, in proportion to the weights."""
        return self._meter.shares(weights, of=self.left if of is None else of)

    def noise(self, columns: Columns, share: Fraction) -> Noise:
        """Return the noise of a table for a part of the budget."""
        return table_noise(self._meter.budget, self.domain, columns, share)

    def noisy(self, columns: Columns, mechanism: Noise) -> Measured:
        """Charge the noise and return the table of evenly spread rows."""
        self._meter.pay(mechanism)
        shape = self.domain.shape(columns)
        each, over = divmod(self.rows, math.prod(shape))
        values = np.broadcast_to(np.int64(each), shape)  # takes no memory, however many cells there are
        if len(columns) <= 1:
            values = values.copy()
            values.flat[0] += over
        measurement = Measured(columns, values, mechanism)
        self._measurements.append(measurement)
        return measurement
