"""Decoding: recover bits from many sufficiently accurate sums of them.

Bits are -1 or +1, and answers approximate `matrix @ bits`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.core.optional_imports import optional

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_TINY = 1e-9


def by_least_squares(matrix: Floats, answers: Floats, *, variance: float = 0.0) -> Floats:
    """Return the bits that minimize the sum of squared errors.

    A known variance of the noise gives the weight of the prior that bits are -1 or +1 (ridge regression).

    Citation: Dinur, Nissim 2003; Dwork, Yekhanin 2008.
    """
    ridge = max(variance, _TINY) * np.eye(matrix.shape[1])
    return np.linalg.solve(matrix.T @ matrix + ridge, matrix.T @ answers).astype(np.float64)


def by_linear_program(matrix: Floats, answers: Floats) -> Floats:
    """Return the bits, as numbers from -1 to 1, that minimize the sum of absolute errors: robust to arbitrary answers.

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
    """Return the candidates whose sums are within `within` of every answer."""
    left = np.arange(len(candidates))
    step = 32
    for first in range(0, len(queries), step):
        part = slice(first, first + step)
        off = np.abs(candidates[left] @ queries[part].T - answers[part])
        left = left[(off <= within + 1e-9).all(axis=1)]
    return left
