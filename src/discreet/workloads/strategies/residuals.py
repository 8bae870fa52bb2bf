"""Marginals by residuals: the part of a table that tables over fewer columns do not determine, each measured once.

For columns with nᵢ cells each, P = ⊗(I − 11ᵀ/nᵢ) removes from a table the part that smaller tables determine. A
residual is S(N·x + z), where x is the table, N = Πnᵢ, z is integer noise on every cell, and S = ⊗(1 | −I) subtracts
every cell from the first one. S = SP, so the output has the law of S(N·P·x + z). One row moves N·P·x less than N·x, and
this smaller distance determines the cost. The noisy table itself would cost more; it is discarded.

Citation: Xiao, He, Zhang, Kifer 2023 (arXiv:2305.08175), "ResidualPlanner"; the integer version is ours
(`docs/explanation/proofs/workloads.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.loss import Neighbours
from discreet.mechanisms.additive.combinations import Combination, Integers, Reach
from discreet.workloads.queries.families import Floats
from discreet.workloads.queries.workload import Queries
from discreet.workloads.strategies.strategy import Strategy
from discreet.workloads.strategies.workload_budget import WorkloadBudget


@dataclass(frozen=True, slots=True)
class Residual(Combination):
    """The residual of the table over the columns at `positions`; `sizes` are their numbers of cells, at least 2."""

    positions: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        return self.positions

    @property
    def cells(self) -> int:  # type: ignore[override]
        return math.prod(self.sizes)

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.cells

    @property
    def kept(self) -> int:
        return math.prod(size - 1 for size in self.sizes)

    @property
    def most(self) -> int:  # type: ignore[override]
        return self.cells << len(self.sizes)

    @property
    def share_of_cell(self) -> Fraction:
        """The squared length of a row's image under the projection P: Π(1 − 1/nᵢ)."""
        return math.prod((1 - Fraction(1, size) for size in self.sizes), start=Fraction(1))

    @property
    def described(self) -> dict[str, Any]:
        return {"combination": "Residual", "sizes": list(self.sizes)}

    def before(self, counts: Integers) -> Integers:
        """N·P·x, in integers: along each axis n times the cell, minus the sum."""
        table = counts.reshape(self.sizes)
        for axis, size in enumerate(self.sizes):
            table = size * table - table.sum(axis=axis, keepdims=True)
        return table.reshape(-1)

    def after(self, noisy: Integers) -> Integers:
        """Apply S: along each axis the first cell minus each other one."""
        table = noisy.reshape(self.sizes)
        for axis in range(len(self.sizes)):
            first, others = np.split(table, [1], axis=axis)
            table = first - others
        return table.reshape(-1)

    def reach(self, neighbours: Neighbours) -> Reach:
        """The reach: squares after the projection, totals before it, because either gives the same output."""
        squares = self.cells**2 * self.share_of_cell
        if neighbours is Neighbours.ADD_REMOVE or not self.sizes:
            return Reach(self.cells, squares)
        fewest = min(self.sizes)  # two cells that differ only in this column are furthest apart
        return Reach(2 * self.cells, 2 * squares * Fraction(fewest, fewest - 1))

    def table(self, kept: NDArray[Any]) -> Floats:
        """The estimate of P·x from a residual."""
        table = kept.astype(np.float64).reshape(tuple(size - 1 for size in self.sizes))
        for axis, size in enumerate(self.sizes):
            below = np.concatenate([np.zeros_like(table.take([0], axis=axis)), table], axis=axis)
            table = below.sum(axis=axis, keepdims=True) / size - below
        return table / self.cells


@dataclass(frozen=True, slots=True)
class Residuals(Strategy):
    """A residual for every subset of the columns of each marginal in a workload."""

    combinations: tuple[Residual, ...]
    name: str = "residuals"

    @classmethod
    def of(cls, queries: Queries) -> Residuals:
        """Return the residuals of a workload of marginals."""
        sets = {subset for term in queries.terms for subset in _subsets(_varying(queries, term.columns))}
        ordered = sorted(sets, key=lambda subset: (len(subset), subset))
        return cls(tuple(Residual(subset, tuple(queries.sizes[i] for i in subset)) for subset in ordered))

    @property
    def _noise_shares(self) -> Floats:
        """For each residual, the share of its noise variance that reaches one cell of its table."""
        return np.array([float(residual.share_of_cell) for residual in self.combinations])

    def _parts(self, queries: Queries) -> Iterator[tuple[int, list[int]]]:
        """For each term, the number of cells of its table, and its residuals by their positions."""
        number = {residual.positions: number for number, residual in enumerate(self.combinations)}
        for term in queries.terms:
            columns = _varying(queries, term.columns)
            yield math.prod(queries.sizes[i] for i in columns), [number[subset] for subset in _subsets(columns)]

    def _weights(self, queries: Queries) -> Floats:
        """The weight of each residual's variance in the total error."""
        weights = np.zeros(len(self.combinations))
        for term, (cells, parts) in zip(queries.terms, self._parts(queries), strict=True):
            weights[parts] += term.weight / cells
        return weights * self._noise_shares

    def shares(self, queries: Queries, budget: WorkloadBudget) -> Floats:
        """By Lagrange multipliers: in proportion to the root of each contribution, the cube root under epsilon."""
        units = np.array([budget.unit(residual) for residual in self.combinations])
        shares = (self._weights(queries) / units) ** (1 / 2 if budget.gaussian else 1 / 3)
        return shares / shares.sum()

    def total_error(self, queries: Queries, precisions: Floats) -> float:
        return float(np.sum(self._weights(queries) / precisions))

    def variances(self, queries: Queries, precisions: Floats) -> Iterator[Floats]:
        noise = self._noise_shares / precisions
        for shape, (cells, parts) in zip(queries.shapes(), self._parts(queries), strict=True):
            yield np.full(shape, noise[parts].sum() / cells**2)

    def answers(self, queries: Queries, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> list[Floats]:  # noqa: ARG002
        measured = zip(self.combinations, noisy, strict=True)
        tables = {residual.positions: residual.table(kept) for residual, kept in measured if kept is not None}
        return [_sum_of_residuals(queries, term.columns, tables) for term in queries.terms]


def _sum_of_residuals(queries: Queries, columns: tuple[int, ...], tables: dict[tuple[int, ...], Floats]) -> Floats:
    """A table as the sum of its residuals, each spread evenly over the columns that it lacks."""
    shape = tuple(queries.sizes[i] for i in columns)
    total = np.zeros(shape)
    for subset in _subsets(_varying(queries, columns)):
        own = tuple(queries.sizes[i] if i in subset else 1 for i in columns)
        total += tables[subset].reshape(own) * (math.prod(own) / math.prod(shape))
    return total


def _varying(queries: Queries, columns: tuple[int, ...]) -> tuple[int, ...]:
    """The columns with more than one cell."""
    return tuple(i for i in columns if queries.sizes[i] > 1)


def _subsets(columns: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(columns, size) for size in range(len(columns) + 1))
