"""Strategies that measure blocks of consecutive cells by level: identity, trees and wavelets.

The cells, padded to a power of the branching, are divided into blocks. Level 0 is one block of all cells; the last
level has blocks of one cell. A tree measures the counts of blocks, a wavelet measures left half minus right half. A row
changes one number per level. Least squares is then diagonal in a fixed basis: vectors that are constant on the blocks
of a level and sum to zero in each block of the level above. This gives errors in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.loss import Neighbours
from discreet.errors import BadInput
from discreet.mechanisms.additive.combinations import Combination, Integers, Reach
from discreet.workloads.queries.families import Floats
from discreet.workloads.queries.workload import Queries
from discreet.workloads.strategies.strategy import OfCells
from discreet.workloads.strategies.workload_budget import WorkloadBudget

_ROUNDS = 400
_NEGLIGIBLE = 1e-3
"""A level with a smaller share is not measured."""


@dataclass(frozen=True, slots=True)
class Blocks(Combination):
    """The counts of blocks of `block` consecutive cells."""

    cells: int
    padded: int
    block: int

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.padded // self.block

    @property
    def most(self) -> int:  # type: ignore[override]
        return self.block

    @property
    def described(self) -> dict[str, Any]:
        return {"combination": type(self).__name__, "block": self.block, "padded": self.padded}

    def before(self, counts: Integers) -> Integers:
        return _pad(counts, self.padded).reshape(-1, self.block).sum(axis=1)

    def reach(self, neighbours: Neighbours) -> Reach:
        """A row is in one block. A row that replaces it is in another, unless there is only one block."""
        if neighbours is Neighbours.ADD_REMOVE or self.size == 1:
            return Reach(1, Fraction(1))
        return Reach(2, Fraction(2))

    def spread(self, noisy: Floats) -> Floats:
        """The transposed matrix: for each cell, the number of its block."""
        return np.repeat(noisy, self.block)


@dataclass(frozen=True, slots=True)
class Halves(Blocks):
    """For each block, the count of its left half minus that of its right half."""

    def before(self, counts: Integers) -> Integers:
        halves = _pad(counts, self.padded).reshape(-1, 2, self.block // 2).sum(axis=2)
        return halves[:, 0] - halves[:, 1]

    def reach(self, neighbours: Neighbours) -> Reach:
        """A row that moves from a left half to the right one moves one number by 2."""
        return Reach(1, Fraction(1)) if neighbours is Neighbours.ADD_REMOVE else Reach(2, Fraction(4))

    def spread(self, noisy: Floats) -> Floats:
        """The transposed matrix: for each cell, the number of its block with the sign of its half."""
        half = self.block // 2
        return np.repeat(np.stack([noisy, -noisy], axis=1).reshape(-1), half)


@dataclass(frozen=True, slots=True)
class Levels(OfCells):
    """A tree or a wavelet over `cells` cells. `blocks` are the sizes of its blocks, from all cells down to one."""

    name: str
    cells: int
    blocks: tuple[int, ...]
    combinations: tuple[Blocks, ...]

    @property
    def padded(self) -> int:
        """Number of cells after padding."""
        return self.combinations[0].padded

    @property
    def _weights(self) -> Floats:
        """For each level of the basis, the contribution of each combination to its eigenvalue."""
        rows = []
        for block in self.blocks:
            above = block if block == self.blocks[0] else self.blocks[self.blocks.index(block) - 1]
            rows.append([_eigenvalue(combination, block, above) for combination in self.combinations])
        return np.array(rows)

    def _details(self, squares: Floats) -> Floats:
        """From squared lengths of projections on ever smaller blocks, the part of each level of the basis."""
        return np.diff(squares, axis=-1, prepend=0.0)

    def _needs(self, queries: Queries) -> Floats:
        return np.maximum(self._details(np.array([queries.block_sums(block) / block for block in self.blocks])), 0.0)

    def shares(self, queries: Queries, budget: WorkloadBudget) -> Floats:
        units = np.array([budget.unit(combination) for combination in self.combinations])
        weights, needs = self._weights * units, self._needs(queries)
        return _best_shares(weights, needs, power=1 if budget.gaussian else 2)

    def total_error(self, queries: Queries, precisions: Floats) -> float:
        return float(np.sum(self._needs(queries) / (self._weights @ precisions)))

    def variances_of(self, rows: Floats, precisions: Floats) -> Floats:
        wide = np.pad(rows, ((0, 0), (0, self.padded - self.cells)))
        sums = [wide.reshape(len(rows), -1, block).sum(axis=2) for block in self.blocks]
        squares = np.stack([np.sum(s**2, axis=1) / block for s, block in zip(sums, self.blocks, strict=True)], axis=1)
        return self._details(squares) @ (1 / (self._weights @ precisions))

    def solve(self, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> Floats:
        gathered = np.zeros(self.padded)
        for combination, precision, numbers in zip(self.combinations, precisions, noisy, strict=True):
            if numbers is not None:
                gathered += precision * combination.spread(numbers.astype(np.float64))
        eigenvalues = self._weights @ precisions
        cells, above = np.zeros(self.padded), np.zeros(self.padded)
        for block, eigenvalue in zip(self.blocks, eigenvalues, strict=True):
            level = np.repeat(gathered.reshape(-1, block).mean(axis=1), block)
            cells += (level - above) / eigenvalue
            above = level
        return cells[: self.cells]


def identity(cells: int) -> Levels:
    """Measure every cell."""
    return Levels("identity", cells, (1,), (Blocks(cells, cells, 1),))


def tree(cells: int, branching: int) -> Levels:
    """Measure blocks that each contain `branching` blocks of the next level."""
    if branching < 2:
        raise BadInput("`branching` must be at least 2.", next_step="Use 2 or more.")
    blocks = _blocks(cells, branching)
    return Levels(f"tree of {branching}", cells, blocks, tuple(Blocks(cells, blocks[0], block) for block in blocks))


def haar(cells: int) -> Levels:
    """Measure the total, and left minus right for every block of a binary tree."""
    blocks = _blocks(cells, 2)
    halves = tuple(Halves(cells, blocks[0], block) for block in blocks[:-1])
    return Levels("wavelet", cells, blocks, (Blocks(cells, blocks[0], blocks[0]), *halves))


def _blocks(cells: int, branching: int) -> tuple[int, ...]:
    blocks = [1]
    while blocks[0] < cells:
        blocks.insert(0, blocks[0] * branching)
    return tuple(blocks)


def _pad(counts: Integers, size: int) -> Integers:
    return np.pad(counts, (0, size - counts.size))


def _eigenvalue(combination: Blocks, block: int, above: int) -> float:
    """The eigenvalue of a basis vector that is constant on blocks of `block` and sums to zero in blocks of `above`."""
    if isinstance(combination, Halves):
        return float(combination.block) if (combination.block, block) == (above, above // 2) else 0.0
    return float(combination.block) if combination.block <= block else 0.0


def _best_shares(weights: Floats, needs: Floats, *, power: int) -> Floats:
    """The shares s that minimise Σ needs / (weights @ s**power), by multiplicative steps; tiny shares are dropped."""
    shares = _descend(weights, needs, np.full(weights.shape[1], 1 / weights.shape[1]), power)
    few = np.where(shares < _NEGLIGIBLE, 0.0, shares)
    if not np.all((weights @ few)[needs > 0] > 0):
        return shares
    return _descend(weights, needs, few / few.sum(), power)


def _descend(weights: Floats, needs: Floats, shares: Floats, power: int) -> Floats:
    """At the optimum all positive shares have the same slope, so a step multiplies each by a root of its slope."""
    is_needed = needs > 0
    weights, needs = weights[is_needed], needs[is_needed]
    for _ in range(_ROUNDS):
        slopes = (needs / (weights @ shares**power) ** 2) @ weights * shares ** (power - 1)
        new = shares * slopes ** (1 / (power + 1))
        new /= new.sum()
        if np.allclose(new, shares, rtol=1e-9, atol=0):
            break
        shares = new
    return shares
