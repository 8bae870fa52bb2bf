"""Errors and sensitivities of strategies from the definitions: matrices, and all neighbours on a few cells."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from discreet.core.loss import Neighbours
from tests.support.sources import SeededBits


def matrix_of(combination):
    """The combination as a matrix: a column per cell, computed from one row in that cell."""
    return np.stack([combination.before(row) for row in np.eye(combination.cells, dtype=np.int64)], axis=1)


def people(cells, rows):
    """All histograms of one person with at most this number of rows."""
    return [np.array(u) for u in product(range(rows + 1), repeat=cells) if sum(u) <= rows]


def differences(cells, rows, neighbours):
    """All differences of two neighbouring histograms."""
    persons = people(cells, rows)
    others = persons if neighbours is Neighbours.REPLACE_ONE else [np.zeros(cells, np.int64)]
    return [u - v for u in persons for v in others]


def farthest(matrix, rows, neighbours):
    """The largest L1 and squared L2 distance of any two neighbours under a matrix, exactly."""
    moved = [matrix @ difference for difference in differences(matrix.shape[1], rows, neighbours)]
    return max(int(abs(m).sum()) for m in moved), Fraction(max(int((m * m).sum()) for m in moved))


def stacked(plan):
    """All measured rows of a plan, each divided by the standard deviation of its noise."""
    measured = [m for m in plan.measurements if m]
    return np.concatenate([matrix_of(m.combination) / np.sqrt(m.variance) for m in measured])


def table_for(combination, sizes, counts):
    """The table over which a combination is computed, from counts of all columns."""
    if combination.columns is None:
        return counts
    rest = tuple(i for i in range(len(sizes)) if i not in combination.columns)
    return np.asarray(counts.reshape(sizes).sum(axis=rest)).reshape(-1)


def releases(plan, counts, *, times):
    """Many measurements of a plan on the same counts; the noise of all of them is drawn at once."""
    bits, columns = SeededBits("releases"), []
    for m in plan.measurements:
        if m is None:
            columns.append([None] * times)
            continue
        exact = m.combination.before(table_for(m.combination, plan.queries.sizes, counts))
        noise = replace(m.noise, size=exact.size * times)
        columns.append([m.combination.after(n) for n in noise.release(np.tile(exact, times), bits).reshape(times, -1)])
    return zip(*columns, strict=True)
