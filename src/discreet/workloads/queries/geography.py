"""A tree of regions from a public table: nation, states, counties, …, blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.core.loss import Neighbours
from discreet.errors import BadInput
from discreet.mechanisms.additive.combinations import Combination, Integers, Reach


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Regions by level, from one that contains all. The parts of a region are consecutive."""

    names: tuple[str, ...]
    """Names of the levels. The first is the level of the whole."""
    starts: tuple[Integers, ...]
    """For each level but the last, the first part of each region, as a position on the level below."""
    leaves: Integers
    """For each row of the public table, its region of the last level."""

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Any]], *, whole: str = "all") -> Tree:
        """Build a tree from columns of a public table with a row for each region of the last level.

        Args:
            columns: By level, from the largest regions to the smallest: the region of each row. Two regions of a level
                are the same if they agree in this column and in all columns before it.
            whole: Name of the level above all columns.
        """
        if not columns or len({len(values) for values in columns.values()}) > 1 or not all(map(len, columns.values())):
            raise BadInput(
                "The columns of a tree must have the same length, at least 1.",
                next_step="Give a column for each level and a row for each block.",
            )
        levels = [np.zeros(len(next(iter(columns.values()))), np.int64)]
        for values in columns.values():
            codes = np.unique(np.asarray(values), return_inverse=True)[1].reshape(-1)
            both = levels[-1] * (codes.max() + 1) + codes
            levels.append(np.unique(both, return_inverse=True)[1].reshape(-1))
        if levels[-1].max() + 1 < levels[-1].size:
            raise BadInput("Two rows of the tree are the same region.", next_step="Give each block one row.")
        starts = []
        for above, below in pairwise(levels):
            parent = np.zeros(below.max() + 1, np.int64)
            parent[below] = above
            starts.append(np.searchsorted(parent, np.arange(above.max() + 1)))
        return cls((whole, *columns), tuple(starts), levels[-1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of regions of each level."""
        return (*(start.size for start in self.starts), self.leaves.size)

    @property
    def digest(self) -> str:
        """A hash of the structure of the tree."""
        whole = hashlib.sha256()
        for start in (*self.starts, np.array([self.leaves.size])):
            whole.update(start.astype("<i8").tobytes() + b"\n")
        return whole.hexdigest()

    def level(self, name: str) -> int:
        """Return the number of a level by its name."""
        if name not in self.names:
            raise BadInput(f"There is no level {name}.", next_step=f"Name one of {', '.join(self.names)}.")
        return self.names.index(name)

    def parents(self, level: int) -> Integers:
        """Return, for each region of a level, the region above that contains it.

        Args:
            level: Number of the level, at least 1.
        """
        starts = self.starts[level - 1]
        return np.repeat(np.arange(starts.size), np.diff(starts, append=self.sizes[level]))

    def sum_regions(self, tables: Integers, *, start: int, end: int) -> Integers:
        """Sum the tables of the regions of one level to those of a level above.

        Args:
            tables: A row for each region, a column for each cell.
            start: Level of the tables.
            end: Level of the result.
        """
        for level in range(start, end, -1):
            tables = np.add.reduceat(tables, self.starts[level - 1], axis=0)
        return tables


@dataclass(frozen=True, slots=True, eq=False)
class Regions(Combination):
    """The tables of all regions of one level, computed from those of the last level, in their order."""

    tree: Tree
    level: int
    columns_each: int
    """Number of cells of the table of one region."""

    @property
    def cells(self) -> int:  # type: ignore[override]
        return self.tree.sizes[-1] * self.columns_each

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.tree.sizes[self.level] * self.columns_each

    @property
    def most(self) -> int:  # type: ignore[override]
        return self.tree.sizes[-1]

    @property
    def described(self) -> dict[str, Any]:
        return {"combination": "Regions", "level": self.level, "cells": self.columns_each, "tree": self.tree.digest}

    def before(self, counts: Integers) -> Integers:
        tables = counts.reshape(-1, self.columns_each)
        return self.tree.sum_regions(tables, start=len(self.tree.starts), end=self.level).reshape(-1)

    def reach(self, neighbours: Neighbours) -> Reach:
        """A row is in one cell of one region. A row that replaces it is in another, unless there is only one cell."""
        if neighbours is Neighbours.ADD_REMOVE or self.size == 1:
            return Reach(1, Fraction(1))
        return Reach(2, Fraction(2))
