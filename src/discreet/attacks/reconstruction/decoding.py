"""Decoding: from too many sums that are too exact, back to the bits they were made of.

Bits are -1 or +1 here, and answers are about `matrix @ bits`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.core.optional_imports import optional

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_TINY = 1e-9


def by_least_squares(matrix: Floats, answers: Floats, *, variance: float = 0.0) -> Floats:
    """The bits for which the squares of all errors are smallest.

    Where the variance of the noise is known, so is how far the bits can be trusted to be -1 or +1: a ridge.

    Citation: Dinur, Nissim 2003; Dwork, Yekhanin 2008.
    """
    ridge = max(variance, _TINY) * np.eye(matrix.shape[1])
    return np.linalg.solve(matrix.T @ matrix + ridge, matrix.T @ answers).astype(np.float64)


def by_linear_program(matrix: Floats, answers: Floats) -> Floats:
    """The bits, as numbers from -1 to 1, for which the sum of all errors is smallest: a few answers may be anything.

    Citation: Dwork, McSherry, Talwar 2007.
    """
    sparse, optimize = optional("scipy.sparse"), optional("scipy.optimize")
    queries, bits = matrix.shape
    above, below = sparse.eye(queries), -sparse.eye(queries)
    solution = optimize.linprog(
        np.concatenate([np.zeros(bits), np.ones(2 * queries)]),
        A_eq=sparse.hstack([sparse.csr_matrix(matrix), above, below], format="csc"),
        b_eq=answers,
        bounds=[(-1, 1)] * bits + [(0, None)] * (2 * queries),
        method="highs-ipm",
    )
    return np.asarray(solution.x[:bits], np.float64)


def by_exhaustion(queries: Floats, answers: Floats, candidates: Floats, *, within: float) -> npt.NDArray[np.int64]:
    """Which candidates are within `within` of every answer; the fewer are left, the faster it goes."""
    left = np.arange(len(candidates))
    step = 32
    for first in range(0, len(queries), step):
        part = slice(first, first + step)
        off = np.abs(candidates[left] @ queries[part].T - answers[part])
        left = left[(off <= within + 1e-9).all(axis=1)]
    return left
