"""The most triangles that can be counted, in fractions, so that no node is in more than so many: a linear program with an integer certificate.

Its value f moves by at most `most` when a node comes, goes or is replaced. A solver's floats prove nothing, so they are only a
suggestion: a solution of the program and one of its dual are made of them in integers, and f lies between their values. What is
released is the lower value rounded down; where both are within 1, it is off from f by less than 2. Where they are not, the program is
solved by pivots in whole fractions, which needs no suggestion and always ends: there is an answer for every network, or no time for it.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from discreet.core.optional_imports import optional
from discreet.engines.graphs.exact_graphs import out_of_time
from discreet.engines.graphs.pivoting import largest_value

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
_GRID = 1 << 30
_METHODS = ("highs", "highs-ipm")
"""Of the solver, one after another."""
ROUNDING = 1
"""How much further the released number can move than f: two whole numbers, each less than 2 below f."""


def bounded_triangles(triangles: Integers, *, size: int, most: int, until: float = math.inf) -> int:
    """The number of triangles of which each node is in at most `most`, fractions of triangles allowed, rounded down.

    One node more, less or in place of another moves it by at most `most` + `ROUNDING`.

    Args:
        triangles: Three columns of nodes.
        size: How many nodes there are.
        most: In how many each may be.
        until: When to give up, by the monotonic clock.
    """
    corners = np.bincount(triangles.ravel(), minlength=size)
    crowded = corners[triangles].max(axis=1, initial=0) > most
    free = int((~crowded).sum())  # no node of theirs is in too many: they count in full, and only use up room
    inside = triangles[crowded]
    if not inside.size:
        return free
    used = np.bincount(triangles[~crowded].ravel(), minlength=size)
    room = most - used  # at least 0: a node of a free triangle is in at most `most` in all
    return free + _value(inside, room, until)


def _value(triangles: Integers, room: Integers, until: float) -> int:
    """A whole number above f - 2, and at most f."""
    for method in _METHODS:
        if time.monotonic() > until:
            raise out_of_time()
        x, y = _suggested(triangles, room, method, until)
        low, high = int(_within_bounds(triangles, room, x).sum()), _dual(triangles, room, y)
        if high - low <= _GRID:
            return low // _GRID
    return math.floor(largest_value(triangles, room, until=until))


def _suggested(triangles: Integers, room: Integers, method: str, until: float) -> tuple[Floats, Floats]:
    """Values of the triangles and prices of the nodes, as the solver has them; whatever it does, they are only suggested."""
    sparse, optimize = optional("scipy.sparse"), optional("scipy.optimize")
    count = len(triangles)
    rows, columns = triangles.ravel(), np.repeat(np.arange(count), 3)
    matrix = sparse.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(room.size, count))
    limit = {} if math.isinf(until) else {"time_limit": max(0.0, until - time.monotonic())}
    try:
        solved = optimize.linprog(
            -np.ones(count), A_ub=matrix, b_ub=room.astype(np.float64), bounds=(0, 1), method=method, options=limit
        )
        return np.asarray(solved.x, np.float64).reshape(count), -np.asarray(solved.ineqlin.marginals, np.float64)
    except Exception:  # noqa: BLE001  it has none: what it could not do may hang on somebody's edges
        return np.zeros(count), np.zeros(room.size)


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
