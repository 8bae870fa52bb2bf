"""Interface of synthesis methods: spend a budget on measurements, and derive a reproducible model from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import MeasurementResult, Measurer, TableMeasurer
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise import RandomBits


class Model(Protocol):
    """A distribution over rows, with an estimated row count."""

    @property
    def total(self) -> float:
        """The estimated number of rows, never the exact one."""

    def table(self, columns: Columns) -> NDArray[np.float64]:
        """Return expected counts over some columns: a dense array, one axis per column, nonnegative, with sum `total`."""

    def rows(self, count: int, bits: RandomBits) -> NDArray[np.integer[Any]]:
        """Return `count` rows of codes: one line per row, one column per column of the domain."""


class Method(Protocol):
    """A stateless way to build a model, registered by name in `METHODS`.

    `marginals` are the tables of the workload with their weights.
    """

    @property
    def version(self) -> int:
        """Version of the measurement rules. A run that one version started is not continued by another."""

    @property
    def least_group(self) -> float:
        """Smallest group of merged codes, in multiples of the first round's expected noise of a cell. 0 merges none."""

    @property
    def is_penalised(self) -> bool:
        """Whether the expected noise of a candidate is subtracted from its score."""

    def check(self, domain: Domain, marginals: Mapping[Columns, int]) -> None:
        """Refuse, before the charge, what this method cannot do."""

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:
        """Return whether the model can use a table of an earlier release."""

    def least_share(self, domain: Domain, marginals: Mapping[Columns, int]) -> Fraction:
        """Return the least part of the budget that a measurement gets.

        If its noise cannot be sampled, the run is refused.
        """

    def max_measurements(self, domain: Domain) -> int:
        """Return the largest number of tables and choices, whatever is sampled.

        A method whose measurements follow from its marginals alone may take more.
        """

    def seconds(self, domain: Domain, *, candidates: int, cells: int) -> float:
        """Estimate the computing time for this number of candidate tables and their total number of cells."""

    def measure(self, measurer: Measurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on measurements that make the model accurate on the marginals."""

    def measure_before_choices(
        self, measurer: TableMeasurer, marginals: Mapping[Columns, int]
    ) -> Gaussian | Laplace | None:
        """Take the measurements of `measure` that precede any choice.

        Return the noise of the first chosen table, which is no less than that of later ones; None if none is chosen.
        """

    def weights(self, domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:
        """Return the candidate tables with their weights; empty if the method chooses nothing."""

    def model(self, domain: Domain, measurements: Sequence[MeasurementResult]) -> Model:
        """Return the model of a finished run. It is a function of the measurements alone."""
