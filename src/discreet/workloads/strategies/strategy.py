"""What every strategy can do: say which numbers it measures, how wrong its answers will be, and put noisy numbers together again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.additive.combinations import Combination
from discreet.workloads.queries.families import Floats
from discreet.workloads.queries.workload import Queries
from discreet.workloads.strategies.workload_budget import Price


class Strategy(ABC):
    """Combinations of counts from which all queries can be estimated by least squares.

    A `precision` is one over the variance of a combination's noise, 0 where it is not measured.
    """

    name: str
    combinations: tuple[Combination, ...]

    @abstractmethod
    def shares(self, queries: Queries, price: Price) -> Floats:
        """How a price is best divided among the combinations: least total squared error.

        Args:
            queries: What is asked.
            price: What may be spent.
        """

    @abstractmethod
    def total_error(self, queries: Queries, precisions: Floats) -> float:
        """The expected squared errors of all queries, each as often as it counts, added up.

        Args:
            queries: What is asked.
            precisions: Of the combinations.
        """

    @abstractmethod
    def variances(self, queries: Queries, precisions: Floats) -> Iterator[Floats]:
        """The expected squared error of each query, term by term.

        Args:
            queries: What is asked.
            precisions: Of the combinations.
        """

    @abstractmethod
    def answers(self, queries: Queries, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> list[Floats]:
        """Estimates for each query, term by term: by least squares, so that they agree.

        Args:
            queries: What is asked.
            noisy: What was measured of each combination; None for what was not.
            precisions: Of the combinations.
        """

    def precisions(self, price: Price, shares: Floats) -> Floats:
        """One over the variance of every combination's noise.

        Args:
            price: What is spent.
            shares: How it is divided.
        """
        units = np.array([price.unit(combination) for combination in self.combinations])
        return units * (shares if price.gaussian else shares**2)


class OfCells(Strategy):
    """A strategy that estimates every cell, and answers from that."""

    @abstractmethod
    def variances_of(self, rows: Floats, precisions: Floats) -> Floats:
        """The expected squared error of queries that are written out.

        Args:
            rows: A row a query, a column a cell.
            precisions: Of the combinations.
        """

    @abstractmethod
    def solve(self, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> Floats:
        """Estimates of all cells, by least squares.

        Args:
            noisy: What was measured of each combination; None for what was not.
            precisions: Of the combinations.
        """

    def variances(self, queries: Queries, precisions: Floats) -> Iterator[Floats]:
        for rows, shape in zip(queries.matrices(), queries.shapes(), strict=True):
            yield self.variances_of(rows, precisions).reshape(shape)

    def answers(self, queries: Queries, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> list[Floats]:
        return queries.answers(self.solve(noisy, precisions))
