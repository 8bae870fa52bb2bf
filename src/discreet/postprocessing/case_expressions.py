"""CASE, COALESCE, NULLIF, LEAST and GREATEST: choose one of several columns in each row."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.postprocessing import interval_arithmetic
from discreet.postprocessing.boolean_logic import compare, joint_events, truth
from discreet.postprocessing.noisy_columns import Around, Column, Mask, Noises, Sides, constant, merged, remembered

Choice = NDArray[np.int64]


def case(*args: Column) -> Column:
    """CASE: conditions and results alternate; a last argument without a condition is the ELSE, otherwise NULL."""
    conditions, results = list(args[0 : len(args) - 1 : 2]), list(args[1::2])
    results.append(args[-1] if len(args) % 2 else constant(None, len(args[0])))
    chosen = np.full(len(args[0]), len(results) - 1, np.int64)
    for at in reversed(range(len(conditions))):
        chosen[truth(conditions[at])[0]] = at
    values, valid = merged(results, chosen)
    events = joint_events(args)
    sure = not any(condition.is_noisy for condition in conditions)
    around = _chosen_sides(results, chosen) if sure else _hull(results)
    steady = all(result.steady for result in results) and (sure or all(result.valid.all() for result in results))
    return Column(values, valid, events, around, steady, _chosen_noises(results, chosen) if sure else None)


def _hull(columns: Sequence[Column]) -> Around | None:
    """Return an interval around every result: the noisy conditions do not show which one the true values would choose."""
    arounds = [column.around for column in columns if column.around is not None]
    if not arounds:
        return None
    return remembered(lambda level: interval_arithmetic.hull([around(level) for around in arounds]))


def _chosen_sides(columns: Sequence[Column], chosen: Choice) -> Around | None:
    if all(column.around is None for column in columns):
        return None

    def around(level: Fraction) -> Sides:
        low, high = np.full(len(chosen), np.nan), np.full(len(chosen), np.nan)
        for at, column in enumerate(columns):
            if column.around is not None:
                rows = chosen == at
                below, above = column.around(level)
                low[rows], high[rows] = below[rows], above[rows]
        return low, high

    return remembered(around)


def _chosen_noises(columns: Sequence[Column], chosen: Choice) -> Noises | None:
    """Return the noise if it is still one independent draw for each row: the results are of different measures, or the same column."""
    noisy = [(at, column.noises) for at, column in enumerate(columns) if column.is_noisy]
    kinds: list[Any] = []
    sources: frozenset[Any] = frozenset()
    which, seen = np.full(len(chosen), -1, np.int64), dict[int, int]()
    for at, noises in noisy:
        if noises is None or (id(noises) not in seen and noises.sources & sources):
            return None
        first = seen.setdefault(id(noises), len(kinds))
        if first == len(kinds):
            kinds += noises.kinds
        sources |= noises.sources
        rows = chosen == at
        which[rows] = np.where(noises.which[rows] >= 0, noises.which[rows] + first, -1)
    return Noises(tuple(kinds), which, sources) if noisy else None


def coalesce(*args: Column) -> Column:
    """COALESCE: the first that is not NULL. If noise decides which result is NULL, the interval covers all of them."""
    chosen = np.full(len(args[0]), -1, np.int64)
    for at in reversed(range(len(args))):
        chosen[args[at].valid] = at
    values, valid = merged(args, chosen)
    steady = all(arg.steady for arg in args)
    around = _chosen_sides(args, chosen) if steady else _hull(args)
    return Column(values, valid, joint_events(args), around, steady, _chosen_noises(args, chosen) if steady else None)


def nullif(column: Column, other: Column) -> Column:
    """NULLIF: NULL if both are equal."""
    same, comparable = compare(operator.eq, column, other)
    events = joint_events((column, other))
    return Column(
        column.values, column.valid & ~(same & comparable), events, column.around, not events and column.steady
    )


def least(*args: Column) -> Column:
    """LEAST: the smallest value that is not NULL."""
    return _extreme(args, operator.lt, np.fmin)


def greatest(*args: Column) -> Column:
    """GREATEST: the largest value that is not NULL."""
    return _extreme(args, operator.gt, np.fmax)


def _extreme(args: Sequence[Column], better: Callable[[Any, Any], Any], ends: np.ufunc) -> Column:
    """NULLs are skipped."""
    chosen = np.where(args[0].valid, 0, -1)
    values, valid = merged(args[:1], chosen)
    for at in range(1, len(args)):
        wins, comparable = compare(better, args[at], Column(values, valid))
        chosen[args[at].valid & (~valid | (wins & comparable))] = at
        values, valid = merged(args[: at + 1], chosen)
    return Column(values, valid, joint_events(args), _extreme_sides(args, ends), all(arg.steady for arg in args))


def _extreme_sides(args: Sequence[Column], ends: np.ufunc) -> Around | None:
    arounds = [(arg.around, arg.valid) for arg in args if arg.around is not None]
    if len(arounds) != sum(bool(arg.valid.any()) for arg in args) and len(arounds) != len(args):
        return None

    def present(end: NDArray[np.float64], valid: Mask) -> NDArray[np.float64]:
        return np.where(valid, end, np.nan)

    def around(level: Fraction) -> Sides:
        low, high = np.full(len(args[0]), np.nan), np.full(len(args[0]), np.nan)
        for part, valid in arounds:
            below, above = part(level)
            low, high = ends(low, present(below, valid)), ends(high, present(above, valid))
        return low, high

    return remembered(around)
