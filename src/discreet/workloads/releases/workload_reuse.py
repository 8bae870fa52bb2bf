"""Earlier measurements of the same rows in the estimates of a workload: they are averaged with those of the plan.

Two measurements of the same combination are independent, and their precisions add. A noisy table is a measurement of
its cells, and a table over more columns is a measurement of every residual within it: noise with the same variance in
all cells has uncorrelated parts in the residuals of different columns (`docs/explanation/proofs/workloads.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.measurement.domain import Columns
from discreet.measurement.transcript import Step
from discreet.mechanisms import Gaussian
from discreet.mechanisms.additive.combinations import Combination, Measurement
from discreet.workloads.queries.families import Floats
from discreet.workloads.queries.workload import Queries
from discreet.workloads.strategies.level_strategies import Blocks
from discreet.workloads.strategies.residuals import Residual
from discreet.workloads.strategies.strategy import Strategy


@dataclass(frozen=True, slots=True, eq=False)
class EarlierMeasurements:
    """For each combination of a strategy, the precision of its earlier measurements and their weighted sum."""

    precisions: Floats
    numbers: tuple[Floats, ...]

    @classmethod
    def of(cls, steps: Iterable[Step], queries: Queries, strategy: Strategy, *, gaussian: bool) -> EarlierMeasurements:
        """Collect what steps of earlier releases measured of a strategy's combinations.

        Args:
            steps: Steps over the same rows. Steps of other combinations are ignored.
            queries: The workload.
            strategy: The strategy that is measured.
            gaussian: Whether its noise is Gaussian. Steps with other noise are ignored, because its tails differ.
        """
        precisions = np.zeros(len(strategy.combinations))
        numbers = [np.zeros(combination.kept) for combination in strategy.combinations]
        for step in steps:
            for at, (precision, known) in _within(step, queries, strategy.combinations, gaussian=gaussian):
                precisions[at] += precision
                numbers[at] += precision * known
        return cls(precisions, tuple(numbers))


def uses_step(step: Step, queries: Queries, strategy: Strategy, *, gaussian: bool) -> bool:
    """Whether a step of an earlier release measured any combination of a strategy, with the same kind of noise."""
    return any(True for _ in _within(step, queries, strategy.combinations, gaussian=gaussian))


def columns_of(queries: Queries, combination: Combination) -> Columns:
    """Return the names of the columns over whose table a combination is computed."""
    positions = range(len(queries.names)) if combination.columns is None else combination.columns
    return tuple(queries.names[position] for position in positions)


def _within(
    step: Step, queries: Queries, combinations: Sequence[Combination], *, gaussian: bool
) -> Iterable[tuple[int, tuple[float, Floats]]]:
    """The positions of the combinations that a step measured, each with its precision and its numbers."""
    if step.about["groups"] or isinstance(step.noise, Gaussian) != gaussian:
        return
    columns = tuple(step.about["columns"])
    for at, combination in enumerate(combinations):
        own = columns_of(queries, combination)
        if step.kind == "combination":
            if (own, combination.described) == (columns, step.about["combination"]):
                known = Measurement(combination=combination, noise=step.noise)
                yield at, (1 / known.variance, step.outcome.astype(np.float64))
        elif isinstance(combination, Residual) and set(own) <= set(columns):
            yield at, _residual_in(step, columns, own, combination)
        elif own == columns and type(combination) is Blocks and combination.block == 1:
            filling = np.zeros(combination.padded - combination.cells)  # cells outside of the domain, which are empty
            yield at, (1 / step.noise.sigma**2, np.concatenate([step.outcome, filling]))


def _residual_in(step: Step, columns: Columns, own: Columns, residual: Residual) -> tuple[float, Floats]:
    """A residual computed from a noisy table. Each of its cells is a sum of the table's, times its number of cells."""
    table = step.outcome.reshape(step.about["shape"])
    summed = table.sum(axis=tuple(axis for axis, name in enumerate(columns) if name not in own))
    variance = step.noise.sigma**2 * (table.size / residual.cells) * residual.cells**2
    kept = residual.after(residual.before(np.asarray(summed).reshape(-1)))
    return 1 / variance, kept.astype(np.float64)


def pool(own: Sequence[np.ndarray | None], precisions: Floats, earlier: EarlierMeasurements) -> list[Floats | None]:
    """Average new and earlier measurements by precision.

    Args:
        own: New numbers of each combination; None if it is not measured.
        precisions: Precisions of both together.
        earlier: The earlier measurements.
    """
    both = zip(own, precisions, earlier.precisions, earlier.numbers, strict=True)
    return [
        None if numbers is None else ((total - before) * numbers.astype(np.float64) + sums) / total
        for numbers, total, before, sums in both
    ]
