"""What becomes of several rows of one person: counts, exact sums of steps, extremes; and windows over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.algebra.aggregates import Aggregate, Fold, RowFunction, Window
from discreet.algebra.expressions import Expression
from discreet.algebra.grids import Grid
from tests.reference.number_functions import MOST
from tests.reference.stored import Falling, all_in_order, in_order

Values = tuple[Any, ...]
Evaluate = Callable[[Expression, Values], Any]


def steps_of(value: Any, steps: Grid) -> int | None:
    """A value in whole steps of its grid, clamped: integers exactly, reals in doubles."""
    if value is None:
        return None
    if isinstance(value, float):
        step = float(steps.step)
        clamped = min(max(value, steps.low * step), steps.high * step)
        whole = math.floor(clamped / step + 0.5)
    else:
        number = value.toordinal() if isinstance(value, date) else int(value)
        whole = math.floor(Fraction(number) / steps.step + Fraction(1, 2))
    return min(max(whole, steps.low), steps.high)


def fold(aggregate: Aggregate, rows: Sequence[Values], evaluate: Evaluate) -> Any:
    """One aggregate over rows."""
    kept = [row for row in rows if aggregate.where is None or evaluate(aggregate.where, row) is True]
    if aggregate.fold is Fold.ROWS:
        return len(kept)
    assert aggregate.value is not None
    values = [value for value in (evaluate(aggregate.value, row) for row in kept) if value is not None]
    return _folded(aggregate, values)


def _folded(aggregate: Aggregate, values: list[Any]) -> Any:
    match aggregate.fold:
        case Fold.PRESENT:
            return len(values)
        case Fold.DISTINCT:
            return len(set(values))
        case Fold.LEAST:
            return min(values, default=None)
        case Fold.LARGEST:
            return max(values, default=None)
        case Fold.ANY:
            return any(values) if values else None
        case Fold.EVERY:
            return all(values) if values else None
    return _summed(aggregate, values) if values else None


def _summed(aggregate: Aggregate, values: list[Any]) -> Any:
    """A sum or an average: of integers exactly, of reals in whole steps that are scaled once at the end."""
    if aggregate.steps is None:
        total = sum(values)
        if aggregate.fold is Fold.AVERAGE:
            return float(total) / float(len(values))
        return total if abs(total) <= MOST else None
    size, whole = float(aggregate.steps.step), sum(steps_of(value, aggregate.steps) or 0 for value in values)
    if aggregate.fold is Fold.AVERAGE:
        return float(whole) / float(len(values)) * size + 0.0
    return float(whole) * size + 0.0


def window(asked: Window, rows: Sequence[tuple[Values, Values]], evaluate: Evaluate) -> list[Any]:
    """The window's value for each row, given as (ids, values) of one owner, in the order given."""
    partitions: dict[Values, list[int]] = {}
    for place, (_, values) in enumerate(rows):
        partitions.setdefault(tuple(evaluate(part, values) for part in asked.partition), []).append(place)
    results: list[Any] = [None] * len(rows)
    for members in partitions.values():
        keys = {place: _order(asked, rows[place][1], evaluate) for place in members}
        ordered = sorted(members, key=lambda place: (keys[place], all_in_order(rows[place][0])))
        peers = [keys[place] for place in ordered]
        shown = _shown(asked, [rows[place][1] for place in ordered], peers, evaluate)
        for place, value in zip(ordered, shown, strict=True):
            results[place] = value
    return results


def _order(asked: Window, values: Values, evaluate: Evaluate) -> tuple[Any, ...]:
    keys = []
    for key in asked.order:
        missing, value = in_order(evaluate(key.by, values))
        keys.append((missing, Falling(value) if key.descending else value))
    return tuple(keys)


def _shown(asked: Window, rows: list[Values], peers: list[Any], evaluate: Evaluate) -> list[Any]:
    """The results of one partition, whose rows are in total order; rows with equal `peers` are peers."""
    count, first_peers = len(rows), [peers.index(peer) for peer in peers]
    if isinstance(asked.operation, Aggregate):
        return [fold(asked.operation, rows[start:end], evaluate) for start, end in _frames(asked, peers)]
    match asked.operation:
        case RowFunction.ROW_NUMBER:
            return list(range(1, count + 1))
        case RowFunction.RANK:
            return [place + 1 for place in first_peers]
        case RowFunction.DENSE_RANK:
            return [len({first for first in first_peers if first <= place}) for place in first_peers]
        case RowFunction.NTILE:
            return _tiles(count, asked.offset)
    assert asked.value is not None
    values = [evaluate(asked.value, row) for row in rows]
    back = {RowFunction.LAG: -asked.offset, RowFunction.LEAD: asked.offset}
    if asked.operation in back:
        places = [place + back[asked.operation] for place in range(count)]
        return [values[place] if 0 <= place < count else None for place in places]
    return [values[0]] * count if asked.operation is RowFunction.FIRST else _last(asked, values)


def _last(asked: Window, values: list[Any]) -> list[Any]:
    """LAST_VALUE over the rows up to this one, where there is an order; else over all."""
    return values if asked.order else [values[-1]] * len(values)


def _tiles(count: int, tiles: int) -> list[int]:
    """The first (count mod tiles) tiles hold one more."""
    small, more = divmod(count, tiles)
    sizes = [small + (tile < more) for tile in range(tiles)]
    return [tile + 1 for tile, size in enumerate(sizes) for _ in range(size)]


def _frames(asked: Window, peers: list[Any]) -> list[tuple[int, int]]:
    """For each row, from which to before which row its frame goes."""
    count = len(peers)
    if asked.frame is not None:
        start, end = asked.frame.start, asked.frame.end
        return [
            (0 if start is None else max(0, place + start), count if end is None else max(0, place + end + 1))
            for place in range(count)
        ]
    if not asked.order:
        return [(0, count)] * count
    return [(0, count - peers[::-1].index(peer)) for peer in peers]
