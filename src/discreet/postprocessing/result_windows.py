"""Aggregates over rows of an answer: sums, averages, extremes and counts of groups of rows, or of windows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.postprocessing.estimation.noise_tails import reach
from discreet.postprocessing.noisy_columns import Column, Sides, Values, exact_column, narrowed, numbers, remembered
from discreet.postprocessing.operators import Operator, largest_size
from discreet.postprocessing.ordering import Codes, groups, ranks, sort_keys, sorted_rows

_SAFE = 2.0**62


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Which rows each result aggregates.

    `rows` are all rows, partition by partition and in order within each; a partition starts at each of `starts`. A result aggregates a whole
    partition; or, with an order, its rows up to the last one that is equal in that order (`upto`). With `each`, every row has a result.
    `cells` is the most rows that one result could aggregate under other noise.
    """

    rows: Codes
    starts: Codes
    lengths: Codes
    upto: Codes | None
    each: bool
    cells: int
    is_noisy: bool

    def folded(self, rule: np.ufunc, values: Values) -> Values:
        """Return one value for each result. `values` are in the order of the table."""
        ordered = values[self.rows]
        if self.upto is not None:
            return self._back(_running(rule, ordered, self.starts, self.lengths)[self.upto])
        found = rule.reduceat(ordered, self.starts) if len(ordered) else ordered[:0]
        return self._back(np.repeat(found, self.lengths)) if self.each else found

    def _back(self, ordered: Values) -> Values:
        """Reorder from the order of the frames to that of the table."""
        back = np.empty_like(ordered)
        back[self.rows] = ordered
        return back


def _running(rule: np.ufunc, values: Values, starts: Codes, lengths: Codes) -> Values:
    """Accumulate within each partition: one by one, or position by position if partitions are many and short."""
    result = values.copy()
    longest = int(lengths.max(initial=0))
    if len(starts) <= longest:
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            rule.accumulate(values[start : start + length], out=result[start : start + length])
        return result
    for place in range(1, longest):
        at = starts[lengths > place] + place
        result[at] = rule(result[at - 1], values[at])
    return result


def frames_of(
    size: int,
    partition: Sequence[Column],
    order: Sequence[tuple[Column, bool]],
    *,
    population: int,
    chosen_by_noise: bool,
    each: bool,
) -> Frames:
    """Return the frames of a window, or of groups. `population` is the most rows that there could be."""
    codes, _ = groups(partition, size)
    keys = sort_keys(order)
    rows = sorted_rows([codes, *keys] if partition else keys, size)
    changes = np.flatnonzero(np.diff(codes[rows], prepend=-1)) if size else np.zeros(0, np.int64)
    lengths = np.diff(np.append(changes, size))
    is_noisy = chosen_by_noise or any(column.is_noisy for column in (*partition, *(column for column, _ in order)))
    cells = population if is_noisy else int(lengths.max(initial=0))
    upto = _last_peers(codes[rows], [key[rows] for key in keys]) if order else None
    return Frames(rows, changes, lengths, upto, each, cells, is_noisy)


def _last_peers(codes: Codes, keys: Sequence[Codes]) -> Codes:
    """Return, for each row in order, the position of the last row of its partition that is equal in the order."""
    differs = np.zeros(len(codes), np.bool_)
    for key in (codes, *keys):
        differs[1:] |= key[1:] != key[:-1]
    run = np.cumsum(differs)
    ends = np.append(np.flatnonzero(differs) - 1, len(codes) - 1)
    return ends[run]


def apply_window(op: str, column: Column | None, frames: Frames, event: Hashable) -> Column:
    """Return the result of a window function. NULLs are skipped; a frame of NULLs only gives NULL."""
    with np.errstate(all="ignore"):
        return WINDOW_FUNCTIONS[op].compute(column, frames, event)


def _rank(op: str, _: Column | None, frames: Frames, event: Hashable) -> Column:
    """ROW_NUMBER, RANK and DENSE_RANK; exact if the order is exact."""
    position = np.arange(len(frames.rows)) - np.repeat(frames.starts, frames.lengths)
    if op != "row_number":
        upto = frames.upto if frames.upto is not None else np.repeat(frames.starts + frames.lengths - 1, frames.lengths)
        new = np.flatnonzero(np.diff(upto, prepend=-1)) if len(upto) else upto
        run = np.cumsum(np.diff(upto, prepend=-1) != 0) - 1
        position = position[new][run] if op == "rank" else run - np.repeat(run[frames.starts], frames.lengths)
    back = np.empty(len(position), np.int64)
    back[frames.rows] = position + 1
    return Column(back, np.ones(len(back), np.bool_), {event: 1}) if frames.is_noisy else exact_column(back)


def _count(column: Column | None, frames: Frames, event: Hashable) -> Column:
    there = np.ones(len(frames.rows), np.bool_) if column is None else column.valid
    counts = frames.folded(np.add, there.astype(np.int64))
    if frames.is_noisy or (column is not None and not column.steady):
        return Column(counts, np.ones(len(counts), np.bool_), {event: 1})
    return exact_column(counts)


def _sum(op: str, column: Column, frames: Frames, event: Hashable) -> Column:
    values, there = numbers(column)
    counts = frames.folded(np.add, there.astype(np.int64))
    totals = _added(np.where(there, values, 0), frames)
    valid = counts > 0
    if totals.dtype.kind == "f":
        valid &= np.isfinite(totals)
    result = totals
    if op == "avg":
        result = np.where(valid, totals.astype(np.float64) / np.maximum(counts, 1), 0.0)
    divisor = np.maximum(counts, 1) if op == "avg" else np.ones_like(counts)
    steady = column.steady and not frames.is_noisy
    if not column.is_noisy and not frames.is_noisy:
        exact = exact_column(result, valid)
        return Column(exact.values, exact.valid, {}, exact.around, steady)
    if column.noises is not None and not frames.is_noisy and column.steady:
        return Column(result, valid, {event: 1}, _independent(column, frames, totals, divisor), steady)
    around = _each(column, lambda ends: frames.folded(np.add, np.where(there, ends, 0.0)) / divisor)
    return Column(result, valid, {event: _draws(column, frames)}, around, steady)


def _added(values: Values, frames: Frames) -> Values:
    if values.dtype.kind == "f":
        return frames.folded(np.add, values)
    safe = np.abs(values.astype(np.float64)).sum() < _SAFE
    return (
        frames.folded(np.add, values)
        if safe and values.dtype != object
        else narrowed(frames.folded(np.add, values.astype(object)))
    )


def _draws(column: Column, frames: Frames) -> int:
    """Return the most draws behind one result: those of every row that it could aggregate."""
    return max(1, frames.cells * sum(column.events.values()))


def _independent(column: Column, frames: Frames, totals: Values, divisor: Codes) -> Callable[[Fraction], Sides]:
    """Return the interval of a sum of independent noises. It is one event, and narrower than the sum of the single intervals."""
    noises = column.noises
    assert noises is not None  # noqa: S101  asked before
    counts = [
        frames.folded(np.add, ((noises.which == kind) & column.valid).astype(np.int64))
        for kind in range(len(noises.kinds))
    ]
    table = np.stack(counts, axis=1) if counts else np.zeros((len(totals), 0), np.int64)
    middle = totals.astype(np.float64)

    def around(level: Fraction) -> Sides:
        width = reach(noises.kinds, table, level)
        return (middle - width) / divisor, (middle + width) / divisor

    return remembered(around)


def _each(column: Column, rule: Callable[[NDArray[np.float64]], Any]) -> Callable[[Fraction], Sides] | None:
    """Return the interval of a result from the intervals of its rows; an unknown end is infinite.

    Exact values of rows that noise selected have no interval: the true values might have selected other rows.
    """
    inner = column.around
    if inner is None or not column.is_noisy:
        return None

    def around(level: Fraction) -> Sides:
        with np.errstate(all="ignore"):
            low, high = inner(level)
            ends = rule(np.where(np.isnan(low), -np.inf, low)), rule(np.where(np.isnan(high), np.inf, high))
            return np.where(np.isnan(ends[0]), -np.inf, ends[0]), np.where(np.isnan(ends[1]), np.inf, ends[1])

    return remembered(around)


def _extreme(op: str, column: Column, frames: Frames, event: Hashable) -> Column:
    """MIN and MAX, by rank, so that they work for every type."""
    rule: np.ufunc = np.minimum if op == "min" else np.maximum
    codes, count = ranks(column)
    skipped = count if op == "min" else -1
    best = frames.folded(rule, np.where(column.valid, codes, skipped))
    place = np.zeros(count + 1, np.int64)
    place[codes] = np.arange(len(codes))
    valid = (best != skipped) & (frames.folded(np.add, column.valid.astype(np.int64)) > 0)
    rows = place[np.where(valid, best, 0)]
    values = column.values[rows] if len(column) else column.values[:0]
    steady = column.steady and not frames.is_noisy
    nothing = np.inf if op == "min" else -np.inf
    around = _each(column, lambda ends: frames.folded(rule, np.where(column.valid, ends, nothing)))
    if not column.is_noisy and not frames.is_noisy:
        exact = exact_column(values, valid)
        return Column(exact.values, exact.valid, {}, exact.around, steady)
    return Column(values, valid, {event: _draws(column, frames)}, around, steady)


FOLDS: dict[str, Operator] = {
    "count": Operator(_count, 0, 1),
    "sum": Operator(partial(_sum, "sum"), 1, 1),
    "avg": Operator(partial(_sum, "avg"), 1, 1),
    "min": Operator(partial(_extreme, "min"), 1, 1, largest_size),
    "max": Operator(partial(_extreme, "max"), 1, 1, largest_size),
}
"""Functions of several rows: over a window, or over the groups of a `Folded` table. Each takes a column, frames and an event."""
WINDOW_FUNCTIONS: dict[str, Operator] = {
    **FOLDS, **{op: Operator(partial(_rank, op), 0, 0) for op in ("row_number", "rank", "dense_rank")}
}  # fmt: skip
