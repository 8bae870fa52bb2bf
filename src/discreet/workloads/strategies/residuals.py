"""Tables over any columns, by residuals: what a table says beyond the tables over fewer columns, each measured once.

For columns A with nᵢ cells each, P = ⊗(I − 11ᵀ/nᵢ) takes from a table what smaller tables already say. A residual is S(N·x + z), where x is the table, N = Πnᵢ, z integer noise on every cell and
S = ⊗(1 | −I) subtracts from each cell's first neighbour. S = SP, so the output has the law of S(N·P·x + z), and one row moves N·P·x less than it moves N·x: that is what is paid for. The noisy table
itself would cost more, and is never kept.

Citation: Xiao, He, Zhang, Kifer 2023 (arXiv:2305.08175), "ResidualPlanner"; the integers are ours (`docs/explanation/proofs/workloads.md`).
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
from discreet.workloads.strategies.workload_budget import Price


@dataclass(frozen=True, slots=True)
class Residual(Combination):
    """What the table over `places` says beyond smaller ones; `sizes` are the cells of its columns, at least two each."""

    places: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        return self.places

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
        """How much of a row's length the projection P leaves: Π(1 − 1/nᵢ)."""
        return math.prod((1 - Fraction(1, size) for size in self.sizes), start=Fraction(1))

    @property
    def described(self) -> dict[str, Any]:
        return {"combination": "Residual", "sizes": list(self.sizes)}

    def before(self, counts: Integers) -> Integers:
        """N·P·x, in integers: along each axis n times the cell, less the sum."""
        table = counts.reshape(self.sizes)
        for axis, size in enumerate(self.sizes):
            table = size * table - table.sum(axis=axis, keepdims=True)
        return table.reshape(-1)

    def after(self, noisy: Integers) -> Integers:
        """S of it: along each axis the first cell, less each other."""
        table = noisy.reshape(self.sizes)
        for axis in range(len(self.sizes)):
            first, others = np.split(table, [1], axis=axis)
            table = first - others
        return table.reshape(-1)

    def reach(self, neighbours: Neighbours) -> Reach:
        """Of what is kept, which could as well be made of N·x: squares through the projection, totals without it."""
        squares = self.cells**2 * self.share_of_cell
        if neighbours is Neighbours.ADD_REMOVE or not self.sizes:
            return Reach(self.cells, squares)
        fewest = min(self.sizes)  # two cells that differ there alone are the farthest apart
        return Reach(2 * self.cells, 2 * squares * Fraction(fewest, fewest - 1))

    def table(self, kept: NDArray[Any]) -> Floats:
        """P·x as it was estimated: S undone as far as it can be."""
        table = kept.astype(np.float64).reshape(tuple(size - 1 for size in self.sizes))
        for axis, size in enumerate(self.sizes):
            below = np.concatenate([np.zeros_like(table.take([0], axis=axis)), table], axis=axis)
            table = below.sum(axis=axis, keepdims=True) / size - below
        return table / self.cells


@dataclass(frozen=True, slots=True)
class Residuals(Strategy):
    """A residual for every set of columns within a table that is asked for."""

    combinations: tuple[Residual, ...]
    name: str = "residuals"

    @classmethod
    def of(cls, queries: Queries) -> Residuals:
        """The residuals that tables are made of.

        Args:
            queries: Tables, and nothing else.
        """
        sets = {subset for term in queries.terms for subset in _subsets(_varied(queries, term.columns))}
        ordered = sorted(sets, key=lambda subset: (len(subset), subset))
        return cls(tuple(Residual(subset, tuple(queries.sizes[i] for i in subset)) for subset in ordered))

    @property
    def _left(self) -> Floats:
        """How much of the noise on one cell a residual adds to it, apart from its scale."""
        return np.array([float(residual.share_of_cell) for residual in self.combinations])

    def _parts(self, queries: Queries) -> Iterator[tuple[int, list[int]]]:
        """For each term the cells of its table, and the numbers of the residuals that it is made of."""
        number = {residual.places: number for number, residual in enumerate(self.combinations)}
        for term in queries.terms:
            columns = _varied(queries, term.columns)
            yield math.prod(queries.sizes[i] for i in columns), [number[subset] for subset in _subsets(columns)]

    def _asked(self, queries: Queries) -> Floats:
        """How much each residual's variance counts in the total error."""
        asked = np.zeros(len(self.combinations))
        for term, (cells, parts) in zip(queries.terms, self._parts(queries), strict=True):
            asked[parts] += term.weight / cells
        return asked * self._left

    def shares(self, queries: Queries, price: Price) -> Floats:
        """By Lagrange: in proportion to the root of what each adds to the error, the third root under epsilon."""
        units = np.array([price.unit(residual) for residual in self.combinations])
        shares = (self._asked(queries) / units) ** (1 / 2 if price.gaussian else 1 / 3)
        return shares / shares.sum()

    def total_error(self, queries: Queries, precisions: Floats) -> float:
        return float(np.sum(self._asked(queries) / precisions))

    def variances(self, queries: Queries, precisions: Floats) -> Iterator[Floats]:
        noise = self._left / precisions
        for shape, (cells, parts) in zip(queries.shapes(), self._parts(queries), strict=True):
            yield np.full(shape, noise[parts].sum() / cells**2)

    def answers(self, queries: Queries, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> list[Floats]:  # noqa: ARG002
        measured = zip(self.combinations, noisy, strict=True)
        tables = {residual.places: residual.table(kept) for residual, kept in measured if kept is not None}
        return [_added_up(queries, term.columns, tables) for term in queries.terms]


def _added_up(queries: Queries, columns: tuple[int, ...], tables: dict[tuple[int, ...], Floats]) -> Floats:
    """A table as the sum of its residuals, each spread evenly over the columns that it does not have."""
    shape = tuple(queries.sizes[i] for i in columns)
    total = np.zeros(shape)
    for subset in _subsets(_varied(queries, columns)):
        own = tuple(queries.sizes[i] if i in subset else 1 for i in columns)
        total += tables[subset].reshape(own) * (math.prod(own) / math.prod(shape))
    return total


def _varied(queries: Queries, columns: tuple[int, ...]) -> tuple[int, ...]:
    """Without columns of a single cell, which say nothing."""
    return tuple(i for i in columns if queries.sizes[i] > 1)


def _subsets(columns: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(columns, size) for size in range(len(columns) + 1))
