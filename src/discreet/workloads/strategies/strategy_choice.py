"""The strategy with the least computed error, what it will cost in accuracy before anything is spent, and the estimates after."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, read_level
from discreet.errors import BadData, BadInput, TooLarge
from discreet.measurement.transcript import Step
from discreet.mechanisms.additive.combinations import Integers, Measurement
from discreet.workloads.queries.families import Floats
from discreet.workloads.queries.workload import LARGEST_GRAM, Queries, Workload
from discreet.workloads.releases.integer_rounding import counts_of
from discreet.workloads.releases.workload_reuse import Known, pooled, tells_of
from discreet.workloads.strategies.level_strategies import haar, identity, tree
from discreet.workloads.strategies.optimal import MOST_CELLS_OPTIMISED, optimal
from discreet.workloads.strategies.residuals import Residuals
from discreet.workloads.strategies.strategy import OfCells, Strategy
from discreet.workloads.strategies.workload_budget import Price

WHOLE = 1 << 24
"""What the shares of a plan add up to, about."""
_BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What is measured with which noise, and how wrong every answer will be: all of it public."""

    queries: Queries
    price: Price
    strategy: Strategy
    shares: Integers
    """How the price is divided, in whole numbers: the same on every machine."""
    measurements: tuple[Measurement | None, ...]
    """One a combination of the strategy; None for what is not measured."""
    known: Known | None = None
    """What was measured of them before."""

    @classmethod
    def of(cls, queries: Queries, price: Price, strategy: Strategy) -> Plan:
        """A strategy with the best division of a price.

        Args:
            queries: What is asked.
            price: What may be spent.
            strategy: What is measured.
        """
        return cls.divided(queries, price, strategy, np.rint(strategy.shares(queries, price) * WHOLE).astype(np.int64))

    @classmethod
    def divided(cls, queries: Queries, price: Price, strategy: Strategy, shares: Integers) -> Plan:
        """A strategy with a given division of a price.

        Args:
            queries: What is asked.
            price: What may be spent.
            strategy: What is measured.
            shares: How much each combination gets, as whole numbers.
        """
        return cls(queries, price, strategy, shares, price.measurements(strategy.combinations, shares))

    def with_known(self, steps: Iterable[Step]) -> Plan:
        """The same with what was measured of the same rows before.

        Args:
            steps: Of earlier releases.
        """
        return replace(self, known=Known.of(steps, self.queries, self.strategy, gaussian=self.price.gaussian))

    def tells(self, step: Step) -> bool:
        """Whether a step of an earlier release says anything about what is measured.

        Args:
            step: Of the same rows.
        """
        return tells_of(step, self.queries, self.strategy, gaussian=self.price.gaussian)

    @property
    def precisions(self) -> Floats:
        """One over the variance of the noise of every combination, with what is known of it; 0 for what is not measured."""
        own = np.array([1 / m.variance if m else 0.0 for m in self.measurements])
        return own if self.known is None else np.where(own > 0, own + self.known.precisions, 0.0)

    @property
    def total_error(self) -> float:
        """The expected squared errors of all queries, each as often as it counts, added up."""
        return self.strategy.total_error(self.queries, self.precisions)

    @property
    def typical_error(self) -> float:
        """The root of the expected squared error of a query, on average over the workload."""
        return math.sqrt(self.total_error / self.queries.weight)

    def standard_errors(self) -> Iterator[Floats]:
        """Of each term's queries, in order."""
        for variances in self.strategy.variances(self.queries, self.precisions):
            yield np.sqrt(variances)

    def errors(self, confidence: Number) -> Iterator[Floats]:
        """± of each term's queries, in order. Of one noise alone it is about exact, of sums of Laplace noises a little wide.

        Args:
            confidence: In which share of all releases an answer is no further off.
        """
        width = width_at(float(read_level(confidence)), gaussian=self.price.gaussian)
        for errors in self.standard_errors():
            yield width * errors

    def estimate(self, noisy: Sequence[NDArray[Any] | None]) -> Estimate:
        """The most likely answers, by least squares: all of them agree with each other.

        Args:
            noisy: What was measured, one a measurement; None for what was not.
        """
        expected = [m.combination.kept if m else None for m in self.measurements]
        if [None if numbers is None else np.size(numbers) for numbers in noisy] != expected:
            raise BadData(
                "These are not the numbers that the plan measures.", next_step="Give one array a measurement."
            )
        if self.known is not None:
            noisy = pooled(noisy, self.precisions, self.known)
        cells = self.strategy.solve(noisy, self.precisions) if isinstance(self.strategy, OfCells) else None
        answers = (
            self.strategy.answers(self.queries, noisy, self.precisions)
            if cells is None
            else self.queries.answers(cells)
        )
        return Estimate(self, answers, cells)


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """What was estimated from noisy numbers."""

    plan: Plan
    answers: list[Floats]
    """To each term's queries: an axis a column that was asked for."""
    cells: Floats | None
    """Of all columns together, where the strategy estimates them."""

    def counts(self) -> Integers:
        """The cells as whole numbers, none below 0, that add up to the estimated total, rounded: for showing, after all else."""
        if self.cells is None:
            raise BadInput("Residuals estimate tables, and no cells.", next_step="Use the answers.")
        return counts_of(self.cells)


def width_at(level: float, *, gaussian: bool) -> float:
    """How many standard errors an answer is off at most: of Gaussian noise, or of one Laplace noise, whose tails are the longest.

    Args:
        level: In which share of all releases.
        gaussian: Which noise it is.
    """
    if gaussian:
        return NormalDist().inv_cdf((1 + level) / 2)
    return -math.log(1 - level) / math.sqrt(2)


def candidates(queries: Queries) -> Iterator[Strategy]:
    """Every strategy with errors in closed form that can answer them.

    Args:
        queries: What is asked.
    """
    if all(term.is_table for term in queries.terms):
        yield Residuals.of(queries)
    if len(queries.sizes) == 1 or queries.cells <= LARGEST_GRAM:
        yield identity(queries.cells)
        yield haar(queries.cells)
        yield from (tree(queries.cells, branching) for branching in _BRANCHINGS if branching < queries.cells)


def best_plan(
    queries: Queries, price: Price, strategies: Iterable[Strategy], earlier: Sequence[Step] | None = None
) -> Plan:
    """The plan with the least expected error; of those that are as good, the first.

    Args:
        queries: What is asked.
        price: What may be spent.
        strategies: To choose among.
        earlier: What was measured of the same rows before, if that enters.
    """
    plans = [Plan.of(queries, price, strategy) for strategy in strategies]
    if earlier is not None:
        plans = [option.with_known(earlier) for option in plans]
    if not plans:
        raise TooLarge(
            f"There are {queries.cells:,} cells, and only tables are answered over more than {LARGEST_GRAM:,} of several columns.",
            next_step="Ask for tables (marginals, points), or for fewer columns at once.",
        )
    return min(plans, key=lambda option: float(f"{option.total_error:.6g}"))  # the same choice on every machine


def plan(workload: Workload, columns: Mapping[str, int], **price: Any) -> Plan:
    """The plan with the least expected error for a workload, at a price.

    Args:
        workload: What is asked.
        columns: How many cells each column has, by name; the last one varies fastest.
        **price: `rho` or `epsilon`; `rows_per_person`; `neighbours`.
    """
    queries, cost = workload.on(columns), Price(**price)
    strategies = list(candidates(queries))
    if cost.gaussian and queries.cells <= MOST_CELLS_OPTIMISED:
        strategies.append(optimal(queries))
    return best_plan(queries, cost, strategies)
