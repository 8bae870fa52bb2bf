"""Junction trees: which columns a model keeps together, and how large that makes it.

Columns are numbers here and sets of columns are sorted tuples; inside this file also bits of an integer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

Columns = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """Cliques whose parents come before them, and what each shares with its parent: nothing, where nothing joins the
    two.
    """

    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]
    separators: tuple[Columns, ...]
    children: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, sets: Iterable[Columns], sizes: tuple[int, ...]) -> Tree:
        """A tree in which every one of the given sets, and every column, lies within a clique.

        Args:
            sets: Which columns must stay together.
            sizes: How many values each column has.
        """
        cliques = sorted(_maximal(_eliminated(neighbours_of(sets, len(sizes)), sizes)), key=_bits)
        return cls._spanning([_bits(clique) for clique in cliques])

    @classmethod
    def _spanning(cls, cliques: list[Columns]) -> Tree:
        """Joined by Prim's algorithm on the number of shared columns: for the cliques of an elimination that is a
        junction tree.
        """
        masks = [mask_of(clique) for clique in cliques]
        order, parents, latest = [0], [-1], 0
        nearest = dict.fromkeys(range(1, len(cliques)), (-1, 0))  # shared columns, and minus the place of whom with
        while nearest:
            for clique, most in nearest.items():
                shared = (masks[clique] & masks[latest]).bit_count()
                if shared > most[0]:
                    nearest[clique] = (shared, 1 - len(order))
            latest = max(nearest, key=nearest.__getitem__)
            parents.append(-nearest.pop(latest)[1])
            order.append(latest)
        joined = tuple(cliques[i] for i in order)
        separators = tuple(
            tuple(sorted(set(clique) & set(joined[parent]))) if parent >= 0 else ()
            for clique, parent in zip(joined, parents, strict=True)
        )
        children = tuple(tuple(j for j, parent in enumerate(parents) if parent == i) for i in range(len(joined)))
        return cls(joined, tuple(parents), separators, children)

    def holding(self, columns: Columns) -> int | None:
        """The first clique that has all of these columns, if any has."""
        marginals = set(columns)
        return next((i for i, clique in enumerate(self.cliques) if marginals <= set(clique)), None)

    def cells(self, sizes: Sequence[int]) -> int:
        """How many numbers a model of this tree has."""
        return sum(math.prod(sizes[column] for column in clique) for clique in self.cliques)


def neighbours_of(sets: Iterable[Columns], count: int) -> list[int]:
    """For each column the bits of those that share a set with it."""
    neighbours = [0] * count
    for columns in sets:
        together = mask_of(columns)
        for column in columns:
            neighbours[column] |= together & ~(1 << column)
    return neighbours


def mask_of(columns: Iterable[int]) -> int:
    """A set of columns as bits."""
    mask = 0
    for column in columns:
        mask |= 1 << column
    return mask


def cells_of(neighbours: list[int], sizes: tuple[int, ...]) -> int:
    """How many numbers a model would have in which these columns are neighbours: before anything is built.

    Args:
        neighbours: For each column the bits of those that share a set with it.
        sizes: How many values each column has.
    """
    return sum(_cells(clique, sizes) for clique in _maximal(_eliminated(neighbours, sizes)))


@lru_cache(maxsize=1 << 16)
def _bits(mask: int) -> Columns:
    columns = []
    while mask:
        low = mask & -mask
        columns.append(low.bit_length() - 1)
        mask ^= low
    return tuple(columns)


@lru_cache(maxsize=1 << 16)
def _cells(mask: int, sizes: tuple[int, ...]) -> int:
    return math.prod(sizes[column] for column in _bits(mask))


def _eliminated(neighbours: list[int], sizes: tuple[int, ...]) -> list[int]:
    """The cliques of a greedy elimination: next is the column whose clique has the fewest cells."""
    around = list(neighbours)
    left = set(range(len(sizes)))
    cliques = []
    cost = {column: _cells(around[column] | 1 << column, sizes) for column in left}
    while left:
        column = min(left, key=lambda candidate: (cost[candidate], candidate))
        left.remove(column)
        others = around[column]
        cliques.append(others | 1 << column)
        for other in _bits(others):
            joined = (around[other] | others) & ~(1 << other | 1 << column)
            if joined != around[other]:
                around[other] = joined
                cost[other] = _cells(joined | 1 << other, sizes)
    return cliques


def _maximal(cliques: list[int]) -> list[int]:
    """Those within no other; in an elimination a clique can only lie within one that came before it."""
    kept: list[int] = []
    for clique in cliques:
        if not any(clique & other == clique for other in kept):
            kept.append(clique)
    return kept
