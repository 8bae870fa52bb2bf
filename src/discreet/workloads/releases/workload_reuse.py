"""What earlier releases have measured of the same rows, in the estimates of a workload: numbers that a plan measures too, which are averaged with its own.

Two measurements of the same combination are independent, and their precisions add up. A noisy table is one of its cells, and one over more columns is one of every residual within it: noise
that is alike in all cells has parts in the residuals of different columns that are not correlated (`docs/explanation/proofs/workloads.md`).
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
class Known:
    """Of each combination of a strategy: the precision of what was measured of it before, and those numbers, each times its precision, added up."""

    precisions: Floats
    numbers: tuple[Floats, ...]

    @classmethod
    def of(cls, steps: Iterable[Step], queries: Queries, strategy: Strategy, *, gaussian: bool) -> Known:
        """From steps of earlier releases, of which some may say nothing about any combination.

        Args:
            steps: Of the same rows.
            queries: What is asked.
            strategy: What is measured for it.
            gaussian: Which noise it is measured with: of another kind nothing is taken, whose tails are others.
        """
        precisions = np.zeros(len(strategy.combinations))
        numbers = [np.zeros(combination.kept) for combination in strategy.combinations]
        for step in steps:
            for at, (precision, known) in _within(step, queries, strategy.combinations, gaussian=gaussian):
                precisions[at] += precision
                numbers[at] += precision * known
        return cls(precisions, tuple(numbers))


def tells_of(step: Step, queries: Queries, strategy: Strategy, *, gaussian: bool) -> bool:
    """Whether a step of an earlier release says anything about what a strategy measures.

    Args:
        step: Of the same rows.
        queries: What is asked.
        strategy: What is measured for it.
        gaussian: Which noise it is measured with.
    """
    return any(True for _ in _within(step, queries, strategy.combinations, gaussian=gaussian))


def columns_of(queries: Queries, combination: Combination) -> Columns:
    """The names of the columns whose table a combination takes.

    Args:
        queries: Over these and others.
        combination: Of a strategy for them.
    """
    places = range(len(queries.names)) if combination.columns is None else combination.columns
    return tuple(queries.names[place] for place in places)


def _within(
    step: Step, queries: Queries, combinations: Sequence[Combination], *, gaussian: bool
) -> Iterable[tuple[int, tuple[float, Floats]]]:
    """The places of combinations that a step tells about, with the precision and the numbers that it has of each."""
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
            filling = np.zeros(combination.padded - combination.cells)  # cells that nobody is in
            yield at, (1 / step.noise.sigma**2, np.concatenate([step.outcome, filling]))


def _residual_in(step: Step, columns: Columns, own: Columns, residual: Residual) -> tuple[float, Floats]:
    """A residual as a noisy table has it: one of its cells is a sum of the table's, times all its cells."""
    table = step.outcome.reshape(step.about["shape"])
    summed = table.sum(axis=tuple(axis for axis, name in enumerate(columns) if name not in own))
    variance = step.noise.sigma**2 * (table.size / residual.cells) * residual.cells**2
    kept = residual.after(residual.before(np.asarray(summed).reshape(-1)))
    return 1 / variance, kept.astype(np.float64)


def pooled(own: Sequence[np.ndarray | None], precisions: Floats, known: Known) -> list[Floats | None]:
    """What was measured now and before, averaged by precision; nothing, where nothing is measured now.

    Args:
        own: Numbers of each combination.
        precisions: Of both together.
        known: Of before.
    """
    both = zip(own, precisions, known.precisions, known.numbers, strict=True)
    return [
        None if numbers is None else ((total - before) * numbers.astype(np.float64) + sums) / total
        for numbers, total, before, sums in both
    ]
