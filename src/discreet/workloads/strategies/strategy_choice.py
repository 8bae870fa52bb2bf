"""Choose the strategy with the least computed error; compute error bounds before the charge, and estimates after it."""

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
from discreet.workloads.releases.integer_rounding import round_to_counts
from discreet.workloads.releases.workload_reuse import EarlierMeasurements, pool, uses_step
from discreet.workloads.strategies.level_strategies import haar, identity, tree
from discreet.workloads.strategies.optimal import MOST_CELLS_OPTIMISED, optimal
from discreet.workloads.strategies.residuals import Residuals
from discreet.workloads.strategies.strategy import OfCells, Strategy
from discreet.workloads.strategies.workload_budget import WorkloadBudget

WHOLE = 1 << 24
"""Approximate sum of the shares of a plan."""
_BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The measurements of a workload with their noise, and the errors of all answers. All of it is public."""

    queries: Queries
    budget: WorkloadBudget
    strategy: Strategy
    shares: Integers
    """How the budget is divided, in integers, so that it is the same on every machine."""
    measurements: tuple[Measurement | None, ...]
    """One for each combination of the strategy; None if it is not measured."""
    earlier: EarlierMeasurements | None = None
    """Earlier measurements of the same combinations."""

    @classmethod
    def of(cls, queries: Queries, budget: WorkloadBudget, strategy: Strategy) -> Plan:
        """Plan a strategy with the best division of a budget."""
        return cls.divided(
            queries, budget, strategy, np.rint(strategy.shares(queries, budget) * WHOLE).astype(np.int64)
        )

    @classmethod
    def divided(cls, queries: Queries, budget: WorkloadBudget, strategy: Strategy, shares: Integers) -> Plan:
        """Plan a strategy with a given division of a budget."""
        return cls(queries, budget, strategy, shares, budget.measurements(strategy.combinations, shares))

    def with_earlier(self, steps: Iterable[Step]) -> Plan:
        """Return the same plan with earlier measurements of the same rows, from steps of earlier releases."""
        return replace(
            self, earlier=EarlierMeasurements.of(steps, self.queries, self.strategy, gaussian=self.budget.gaussian)
        )

    def uses(self, step: Step) -> bool:
        """Whether the plan can use a step of an earlier release of the same rows."""
        return uses_step(step, self.queries, self.strategy, gaussian=self.budget.gaussian)

    @property
    def precisions(self) -> Floats:
        """Precision of every combination, with its earlier measurements; 0 if it is not measured."""
        own = np.array([1 / m.variance if m else 0.0 for m in self.measurements])
        return own if self.earlier is None else np.where(own > 0, own + self.earlier.precisions, 0.0)

    @property
    def total_error(self) -> float:
        """The weighted sum of the expected squared errors of all queries."""
        return self.strategy.total_error(self.queries, self.precisions)

    @property
    def typical_error(self) -> float:
        """The root of the expected squared error of a query, on average over the workload."""
        return math.sqrt(self.total_error / self.queries.weight)

    def standard_errors(self) -> Iterator[Floats]:
        """Return the standard errors of each term's queries."""
        for variances in self.strategy.variances(self.queries, self.precisions):
            yield np.sqrt(variances)

    def errors(self, confidence: Number) -> Iterator[Floats]:
        """Return the half-widths of each term's answers. For sums of Laplace noise they are slightly too wide.

        Args:
            confidence: Probability with which an answer is no further off.
        """
        width = half_width_factor(float(read_level(confidence)), gaussian=self.budget.gaussian)
        for errors in self.standard_errors():
            yield width * errors

    def estimate(self, noisy: Sequence[NDArray[Any] | None]) -> Estimate:
        """Return consistent least-squares estimates.

        Args:
            noisy: The outcome of each measurement; None if it was not taken.
        """
        expected = [m.combination.kept if m else None for m in self.measurements]
        if [None if numbers is None else np.size(numbers) for numbers in noisy] != expected:
            raise BadData(
                "These are not the numbers that the plan measures.", next_step="Give one array per measurement."
            )
        if self.earlier is not None:
            noisy = pool(noisy, self.precisions, self.earlier)
        cells = self.strategy.solve(noisy, self.precisions) if isinstance(self.strategy, OfCells) else None
        answers = (
            self.strategy.answers(self.queries, noisy, self.precisions)
            if cells is None
            else self.queries.answers(cells)
        )
        return Estimate(self, answers, cells)


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Estimates from noisy measurements."""

    plan: Plan
    answers: list[Floats]
    """The answers of each term, with an axis for each of its columns."""
    cells: Floats | None
    """Estimates of the cells of all columns together, if the strategy has them."""

    def counts(self) -> Integers:
        """Return the cells as non-negative integers that sum to the rounded total, for display."""
        if self.cells is None:
            raise BadInput("Residuals estimate tables, and not cells.", next_step="Use the answers.")
        return round_to_counts(self.cells)


def half_width_factor(level: float, *, gaussian: bool) -> float:
    """Return the half-width at a confidence level, in standard errors.

    For sums of Laplace noise it is that of one Laplace noise, which has the heaviest tails.

    Args:
        level: Confidence level.
        gaussian: Whether the noise is Gaussian.
    """
    if gaussian:
        return NormalDist().inv_cdf((1 + level) / 2)
    return -math.log(1 - level) / math.sqrt(2)


def candidates(queries: Queries) -> Iterator[Strategy]:
    """Return every strategy with errors in closed form that can answer a workload."""
    if all(term.is_table for term in queries.terms):
        yield Residuals.of(queries)
    if len(queries.sizes) == 1 or queries.cells <= LARGEST_GRAM:
        yield identity(queries.cells)
        yield haar(queries.cells)
        yield from (tree(queries.cells, branching) for branching in _BRANCHINGS if branching < queries.cells)


def best_plan(
    queries: Queries, budget: WorkloadBudget, strategies: Iterable[Strategy], earlier: Sequence[Step] | None = None
) -> Plan:
    """Return the first plan with the least expected error.

    Args:
        queries: The workload.
        budget: The budget.
        strategies: Strategies to choose from.
        earlier: Steps of earlier releases of the same rows, to be reused.
    """
    plans = [Plan.of(queries, budget, strategy) for strategy in strategies]
    if earlier is not None:
        plans = [option.with_earlier(earlier) for option in plans]
    if not plans:
        raise TooLarge(
            f"The columns have {queries.cells:,} cells together; beyond {LARGEST_GRAM:,} only marginals are answered.",
            next_step="Use marginals or points, or fewer columns at once.",
        )
    return min(plans, key=lambda option: float(f"{option.total_error:.6g}"))  # the same choice on every machine


def plan(workload: Workload, columns: Mapping[str, int], **budget: Any) -> Plan:
    """Return the plan with the least expected error for a workload and a budget.

    Args:
        workload: The queries.
        columns: Number of cells of each column, by name. The last column varies fastest.
        **budget: `rho` or `epsilon`; `rows_per_person`; `neighbours`.
    """
    queries, cost = workload.on(columns), WorkloadBudget(**budget)
    strategies = list(candidates(queries))
    if cost.gaussian and queries.cells <= MOST_CELLS_OPTIMISED:
        strategies.append(optimal(queries))
    return best_plan(queries, cost, strategies)
