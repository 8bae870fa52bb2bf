"""The value of the program of triangles without a solver: Dantzig's pivots in whole fractions, chosen by Bland's rule, which never go in circles.

Slow, and exact: for the networks, never seen so far, whose suggested solution does not prove itself.
"""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.engines.graphs.exact_graphs import out_of_time

Integers = NDArray[np.int64]
_MOST_CELLS = 4_000_000
"""Of a table of fractions: a larger one would not end in time."""


def largest_value(triangles: Integers, room: Integers, *, until: float) -> Fraction:
    """The most that triangles can be worth together: each at most 1, and those of a node at most its room.

    Citation: Bland 1977, "New finite pivoting rules for the simplex method".

    Args:
        triangles: Three columns of nodes.
        room: Of each node, at least 0.
        until: When to give up, by the monotonic clock.
    """
    table = _table(triangles, room)
    rows, columns = table.shape[0] - 1, table.shape[1] - 1
    beside, below = (
        list(range(columns, columns + rows)),
        list(range(columns)),
    )  # slacks beside the rows, triangles below the columns
    while rising := [at for at in range(columns) if table[-1, at] < 0]:
        if time.monotonic() > until:
            raise out_of_time()
        column = min(rising, key=below.__getitem__)
        bounding = [at for at in range(rows) if table[at, column] > 0]
        row = min(bounding, key=lambda at: (table[at, -1] / table[at, column], beside[at]))
        beside[row], below[column] = below[column], beside[row]
        _pivot(table, row, column)
    return Fraction(table[-1, -1])


def _table(triangles: Integers, room: Integers) -> NDArray[np.object_]:
    """A row a node, a row a triangle, and what is made large; a column a triangle, and what each row allows."""
    nodes, count = np.unique(triangles), len(triangles)
    if (nodes.size + count + 1) * (count + 1) > _MOST_CELLS:
        raise out_of_time()
    table = np.full((nodes.size + count + 1, count + 1), Fraction(0), object)
    for row, node in enumerate(nodes.tolist()):
        table[row, :-1][(triangles == node).any(axis=1)] = Fraction(1)
        table[row, -1] = Fraction(int(room[node]))
    for place in range(count):
        table[nodes.size + place, [place, -1]] = Fraction(1)
    table[-1, :-1] = Fraction(-1)
    return table


def _pivot(table: NDArray[np.object_], row: int, column: int) -> None:
    by, across, down = table[row, column], table[row].copy(), table[:, column].copy()
    table -= np.outer(down / by, across)
    table[row], table[:, column] = across / by, -down / by
    table[row, column] = 1 / by
