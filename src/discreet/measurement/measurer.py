"""The interface through which methods see protected rows: a `Measurer`. There is no other way.

A method is code that makes synthetic data, answers workloads or runs a session. The measurer knows what is public (`domain`) and how much of
the budget is left, and has five kinds of measurements: `noisy` measures a table, `combined` sums and differences of its cells, `counted` one
count, `worst` chooses the table that a model fits least, and `watch` starts a sparse vector. Each is charged to the budget, drawn, and stored
on disk as a step before its outcome is returned. `measuring.py` implements it; no other module has the exact tables.

How a method is written:

    def measure(measurer: Measurer, tables: Mapping[Columns, int]) -> None:
        domain = measurer.domain                                      # public
        first, rest = measurer.shares([1, 9])                         # of what is left, rounded down
        each = measurer.shares([1] * len(domain.names), of=first)
        for name, share in zip(domain.names, each):
            noise = measurer.noise((name,), share)                    # the mechanism, so its variance, before it is drawn
            table = measurer.noisy((name,), noise)                    # Measured: integers, which may be negative
        ...
        choice = measurer.choice(weights.values(), share)             # an Exponential of the right sensitivity
        columns = measurer.worst(estimates, weights, penalties, choice)
        coarser = measurer.merged({"age": (0, 0, 1, 1, 2)})           # the same rows, budget and steps with fewer codes

A method must be a function of the outcomes alone, the same on every machine: after a crash a run starts again from its first line, and every
stored measurement is answered from the store, without drawing. So a method takes no time, randomness or size from elsewhere, and rounds what
it computes in floating point before a measurement depends on it. A measurement that differs from the stored one at its position is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, exact
from discreet.measurement.domain import Columns, Domain
from discreet.mechanisms import AboveThreshold, Exponential, Gaussian, Laplace
from discreet.mechanisms.additive.combinations import Combination

Counts: TypeAlias = NDArray[np.int64]
Groups: TypeAlias = Mapping[str, tuple[int, ...]]
"""The new code of each code, for columns whose codes were merged."""
GRID = 64
"""Estimates and penalties are multiples of 1 / GRID, rounded before they meet an exact count, so that scores are integers."""


def on_grid(values: NDArray[np.float64]) -> Counts:
    """Return expected counts as `worst` and `SparseVector.first_above` take them: rounded to 1 / GRID, times GRID."""
    return np.rint(values * GRID).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Measured:
    """A noisy table: dense, with one axis for each column. `values` are exact counts plus noise of `mechanism` in each cell."""

    columns: Columns
    values: Counts
    mechanism: Gaussian | Laplace
    groups: Groups = field(default_factory=dict)
    """The groups of those columns that were merged when it was measured."""
    is_reused: bool = False
    """Whether an earlier release measured it and was charged for it."""

    @property
    def variance(self) -> float:
        """Variance of the noise in each cell; for discrete noise an upper bound that is almost exact."""
        if isinstance(self.mechanism, Gaussian):
            return float(exact(self.mechanism.variance))
        return 2 * float(self.mechanism.scale) ** 2


@dataclass(frozen=True, slots=True)
class Chosen:
    """A private choice among candidates."""

    columns: Columns
    candidates: tuple[Columns, ...]
    mechanism: Exponential


@dataclass(frozen=True, slots=True)
class SmallDatabase:
    """A few cells of the table over all columns, in the order they were drawn. Each represents `rows_each` rows."""

    cells: tuple[int, ...]
    rows_each: int
    mechanism: Exponential


MeasurementResult: TypeAlias = Measured | Chosen | SmallDatabase


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A count query: how many rows have, in each of some columns, one of some codes. One row changes it by at most 1.

    `codes` has the counted codes of each column as ranges: the first and the last code of each range, in order.
    """

    columns: Columns
    codes: tuple[tuple[tuple[int, int], ...], ...]

    def added_up(self, table: NDArray[Any]) -> Any:
        """Return the sum of the counted cells of the table over these columns."""
        for axis, runs in enumerate(self.codes):
            before: tuple[slice, ...] = (slice(None),) * axis
            parts = [table[(*before, slice(first, last + 1))] for first, last in runs]
            table = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axis)
        return table.sum()


@dataclass(frozen=True, slots=True)
class Cells:
    """A count query that is not a conjunction: how many rows are in some cells of a table. One row changes it by at most 1.

    `runs` are the counted cells as ranges: the first and the last cell of each, in order. Cells are numbered with the last column fastest.
    """

    columns: Columns
    runs: tuple[tuple[int, int], ...]

    def added_up(self, table: NDArray[Any]) -> Any:
        """Return the sum of the counted cells of the table over these columns."""
        return table.reshape(-1)[self.mask(table.shape).reshape(-1)].sum()

    def mask(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return whether each cell is counted."""
        steps = np.zeros(math.prod(shape) + 1, np.int8)
        firsts, lasts = np.array(self.runs, np.int64).T
        steps[firsts] += 1
        steps[lasts + 1] -= 1
        return np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_).reshape(shape)


CountQuery: TypeAlias = Conjunction | Cells


class SparseVector(Protocol):
    """One sparse vector: it finds the first badly answered query, once. Its noisy threshold is in memory only.

    It is over after one positive, and after a restart; `watch` then starts another, which is charged. After several restarts several
    may be over: `while vector.is_over: vector = measurer.watch(mechanism)`.
    """

    @property
    def is_over(self) -> bool:
        """Whether it is over. That a restart ended it is stored as a step when this is first read."""

    def first_above(self, queries: Sequence[CountQuery], estimates: Counts) -> int | None:
        """Return the first query whose exact value is further from its estimate (times GRID) than the noisy threshold allows.

        None: all are below. Queries after the first were not read. All that were read are one step.
        """


class TableMeasurer(Protocol):
    """Tables behind a budget: exact tables, or those of a dry run. Amounts are in rho, or in epsilon if `is_pure`."""

    @property
    def domain(self) -> Domain:
        """What is public about the rows."""

    @property
    def is_pure(self) -> bool:
        """Whether the budget is a pure epsilon. Tables are then measured with Laplace noise, otherwise with Gaussian noise."""

    @property
    def budget(self) -> Fraction:
        """The whole budget of this run."""

    @property
    def left(self) -> Fraction:
        """The remaining budget. The last measurement may cost exactly this."""

    @property
    def measurements(self) -> tuple[MeasurementResult, ...]:
        """Every table and choice so far, in order."""

    def shares(self, weights: Sequence[Number], *, of: Number | None = None) -> list[Fraction]:
        """Return parts of an amount (default: of what is left) in proportion to weights. Their sum never exceeds the amount."""

    def noise(self, columns: Columns, share: Fraction) -> Gaussian | Laplace:
        """Return the mechanism that measures a table for this cost, so that its noise is known before it is drawn. Free."""

    def noisy(self, columns: Columns, mechanism: Gaussian | Laplace) -> Measured:
        """Measure the table over some columns. `()` is the number of rows, which is private."""


class Measurer(TableMeasurer, Protocol):
    """Exact tables behind a budget, with every way to measure them."""

    def combined(self, columns: Columns, combination: Combination, mechanism: Gaussian | Laplace) -> Counts:
        """Measure integer combinations of a table's counts. The mechanism has the sensitivity of the combination."""

    def counted(self, query: CountQuery, mechanism: Gaussian | Laplace) -> int:
        """Measure one count query."""

    def invariant(self, columns: Columns, combination: Combination) -> Counts:
        """Return exact sums of a table's counts: only those that the data owner has declared public for this run."""

    def choice(self, weights: Iterable[int], share: Fraction) -> Exponential:
        """Return the mechanism that chooses among as many candidates as there are weights, for this cost. Free."""

    def worst(
        self,
        estimates: Mapping[Columns, Counts],
        weights: Mapping[Columns, int],
        penalties: Mapping[Columns, int],
        mechanism: Exponential,
    ) -> Columns:
        """Choose a candidate A with a large w_A (‖exact table − estimate‖₁ − b_A) by the exponential mechanism, not monotone.

        `estimates` has the model's table for each candidate, times GRID (`on_grid`); `weights` integers w_A from 1 to 1,000; `penalties`
        integers b_A times GRID. All three depend on earlier measurements only and have the same keys, in the order of the candidates.
        """

    def small_choice(self, length: int, share: Fraction) -> Exponential:
        """Return the mechanism that chooses among all databases of `length` cells, for this cost. Free."""

    def small_database(self, tables: Sequence[Columns], rows_each: int, mechanism: Exponential) -> SmallDatabase:
        """Choose a small database that is close to every count of some tables: exponential mechanism on minus the largest difference.

        `rows_each` is the number of rows that each cell represents; it depends on earlier measurements only.
        """

    def watch(self, mechanism: AboveThreshold) -> SparseVector:
        """Start a sparse vector, charged in full now. Sensitivity and threshold are times GRID; it is not monotone and has one positive."""

    def part(self, share: Fraction) -> Measurer:
        """Return a measurer of the same rows and steps with a part of the budget. What it spends is spent here, too."""

    def merged(self, groups: Groups) -> Measurer:
        """Return a measurer of the same rows, budget and steps with fewer codes. `groups` depends on earlier measurements only."""
