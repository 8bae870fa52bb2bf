"""The interface of a strategy: what it measures, its expected errors, and its estimates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.additive.combinations import Combination
from discreet.workloads.queries.families import Floats
from discreet.workloads.queries.workload import Queries
from discreet.workloads.strategies.workload_budget import WorkloadBudget


class Strategy(ABC):
    """Combinations of counts from which all queries can be estimated by least squares.

    A precision is one over the variance of a combination's noise; it is 0 if the combination is not measured.
    """

    name: str
    combinations: tuple[Combination, ...]

    @abstractmethod
    def shares(self, queries: Queries, budget: WorkloadBudget) -> Floats:
        """Return the division of a budget among the combinations with the least total squared error."""

    @abstractmethod
    def total_error(self, queries: Queries, precisions: Floats) -> float:
        """Return the weighted sum of the expected squared errors of all queries."""

    @abstractmethod
    def variances(self, queries: Queries, precisions: Floats) -> Iterator[Floats]:
        """Return the expected squared error of each query, by term."""

    @abstractmethod
    def answers(self, queries: Queries, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> list[Floats]:
        """Return consistent least-squares estimates for each query, by term.

        Args:
            queries: The workload.
            noisy: The measurement of each combination; None if it was not measured.
            precisions: Precision of each combination.
        """

    def precisions(self, budget: WorkloadBudget, shares: Floats) -> Floats:
        """Return the precision of every combination for a division of a budget."""
        units = np.array([budget.unit(combination) for combination in self.combinations])
        return units * (shares if budget.gaussian else shares**2)


class OfCells(Strategy):
    """A strategy that estimates every cell, and computes answers from the cells."""

    @abstractmethod
    def variances_of(self, rows: Floats, precisions: Floats) -> Floats:
        """Return the expected squared error of the queries of a matrix: a row per query, a column per cell."""

    @abstractmethod
    def solve(self, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> Floats:
        """Return least-squares estimates of all cells.

        Args:
            noisy: The measurement of each combination; None if it was not measured.
            precisions: Precision of each combination.
        """

    def variances(self, queries: Queries, precisions: Floats) -> Iterator[Floats]:
        for rows, shape in zip(queries.matrices(), queries.shapes(), strict=True):
            yield self.variances_of(rows, precisions).reshape(shape)

    def answers(self, queries: Queries, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> list[Floats]:
        return queries.answers(self.solve(noisy, precisions))
