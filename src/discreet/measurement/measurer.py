"""How people's rows are seen by whoever makes synthetic data, answers workloads or runs a session: through a `Measurer`, and in no other way.

It knows what is public (`domain`) and what is left to spend, and has five ways of looking: `noisy` measures a table, `combined` sums and differences of its cells, `counted` one
count, `worst` chooses the table that a model fits least, `watch` begins a run of the sparse vector. Each look is paid for, drawn, and stored on disk as a step before its
outcome is returned. `measuring.py` does that; nobody else has the exact tables.

How a method is written against it:

    def measure(measurer: Measurer, wanted: Mapping[Columns, int]) -> None:
        domain = measurer.domain                                      # public
        first, rest = measurer.shares([1, 9])                         # of what is left, rounded down
        each = measurer.shares([1] * len(domain.names), of=first)
        for name, share in zip(domain.names, each):
            noise = measurer.noise((name,), share)                    # its mechanism, and so its variance, before it is drawn
            table = measurer.noisy((name,), noise)                    # Measured: integers, which may be negative
        ...
        choice = measurer.choice(weights.values(), share)             # an Exponential of the right sensitivity
        columns = measurer.worst(estimates, weights, penalties, choice)
        coarser = measurer.merged({"age": (0, 0, 1, 1, 2)})           # the same rows, budget and steps with fewer codes

A method is a function of the outcomes alone, the same on every machine: killed anywhere, a run is begun again from its first line, and every
look that was stored is answered from the store, without drawing. So it takes no time, randomness or size from elsewhere, and rounds what it
computes in floats before it asks for anything by it. A look that is not the one that was stored at its place is refused.
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
"""For columns whose codes were merged: the new code of each code."""
GRID = 64
"""Estimates and penalties are whole multiples of 1 / GRID, rounded before they meet an exact count: so scores are integers."""


def on_grid(values: NDArray[np.float64]) -> Counts:
    """Expected counts as `worst` and `Guard.first_above` take them: the nearest multiples of 1 / GRID, times GRID."""
    return np.rint(values * GRID).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Measured:
    """A noisy table: dense, one axis a column. `values` are exact counts plus noise of `mechanism`, cell by cell, and nothing else."""

    columns: Columns
    values: Counts
    mechanism: Gaussian | Laplace
    groups: Groups = field(default_factory=dict)
    """Of those columns that were merged when it was measured."""
    is_reused: bool = False
    """Whether an earlier release measured it, and paid."""

    @property
    def variance(self) -> float:
        """Of the noise in each cell; of discrete noise a hair more than the truth."""
        if isinstance(self.mechanism, Gaussian):
            return float(exact(self.mechanism.variance))
        return 2 * float(self.mechanism.scale) ** 2


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice that was made, among these candidates."""

    columns: Columns
    candidates: tuple[Columns, ...]
    mechanism: Exponential


@dataclass(frozen=True, slots=True)
class SmallDatabase:
    """A few cells of the table over all columns, in the order they were drawn: each stands for `rows_each` rows."""

    cells: tuple[int, ...]
    rows_each: int
    mechanism: Exponential


MeasurementResult: TypeAlias = Measured | Chosen | SmallDatabase


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A query about counts: how many rows have, in each of some columns, one of some codes. One row moves it by at most 1.

    `codes` has for each column its codes that count, as runs of neighbours: the first and the last of each, in order.
    """

    columns: Columns
    codes: tuple[tuple[tuple[int, int], ...], ...]

    def added_up(self, table: NDArray[Any]) -> Any:
        """The cells that count, of the table over these columns."""
        for axis, runs in enumerate(self.codes):
            before: tuple[slice, ...] = (slice(None),) * axis
            parts = [table[(*before, slice(first, last + 1))] for first, last in runs]
            table = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axis)
        return table.sum()


@dataclass(frozen=True, slots=True)
class Cells:
    """A query about counts that is no conjunction: how many rows are in some cells of a table. A row is in one cell, and moves it by at most 1.

    `runs` are the cells that count, numbered with the last column fastest, as runs of neighbours: the first and the last of each, in order.
    """

    columns: Columns
    runs: tuple[tuple[int, int], ...]

    def added_up(self, table: NDArray[Any]) -> Any:
        """The cells that count, of the table over these columns."""
        return table.reshape(-1)[self.mask(table.shape).reshape(-1)].sum()

    def mask(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Whether each cell counts."""
        steps = np.zeros(math.prod(shape) + 1, np.int8)
        firsts, lasts = np.array(self.runs, np.int64).T
        steps[firsts] += 1
        steps[lasts + 1] -= 1
        return np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_).reshape(shape)


CountQuery: TypeAlias = Conjunction | Cells


class Guard(Protocol):
    """One run of the sparse vector: it says which query is badly answered, once. Its noisy threshold is in memory only.

    After its positive, and after a restart, it is over: `watch` begins another, and pays. So may be the next, if there was a restart after it:
    `while guard.is_over: guard = measurer.watch(mechanism)`.
    """

    @property
    def is_over(self) -> bool:
        """Whether it has given its positive, or ended by a restart, which is stored as a step where it is first asked."""

    def first_above(self, queries: Sequence[CountQuery], estimates: Counts) -> int | None:
        """Of queries in order, the first whose exact value is further from its estimate (times GRID) than the noisy threshold allows.

        None: all are below. What comes after the first was not looked at. One step for all that were.
        """


class TableMeasurer(Protocol):
    """Tables behind a budget: exact ones of people, or those of a rehearsal. All amounts are in its unit: rho, or epsilon where `is_pure`."""

    @property
    def domain(self) -> Domain:
        """What is public about the rows."""

    @property
    def is_pure(self) -> bool:
        """Whether the budget is a pure epsilon: tables are then measured with Laplace noise, else with Gaussian."""

    @property
    def budget(self) -> Fraction:
        """All that was paid for this run."""

    @property
    def left(self) -> Fraction:
        """What is left of it; a last look may cost just this much."""

    @property
    def measurements(self) -> tuple[MeasurementResult, ...]:
        """Every table and choice so far, in order."""

    def shares(self, weights: Sequence[Number], *, of: Number | None = None) -> list[Fraction]:
        """Parts of an amount (of what is left, if none is given) in proportion to weights; together they are never more."""

    def noise(self, columns: Columns, share: Fraction) -> Gaussian | Laplace:
        """The mechanism that measures a table for so much: its noise is known before it is drawn. Nothing is spent."""

    def noisy(self, columns: Columns, mechanism: Gaussian | Laplace) -> Measured:
        """The table over some columns with noise. `()` is the number of rows, which is private."""


class Measurer(TableMeasurer, Protocol):
    """Exact tables behind a budget, and all that can be seen of them."""

    def combined(self, columns: Columns, combination: Combination, mechanism: Gaussian | Laplace) -> Counts:
        """What is kept of whole-number combinations of a table's counts with noise, whose sensitivity is for them."""

    def counted(self, query: CountQuery, mechanism: Gaussian | Laplace) -> int:
        """How many rows a conjunction counts, with noise."""

    def invariant(self, columns: Columns, combination: Combination) -> Counts:
        """Sums of a table's counts as they are: only those that the owner has declared to be outside of any price, which this run was made for."""

    def choice(self, weights: Iterable[int], share: Fraction) -> Exponential:
        """The mechanism that chooses among as many candidates as there are weights, for so much. Nothing is spent."""

    def worst(
        self,
        estimates: Mapping[Columns, Counts],
        weights: Mapping[Columns, int],
        penalties: Mapping[Columns, int],
        mechanism: Exponential,
    ) -> Columns:
        """The candidate A with a large w_A (‖exact table − estimate‖₁ − b_A), noisily: by the exponential mechanism, not monotone.

        `estimates` has the model's table for each candidate, times GRID (`on_grid`); `weights` whole numbers w_A from 1 to 1,000; `penalties`
        b_A times GRID, whole. All three depend on earlier looks only, and have the same keys, whose order is that of the candidates.
        """

    def small_choice(self, length: int, share: Fraction) -> Exponential:
        """The mechanism that chooses among all databases of so many cells, for so much. Nothing is spent."""

    def small_database(self, tables: Sequence[Columns], rows_each: int, mechanism: Exponential) -> SmallDatabase:
        """A small database that has every count of some tables near, noisily: by the exponential mechanism on minus its largest difference.

        `rows_each` is a whole number of rows that each of its cells stands for, from earlier looks.
        """

    def watch(self, mechanism: AboveThreshold) -> Guard:
        """Begin a run of the sparse vector, paid in full now. Its sensitivity and threshold are times GRID, it is not monotone, and has one positive."""

    def part(self, share: Fraction) -> Measurer:
        """A measurer of the same rows and steps whose whole budget is a part of this one's; what it spends is spent here, too."""

    def merged(self, groups: Groups) -> Measurer:
        """A measurer of the same rows with fewer codes, of the same budget, and of the same steps. `groups` is decided by earlier looks only."""
