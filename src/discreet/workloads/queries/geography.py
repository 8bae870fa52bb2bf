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
    """Regions level by level, from one that holds all; the parts of a region stand beside each other."""

    names: tuple[str, ...]
    """Of the levels; the first is the whole."""
    starts: tuple[Integers, ...]
    """For each level but the last: where the parts of each of its regions begin on the level below."""
    leaves: Integers
    """For each row of the table that it was made of, which region of the last level it is."""

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Any]], *, whole: str = "all") -> Tree:
        """A tree from columns of a public table, each row a region of the last level.

        Args:
            columns: From the largest regions to the smallest, by name: which one each row lies in. Regions are told apart by all columns up to theirs.
            whole: What the level above all columns is called.
        """
        if not columns or len({len(values) for values in columns.values()}) > 1 or not all(map(len, columns.values())):
            raise BadInput(
                "A tree is made of columns of one length.", next_step="Give a column a level, a row a block."
            )
        levels = [np.zeros(len(next(iter(columns.values()))), np.int64)]
        for values in columns.values():
            codes = np.unique(np.asarray(values), return_inverse=True)[1].reshape(-1)
            both = levels[-1] * (codes.max() + 1) + codes
            levels.append(np.unique(both, return_inverse=True)[1].reshape(-1))
        if levels[-1].max() + 1 < levels[-1].size:
            raise BadInput("Two rows of the tree are one region.", next_step="Give each block one row.")
        starts = []
        for above, below in pairwise(levels):
            parent = np.zeros(below.max() + 1, np.int64)
            parent[below] = above
            starts.append(np.searchsorted(parent, np.arange(above.max() + 1)))
        return cls((whole, *columns), tuple(starts), levels[-1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many regions each level has."""
        return (*(start.size for start in self.starts), self.leaves.size)

    @property
    def digest(self) -> str:
        """A hash of which regions are parts of which."""
        whole = hashlib.sha256()
        for start in (*self.starts, np.array([self.leaves.size])):
            whole.update(start.astype("<i8").tobytes() + b"\n")
        return whole.hexdigest()

    def level(self, name: str) -> int:
        """The number of a level.

        Args:
            name: What it is called.
        """
        if name not in self.names:
            raise BadInput(f"There is no level {name}.", next_step=f"Name one of {', '.join(self.names)}.")
        return self.names.index(name)

    def parents(self, level: int) -> Integers:
        """For each region of a level, the one above it that it is part of.

        Args:
            level: Its number, at least 1.
        """
        starts = self.starts[level - 1]
        return np.repeat(np.arange(starts.size), np.diff(starts, append=self.sizes[level]))

    def added_up(self, tables: Integers, *, start: int, end: int) -> Integers:
        """Tables of the regions of one level, added up to those of a level above.

        Args:
            tables: A row a region, a column a cell.
            start: The level of the tables.
            end: The level that is wanted.
        """
        for level in range(start, end, -1):
            tables = np.add.reduceat(tables, self.starts[level - 1], axis=0)
        return tables


@dataclass(frozen=True, slots=True, eq=False)
class Regions(Combination):
    """The tables of all regions of one level; it takes those of the last level, in their order."""

    tree: Tree
    level: int
    columns_each: int
    """How many cells the table of one region has."""

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
        return self.tree.added_up(tables, start=len(self.tree.starts), end=self.level).reshape(-1)

    def reach(self, neighbours: Neighbours) -> Reach:
        """A row is in one cell of one region; another in its place is in another, unless there is but one."""
        if neighbours is Neighbours.ADD_REMOVE or self.size == 1:
            return Reach(1, Fraction(1))
        return Reach(2, Fraction(2))
