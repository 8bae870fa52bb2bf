"""A model of all columns: one table of shares for each clique of a tree, which agree where they overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.synthetic.models.junction_trees import Columns, Tree

Table: TypeAlias = NDArray[np.float64]

TINY = 1e-300
"""What stands for a share of zero: it can be divided by and has a logarithm."""


def spread(table: Table, columns: Columns, into: Columns) -> Table:
    """The table with an axis of length one for every column of `into` that it lacks.

    Args:
        table: With an axis for each of `columns`.
        columns: A subset of `into`, both in order.
        into: Whose axes are wanted.
    """
    sizes = iter(table.shape)
    own = set(columns)
    return table.reshape([next(sizes) if column in own else 1 for column in into])


def added_up(table: Table, columns: Columns, onto: Columns) -> Table:
    """The table summed over the columns that are not in `onto`.

    Args:
        table: With an axis for each of `columns`.
        columns: In order.
        onto: Those that are kept, in order.
    """
    return table if columns == onto else np.einsum(_summing(columns, onto), table)


@lru_cache(maxsize=4096)
def _summing(columns: Columns, onto: Columns) -> str:
    """What einsum is told: it adds up over axes apart several times as fast as `sum` does."""
    return f"{_letters(columns, columns)}->{_letters(columns, onto)}"


def _letters(all_columns: Sequence[int], columns: Sequence[int]) -> str:
    """Columns as letters, by their place among all of them."""
    places = {column: place for place, column in enumerate(all_columns)}
    return "".join(chr(ord("a") + places[column]) for column in columns)


def calibrated(tree: Tree, sizes: Sequence[int], potentials: Iterable[tuple[Columns, Table]]) -> list[Table]:
    """Belief propagation in log space: each clique's shares under the law proportional to exp of the sum of all
    potentials.

    Args:
        tree: Whose cliques hold the columns of every potential.
        sizes: How many values each column has.
        potentials: Logarithms to add, each with its columns.
    """
    logs = [np.zeros([sizes[column] for column in clique]) for clique in tree.cliques]
    for columns, potential in potentials:
        home = tree.holding(columns)
        if home is None:
            message = "no clique holds a potential"
            raise ValueError(message)
        logs[home] += spread(potential, columns, tree.cliques[home])
    upward: list[Table] = [np.zeros(())] * len(logs)
    for i in range(len(logs) - 1, 0, -1):
        upward[i] = _log_sum(logs[i], tree.cliques[i], tree.separators[i])
        parent = tree.parents[i]
        logs[parent] += spread(upward[i], tree.separators[i], tree.cliques[parent])
    shares: list[Table] = []
    for i, parent in enumerate(tree.parents):
        if i:
            met = added_up(shares[parent], tree.cliques[parent], tree.separators[i])
            logs[i] += spread(np.log(np.maximum(met, TINY)) - upward[i], tree.separators[i], tree.cliques[i])
        share = np.exp(logs[i] - logs[i].max())
        shares.append(share / share.sum())
    return shares


def _log_sum(log: Table, columns: Columns, onto: Columns) -> Table:
    peak = log.max()
    return np.log(np.maximum(added_up(np.exp(log - peak), columns, onto), TINY)) + peak


@dataclass(frozen=True)
class Beliefs:
    """Shares of all rows: `shares[i]` over the columns of `tree.cliques[i]`, in agreement with the others."""

    tree: Tree
    sizes: tuple[int, ...]
    shares: list[Table]

    def table(self, columns: Columns) -> Table:
        """The shares over some columns, by summing all others out of the product.

        Args:
            columns: In order; at least one.
        """
        home = self.tree.holding(columns)
        if home is not None:
            return added_up(self.shares[home], self.tree.cliques[home], columns)
        return _Elimination(self, columns).table()


class _Elimination:
    """One table over columns of several cliques: conditional shares multiplied along the part of the tree between
    them.
    """

    def __init__(self, beliefs: Beliefs, columns: Columns) -> None:
        self._beliefs, self._columns, self._wanted = beliefs, columns, set(columns)
        tree = beliefs.tree
        self._below = [self._wanted & set(clique) for clique in tree.cliques]
        """Which of the wanted columns are in a clique or below it."""
        for i in range(len(tree.cliques) - 1, 0, -1):
            self._below[tree.parents[i]] |= self._below[i]

    def table(self) -> Table:
        top = 0
        while child := next((c for c in self._beliefs.tree.children[top] if self._wanted <= self._below[c]), 0):
            top = child  # nothing above it is needed
        columns, table = self._product(top, ())
        return np.transpose(table, [columns.index(column) for column in self._columns])

    def _product(self, i: int, given: Columns) -> tuple[list[int], Table]:
        """The shares of the wanted columns at and below a clique, given those it shares with its parent."""
        tree = self._beliefs.tree
        clique = tree.cliques[i]
        # Only children that bring a wanted column which is not here matter; the others sum to one.
        children = [c for c in tree.children[i] if self._below[c] - set(clique)]
        keep = self._wanted.union(given)
        inside = keep.union(*(tree.separators[c] for c in children))
        onto = tuple(column for column in clique if column in inside)
        table = added_up(self._beliefs.shares[i], clique, onto)
        if given:
            table = table / spread(np.maximum(added_up(table, onto, given), TINY), given, onto)
        columns = list(onto)
        for place, child in enumerate(children):
            later = keep.union(*(tree.separators[c] for c in children[place + 1 :]))
            columns, table = _joined(columns, table, *self._product(child, tree.separators[child]), later)
        return columns, table


def _joined(
    columns: list[int], table: Table, others: list[int], other: Table, keep: set[int]
) -> tuple[list[int], Table]:
    """Two tables multiplied; what is neither kept nor brought by the second only is summed out."""
    new = [column for column in others if column not in columns]
    out = [column for column in columns if column in keep] + new
    both = [*columns, *new]
    return out, np.einsum(f"{_letters(both, columns)},{_letters(both, others)}->{_letters(both, out)}", table, other)
