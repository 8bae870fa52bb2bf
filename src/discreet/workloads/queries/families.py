"""Families of counting queries over the cells of one column, with their Gram matrices in closed form.

A family is a matrix W with a row per query. The total squared error of a strategy depends only on its Gram matrix WᵀW.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput

Floats = NDArray[np.float64]


class Family(ABC):
    """Queries over the cells of one column, in the order of the cells."""

    def check(self, cells: int) -> None:  # noqa: B027  most families fit every column
        """Refuse a column with another number of cells than the family has."""

    @abstractmethod
    def count(self, cells: int) -> int:
        """Number of queries."""

    @abstractmethod
    def names(self, labels: Sequence[str]) -> list[str]:
        """The name of each query, from the labels of the cells."""

    @abstractmethod
    def matrix(self, cells: int) -> Floats:
        """The query matrix: a row per query, a column per cell."""

    @abstractmethod
    def gram(self, cells: int) -> Floats:
        """The Gram matrix: for each pair of cells, the sum over all queries of the product of their entries."""

    def answers(self, counts: Floats) -> Floats:
        """The answers to all queries from counts whose last axis is the column."""
        return counts @ self.matrix(counts.shape[-1]).T

    @abstractmethod
    def block_sums(self, cells: int, size: int) -> float:
        """The sum of the Gram matrix over all pairs of cells that share a block of `size` consecutive cells."""


@dataclass(frozen=True, slots=True)
class Points(Family):
    """The count of every cell."""

    def count(self, cells: int) -> int:
        return cells

    def names(self, labels: Sequence[str]) -> list[str]:
        return list(labels)

    def matrix(self, cells: int) -> Floats:
        return np.eye(cells)

    def gram(self, cells: int) -> Floats:
        return np.eye(cells)

    def answers(self, counts: Floats) -> Floats:
        return counts

    def block_sums(self, cells: int, size: int) -> float:  # noqa: ARG002
        return float(cells)


@dataclass(frozen=True, slots=True)
class Total(Family):
    """The count of all rows."""

    def count(self, cells: int) -> int:  # noqa: ARG002
        return 1

    def names(self, labels: Sequence[str]) -> list[str]:  # noqa: ARG002
        return ["all"]

    def matrix(self, cells: int) -> Floats:
        return np.ones((1, cells))

    def gram(self, cells: int) -> Floats:
        return np.ones((cells, cells))

    def block_sums(self, cells: int, size: int) -> float:
        whole, rest = divmod(cells, size)
        return float(whole * size**2 + rest**2)


@dataclass(frozen=True, slots=True)
class Thresholds(Family):
    """For each cell, the number of rows in that cell or a lower one."""

    def count(self, cells: int) -> int:
        return cells

    def names(self, labels: Sequence[str]) -> list[str]:
        return [f"up to {label}" for label in labels]

    def matrix(self, cells: int) -> Floats:
        return np.tri(cells)

    def gram(self, cells: int) -> Floats:
        cell = np.arange(cells, dtype=np.float64)
        return cells - np.maximum.outer(cell, cell)

    def answers(self, counts: Floats) -> Floats:
        return np.cumsum(counts, axis=-1)

    def block_sums(self, cells: int, size: int) -> float:
        cell = np.arange(cells, dtype=np.float64)
        return float(np.sum((cells - cell) * (2 * (cell % size) + 1)))


@dataclass(frozen=True, slots=True)
class Ranges(Family):
    """The number of rows in every range of cells, both ends included."""

    def count(self, cells: int) -> int:
        return cells * (cells + 1) // 2

    def names(self, labels: Sequence[str]) -> list[str]:
        return [f"{first} to {last}" for at, first in enumerate(labels) for last in labels[at:]]

    def matrix(self, cells: int) -> Floats:
        first, last = np.triu_indices(cells)
        cell = np.arange(cells)
        return ((first[:, None] <= cell) & (cell <= last[:, None])).astype(np.float64)

    def gram(self, cells: int) -> Floats:
        cell = np.arange(cells, dtype=np.float64)
        return (np.minimum.outer(cell, cell) + 1) * (cells - np.maximum.outer(cell, cell))

    def answers(self, counts: Floats) -> Floats:
        first, last = np.triu_indices(counts.shape[-1])
        up_to = np.cumsum(counts, axis=-1)
        return up_to[..., last] - up_to[..., first] + counts[..., first]

    def block_sums(self, cells: int, size: int) -> float:
        first = np.arange(cells, dtype=np.float64) + 1
        last = cells - np.arange(cells, dtype=np.float64)
        before = np.cumsum(first) - first
        before -= np.repeat(before[::size], size)[:cells]  # only within the same block
        return float(np.sum(first * last + 2 * before * last))


@dataclass(frozen=True, slots=True, eq=False)
class Listed(Family):
    """Queries given as a matrix: predicates, or weighted sums."""

    rows: Floats

    def check(self, cells: int) -> None:
        if self.rows.shape[1] != cells:
            raise BadInput(
                f"These queries have {self.rows.shape[1]} numbers each, and the column has {cells} cells.",
                next_step="Give each query a number for every cell of its column, in order.",
            )

    def count(self, cells: int) -> int:  # noqa: ARG002
        return len(self.rows)

    def names(self, labels: Sequence[str]) -> list[str]:  # noqa: ARG002
        return [f"query {number}" for number in range(1, len(self.rows) + 1)]

    def matrix(self, cells: int) -> Floats:  # noqa: ARG002
        return self.rows

    def gram(self, cells: int) -> Floats:  # noqa: ARG002
        return self.rows.T @ self.rows

    def block_sums(self, cells: int, size: int) -> float:
        return float(np.sum(np.add.reduceat(self.rows, np.arange(0, cells, size), axis=1) ** 2))
