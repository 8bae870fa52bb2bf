"""What a method is: it spends a budget on measurements, and makes a model of them that anybody can make again."""

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
    """A distribution over rows, and how many rows there are about."""

    @property
    def total(self) -> float:
        """The estimated number of rows, never the exact one."""

    def table(self, columns: Columns) -> NDArray[np.float64]:
        """Expected counts of the table over some columns of the domain, dense, one axis a column; not negative, adding up to `total`."""

    def rows(self, count: int, bits: RandomBits) -> NDArray[np.integer[Any]]:
        """So many rows of codes: a row each, a column for each column of the domain."""


class Method(Protocol):
    """One way of making a model: stateless, and found by its name in `METHODS`."""

    @property
    def version(self) -> int:
        """Version of the measurement rules. A run that one version started is not continued by another."""

    @property
    def least_group(self) -> float:
        """A group of codes has at least so many rows for each row of a first round's noise in a cell; 0 merges none."""

    @property
    def is_penalised(self) -> bool:
        """Whether a candidate's score has its expected noise taken off."""

    def check(self, domain: Domain, marginals: Mapping[Columns, int]) -> None:
        """Refuse what this method cannot do, before anything is paid."""

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:
        """Whether a table of an earlier release enters its model."""

    def least_share(self, domain: Domain, marginals: Mapping[Columns, int]) -> Fraction:
        """What part of the budget a look gets at least: where that is too little to be drawn, nothing is paid."""

    def max_measurements(self, domain: Domain) -> int:
        """How many tables and choices there are at most, unless that follows from what is wanted: whatever is drawn."""

    def seconds(self, domain: Domain, *, candidates: int, cells: int) -> float:
        """About how long it computes, where it chooses among so many tables of so many cells together."""

    def measure(self, measurer: Measurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on measurements. `wanted` are the tables that the model shall be good at, with their weights."""

    def rehearse(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> Gaussian | Laplace | None:
        """Take those measurements of `measure` that come before any choice. The noise of the first table that is chosen, whose cells have no less than
        those of later ones; None where none is.
        """

    def weights(self, domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:
        """The tables that may be chosen, and how much each counts; none, where nothing is chosen."""

    def model(self, domain: Domain, measurements: Sequence[MeasurementResult]) -> Model:
        """What follows from the measurements of a finished run: the same model for whoever has them."""
