"""The optimal strategy under rho, for any workload over few cells.

Among all strategies A whose columns have length at most 1, the total squared error tr(G M⁻¹) with M = AᵀA is least for
M = D^-½ (D^½ G D^½)^½ D^-½, where D is the positive diagonal matrix for which all diagonal entries of M are equal.
Every D gives a lower bound on the error of all strategies, (tr (D^½ G D^½)^½)² / tr D, so the search knows how far it
is from the optimum. D = 1 gives the singular value bound of Li and Miklau. The matrix that is measured is an integer
matrix close to the optimal one, and all errors are computed from that integer matrix.

Citation: Li, Miklau 2013 (arXiv:1202.3807), singular value bound; Yuan, Yang, Zhang, Hao 2016 (arXiv:1602.04302),
optimality conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
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

MOST_CELLS_OPTIMISED = 1024
_SCALE = 1 << 18
"""Approximate length of the longest column of the matrix that is measured."""
_GAP = 1.001
"""The search ends when the squared error is at most this multiple of the lower bound."""
_ROUNDS = 40
_RIDGE = 1e-9
"""Added to the diagonal of the Gram matrix, relative to its mean, so that every cell can be estimated."""


@dataclass(frozen=True, eq=False)
class Rows(Combination):
    """The product of an integer matrix with the counts."""

    matrix: Integers

    def __post_init__(self) -> None:
        largest = int(np.abs(self.matrix).max())
        if largest**2 * self.size > 1 << 53:
            raise BadInput("The numbers of this strategy are too large.", next_step="Divide them by a common factor.")

    @property
    def cells(self) -> int:  # type: ignore[override]
        return int(self.matrix.shape[1])

    @property
    def size(self) -> int:  # type: ignore[override]
        return int(self.matrix.shape[0])

    @property
    def most(self) -> int:  # type: ignore[override]
        return int(np.abs(self.matrix).sum(axis=1).max())

    @property
    def described(self) -> dict[str, Any]:
        return {"combination": "Rows", "matrix": self.matrix.tolist()}

    def before(self, counts: Integers) -> Integers:
        return self.matrix @ counts

    def reach(self, neighbours: Neighbours) -> Reach:
        """The largest norm of a column or, if rows are replaced, of the difference of two columns."""
        squares = int(self._products.diagonal().max())
        total = int(np.abs(self.matrix).sum(axis=0).max())
        if neighbours is Neighbours.REPLACE_ONE:
            own = self._products.diagonal()
            squares = max(squares, int((own[:, None] + own - 2 * self._products).max()))
            total *= 2
        return Reach(total, Fraction(squares))

    @cached_property
    def _products(self) -> Integers:
        """Inner products of all pairs of columns: sums of integers that doubles hold exactly."""
        numbers = self.matrix.astype(np.float64)
        return (numbers.T @ numbers).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Optimal(OfCells):
    """A square integer matrix that is measured with one noise."""

    combinations: tuple[Rows]
    name: str = "optimal"

    @cached_property
    def _inverse(self) -> Floats:
        return np.linalg.inv(self.combinations[0].matrix.astype(np.float64))

    def shares(self, queries: Queries, budget: WorkloadBudget) -> Floats:  # noqa: ARG002  the only combination gets all
        return np.ones(1)

    def total_error(self, queries: Queries, precisions: Floats) -> float:
        return float(np.sum((queries.gram @ self._inverse) * self._inverse) / precisions[0])

    def variances_of(self, rows: Floats, precisions: Floats) -> Floats:
        return np.sum((rows @ self._inverse) ** 2, axis=1) / precisions[0]

    def solve(self, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> Floats:  # noqa: ARG002
        assert noisy[0] is not None  # noqa: S101  the only combination is always measured
        return self._inverse @ noisy[0].astype(np.float64)


def optimal(queries: Queries) -> Optimal:
    """Return the strategy with the least error under rho, up to 0.1 % and rounding to integers.

    Args:
        queries: Workload over at most 1,024 cells.
    """
    factor = best_factor(queries.gram)
    longest = np.sqrt(np.sum(factor**2, axis=0).max())
    return Optimal((Rows(np.rint(factor * (_SCALE / longest)).astype(np.int64)),))


def singular_value_bound(gram: Floats) -> float:
    """Return a lower bound on the total squared error of any strategy, for columns of length 1 and noise of variance 1.

    Args:
        gram: Gram matrix of the workload.
    """
    return float(np.sum(np.sqrt(np.maximum(np.linalg.eigvalsh(gram), 0))) ** 2 / len(gram))


def best_factor(gram: Floats) -> Floats:
    """Return A with AᵀA = M, by making all diagonal entries of M equal.

    Args:
        gram: Gram matrix of the workload.
    """
    size = len(gram)
    needs = gram + np.eye(size) * (_RIDGE * np.trace(gram) / size)
    scale = np.ones(size)
    best, factor = np.inf, np.eye(size)
    for _ in range(_ROUNDS):
        values, vectors = np.linalg.eigh(needs * np.sqrt(np.outer(scale, scale)))
        roots = np.sqrt(np.maximum(values, values[-1] * 1e-15))
        diagonal = vectors**2 @ roots / scale  # of M
        error, bound = roots.sum() * diagonal.max(), roots.sum() ** 2 / scale.sum()
        if error < best:
            best, factor = error, np.sqrt(roots)[:, None] * vectors.T / np.sqrt(scale)
        if error <= _GAP * bound:
            break
        scale *= (diagonal / diagonal.max()) ** 2
        scale /= scale.mean()
    return factor
