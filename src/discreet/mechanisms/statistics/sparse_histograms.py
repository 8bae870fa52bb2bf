"""Histograms of many groups over the same candidates, as the cells that are not empty.

Between two such cells nothing changes a rank, so candidates there share their scores: that is what makes many quantiles
of many groups cheap. Cells are worked on in blocks whose sizes are powers of two, so that how long it takes tells no more
about the data than how many blocks of which size the cells fill.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import read_count
from discreet.errors import BadData

_SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 10, 1 << 14
_MOST_CANDIDATES, _MOST_CELLS = 1 << 24, 1 << 40

Cells = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The cells of some groups, in order of group and candidate, and padding. The first and last candidate are always there."""

    starts: Cells
    """Where each group's cells begin, and where the last group's end."""
    candidates: Cells
    up_to: Cells
    """How many values of the group lie at the cell's candidate or below."""
    empty_after: Cells
    """How many empty candidates follow before the group's next cell."""
    totals: Cells
    """How many values each group has."""


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """How many values each group has at each of `candidates` candidates."""

    candidates: int
    groups: int
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, counts: Cells) -> Histograms:
        """From an array with a row for each group and a column for each candidate.

        Args:
            counts: A row for each group, a column for each candidate.
        """
        if type(counts) is not np.ndarray or counts.dtype.kind != "i" or counts.ndim != 2 or not counts.shape[1]:
            raise BadData("Histograms are an array of integers, groups by candidates.", next_step="Give int64 counts.")
        size, width = counts.shape
        cells = np.flatnonzero(counts)
        return cls.of_cells(cells // width, cells % width, counts.reshape(-1)[cells], groups=size, candidates=width)

    @classmethod
    def of_cells(cls, group: Cells, candidate: Cells, count: Cells, *, groups: int, candidates: int) -> Histograms:
        """From cells in any order: which group, which candidate, how many values; cells named twice are added up.

        Args:
            group: Of each cell that is not empty.
            candidate: Of each such cell.
            count: How many values each such cell has.
            groups: How many groups there are.
            candidates: How many candidates there are.
        """
        size, width = read_count(groups, name="groups", least=0), read_count(candidates, name="candidates")
        if width > _MOST_CANDIDATES or size * width > _MOST_CELLS:
            raise BadData("There are too many groups and candidates.", next_step="Ask for fewer at once.")
        _check_cells(group, candidate, count, groups=size, candidates=width)
        keys = group.astype(np.int64) * width + candidate
        ends = np.arange(size, dtype=np.int64) * width
        keys = np.concatenate([keys, ends, ends + width - 1])
        counts = np.concatenate([count.astype(np.int64), np.zeros(2 * size, np.int64)])
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        new = np.flatnonzero(np.diff(keys, prepend=-1))
        if new.size:
            keys, counts = keys[new], np.add.reduceat(counts, new)
        starts = np.searchsorted(keys, np.append(ends, size * width))
        return cls(width, size, tuple(_blocks(keys, counts, starts, width)))


def _check_cells(group: Cells, candidate: Cells, count: Cells, *, groups: int, candidates: int) -> None:
    columns = (group, candidate, count)
    whole = all(type(column) is np.ndarray and column.dtype.kind == "i" and column.ndim == 1 for column in columns)
    if not whole or not group.size == candidate.size == count.size:
        raise BadData("Cells are three arrays of integers of one length.", next_step="Give int64 arrays.")
    outside = (group < 0) | (group >= groups) | (candidate < 0) | (candidate >= candidates) | (count < 0)
    if outside.any():
        raise BadData("A cell lies outside the groups or candidates.", next_step="Clamp values to the bounds first.")


def _blocks(keys: Cells, counts: Cells, starts: Cells, width: int) -> list[Block]:
    """Whole groups, as many as fit, at least one."""
    blocks, first = [], 0
    while first < starts.size - 1:
        full = int(np.searchsorted(starts, starts[first] + _LARGEST_BLOCK, side="right")) - 1
        last = max(first + 1, full)
        cells = slice(starts[first], starts[last])
        blocks.append(
            _block(keys[cells] - first * width, counts[cells], starts[first : last + 1] - starts[first], width)
        )
        first = last
    return blocks


def _block(keys: Cells, counts: Cells, starts: Cells, width: int) -> Block:
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    up_to = sums[1:] - np.repeat(sums[starts[:-1]], np.diff(starts))
    empty_after = np.append(np.diff(keys) - 1, 0)  # 0 between groups: the last and first candidate are cells of each
    padding = (0, max(_SMALLEST_BLOCK, 1 << (keys.size - 1).bit_length()) - keys.size)
    return Block(
        starts=starts,
        candidates=np.pad(keys % width, padding).astype(np.int32),
        up_to=np.pad(up_to, padding),
        empty_after=np.pad(empty_after, padding).astype(np.int32),
        totals=np.diff(sums[starts]),
    )
