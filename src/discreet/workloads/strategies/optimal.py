"""The best strategy there is under rho, for any workload over few cells.

Among all strategies whose columns have length at most 1, the least total squared error tr(G M⁻¹), M = AᵀA, has M = D^-½ (D^½ G D^½)^½ D^-½ for the positive diagonal D
that makes the diagonal of M even. Every D gives a lower bound on the error of all strategies, (tr (D^½ G D^½)^½)² / tr D, so the search knows how far it is from the best; D = 1 gives the
singular value bound of Li and Miklau. What is measured is a whole-number matrix close to the best one, and all that is promised is computed from that matrix.

Citation: Li, Miklau 2013 (arXiv:1202.3807), singular value bound; Yuan, Yang, Zhang, Hao 2016 (arXiv:1602.04302), optimality conditions.
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
from discreet.workloads.strategies.workload_budget import Price

MOST_CELLS_OPTIMISED = 1024
_SCALE = 1 << 18
"""The length of the longest column of the matrix that is measured, about."""
_GAP = 1.001
"""How many times the lower bound the squared error may be when the search ends."""
_ROUNDS = 40
_RIDGE = 1e-9
"""What every cell is asked for beside the workload, in parts of the average cell: so that each can be estimated."""


@dataclass(frozen=True, eq=False)
class Rows(Combination):
    """Whatever a whole-number matrix makes of the counts."""

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
        """The largest norms of a column or, where rows are replaced, of the difference of two."""
        squares = int(self._products.diagonal().max())
        total = int(np.abs(self.matrix).sum(axis=0).max())
        if neighbours is Neighbours.REPLACE_ONE:
            own = self._products.diagonal()
            squares = max(squares, int((own[:, None] + own - 2 * self._products).max()))
            total *= 2
        return Reach(total, Fraction(squares))

    @cached_property
    def _products(self) -> Integers:
        """Of every two columns: sums of whole numbers that doubles hold exactly."""
        numbers = self.matrix.astype(np.float64)
        return (numbers.T @ numbers).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Optimal(OfCells):
    """A square whole-number matrix, measured with one noise."""

    combinations: tuple[Rows]
    name: str = "optimal"

    @cached_property
    def _inverse(self) -> Floats:
        return np.linalg.inv(self.combinations[0].matrix.astype(np.float64))

    def shares(self, queries: Queries, price: Price) -> Floats:  # noqa: ARG002  there is one
        return np.ones(1)

    def total_error(self, queries: Queries, precisions: Floats) -> float:
        return float(np.sum((queries.gram @ self._inverse) * self._inverse) / precisions[0])

    def variances_of(self, rows: Floats, precisions: Floats) -> Floats:
        return np.sum((rows @ self._inverse) ** 2, axis=1) / precisions[0]

    def solve(self, noisy: Sequence[NDArray[Any] | None], precisions: Floats) -> Floats:  # noqa: ARG002
        assert noisy[0] is not None  # noqa: S101  it is all there is
        return self._inverse @ noisy[0].astype(np.float64)


def optimal(queries: Queries) -> Optimal:
    """The strategy with the least error under rho, but for a part in a thousand and the rounding to whole numbers.

    Args:
        queries: Over at most 1,024 cells.
    """
    factor = best_factor(queries.gram)
    longest = np.sqrt(np.sum(factor**2, axis=0).max())
    return Optimal((Rows(np.rint(factor * (_SCALE / longest)).astype(np.int64)),))


def singular_value_bound(gram: Floats) -> float:
    """What no strategy comes below: the total squared error under noise of variance 1 for columns of length 1.

    Args:
        gram: Of the workload.
    """
    return float(np.sum(np.sqrt(np.maximum(np.linalg.eigvalsh(gram), 0))) ** 2 / len(gram))


def best_factor(gram: Floats) -> Floats:
    """A with AᵀA = M, by making the diagonal of M even.

    Args:
        gram: Of the workload.
    """
    size = len(gram)
    asked = gram + np.eye(size) * (_RIDGE * np.trace(gram) / size)
    scale = np.ones(size)
    best, factor = np.inf, np.eye(size)
    for _ in range(_ROUNDS):
        values, vectors = np.linalg.eigh(asked * np.sqrt(np.outer(scale, scale)))
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
