"""The most triangles that can be counted, in fractions, so that no node is in more than so many: a linear program with an integer certificate.

Its value f moves by at most `most` when a node comes, goes or is replaced. A solver's floats prove nothing, so they are only a
suggestion: a solution of the program and one of its dual are made of them in integers, and f lies between their values. What is
released is the lower value rounded down; where both are within 1, as they must be, it is off from f by less than 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import EngineFailure
from discreet.optional import optional

Integers = NDArray[np.int64]
_GRID = 1 << 30
ROUNDING = 1
"""How much further the released number can move than f: two whole numbers, each less than 2 below f."""


def bounded_triangles(triangles: Integers, *, size: int, most: int) -> int:
    """The number of triangles of which each node is in at most `most`, fractions of triangles allowed, rounded down.

    One node more, less or in place of another moves it by at most `most` + `ROUNDING`.

    Args:
        triangles: Three columns of nodes.
        size: How many nodes there are.
        most: In how many each may be.
    """
    corners = np.bincount(triangles.ravel(), minlength=size)
    crowded = corners[triangles].max(axis=1, initial=0) > most
    free = int((~crowded).sum())  # no node of theirs is in too many: they count in full, and only use up room
    inside = triangles[crowded]
    if not inside.size:
        return free
    used = np.bincount(triangles[~crowded].ravel(), minlength=size)
    room = most - used  # at least 0: a node of a free triangle is in at most `most` in all
    x, y = _suggested(inside, room)
    low, high = int(_within_bounds(inside, room, x).sum()), _dual(inside, room, y)
    if high - low > _GRID:
        raise EngineFailure(
            "The linear program of the triangles was not solved closely enough.",
            next_step="Take another bound on the triangles of a node.",
        )
    return free + low // _GRID


def _suggested(triangles: Integers, room: Integers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of the triangles and prices of the nodes, as the solver has them."""
    sparse, optimize = optional("scipy.sparse"), optional("scipy.optimize")
    count = len(triangles)
    rows, columns = triangles.ravel(), np.repeat(np.arange(count), 3)
    matrix = sparse.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(room.size, count))
    solved = optimize.linprog(-np.ones(count), A_ub=matrix, b_ub=room.astype(np.float64), bounds=(0, 1), method="highs")
    if solved.x is None:
        return np.zeros(count), np.ones(room.size)
    return np.asarray(solved.x), -np.asarray(solved.ineqlin.marginals)


def _within_bounds(triangles: Integers, room: Integers, x: NDArray[np.float64]) -> Integers:
    """A solution that keeps every bound, in parts of `_GRID`: the suggestion rounded down, and cut where it is too much."""
    whole = np.clip(np.floor(np.nan_to_num(x) * _GRID), 0, _GRID).astype(np.int64)
    limit, corners = room * _GRID, np.bincount(triangles.ravel(), minlength=room.size)
    excess = np.maximum(_sums(triangles, whole, room.size) - limit, 0)
    # Each triangle gives up its part of the excess of its worst node, rounded up; where it had less, the others give more.
    parts = -(-excess // np.maximum(corners, 1))
    whole = np.maximum(whole - parts[triangles].max(axis=1), 0)
    for node in np.flatnonzero(_sums(triangles, whole, room.size) > limit).tolist():
        places = np.flatnonzero((triangles == node).any(axis=1))
        before = np.cumsum(whole[places]) - whole[places]
        whole[places] = np.minimum(whole[places], np.maximum(int(limit[node]) - before, 0))
    return whole


def _sums(triangles: Integers, whole: Integers, size: int) -> Integers:
    sums = np.zeros(size, np.int64)
    np.add.at(sums, triangles.ravel(), np.repeat(whole, 3))
    return sums


def _dual(triangles: Integers, room: Integers, y: NDArray[np.float64]) -> int:
    """The value of prices y >= 0 of the nodes, and z = max(0, 1 - their sum) of the triangles: no solution is worth more."""
    prices = np.clip(np.rint(np.nan_to_num(y) * _GRID), 0, _GRID).astype(np.int64)
    rest = np.maximum(0, _GRID - prices[triangles].sum(axis=1))
    return sum(int(a) * int(b) for a, b in zip(prices.tolist(), room.tolist(), strict=True)) + int(rest.sum())
