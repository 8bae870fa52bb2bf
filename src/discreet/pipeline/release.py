"""Add noise to exact results. This is the only module where exact numbers of SQL queries meet noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.algebra.query import Key, Query
from discreet.mechanisms import (
    AboveThreshold,
    Gaussian,
    Laplace,
    Mechanism,
    PartitionSelection,
    PermuteAndFlip,
    Quantile,
)
from discreet.mechanisms.statistics.sparse_histograms import Histograms
from discreet.noise import RandomBits
from discreet.postprocessing.grouping_sets import GroupingSet
from discreet.postprocessing.noisy_columns import narrowed
from discreet.postprocessing.noisy_groups import ARROW, Noisy
from discreet.postprocessing.plan import Plan

if TYPE_CHECKING:
    from discreet.engines.exact_rows import ExactRows

Rows = NDArray[np.int64]
_PEOPLE = 2**40
_INT64 = np.iinfo(np.int64)


def release(plan: Plan, exact: Sequence[Sequence[ExactRows]], bits: RandomBits) -> list[list[Noisy]]:
    """Draw, for each grouping set of each query, the groups if they are private and the noise of every measure."""
    return [
        [_grouping(query, grouping, rows, bits) for grouping, rows in zip(sets, results, strict=True)]
        for query, sets, results in zip(plan.queries, plan.grouping_sets, exact, strict=True)
    ]


def above(exact: ExactRows, mechanism: AboveThreshold, threshold: int, bits: RandomBits) -> bool:
    """Return whether one number, with fresh noise, reaches a noisy threshold."""
    (count,) = exact.measures[0]
    return mechanism.is_above(int(count), threshold, bits)


def _grouping(query: Query, grouping: GroupingSet, exact: ExactRows, bits: RandomBits) -> Noisy:
    keys = [query.keys[index] for index in grouping.keys]
    found = [_typed(array, key) for array, key in zip(exact.keys, keys, strict=True)]
    size = len(found[0]) if found else 1
    if grouping.selection is None:
        shown, groups = _every_combination(keys), math.prod(len(key.values or ()) for key in keys)
        positions = _positions(found, keys, size)
    else:
        shown, positions = _selected(found, keys, exact.people, grouping.selection, bits)
        groups = int(np.count_nonzero(positions >= 0))
    measures: list[NDArray[Any]] = []
    for index, mechanisms in enumerate(grouping.mechanisms):
        if query.choose is not None and index == query.choose.measure and not mechanisms:
            measures.append(np.zeros((groups, 1), np.int64))  # the score that groups compete by is never released
        elif mechanisms and isinstance(mechanisms[0], Quantile):
            measures.append(_chosen(mechanisms, exact.histograms[index], positions, groups, bits))
        else:
            wide = query.measures[index].largest * query.limits.rows * _PEOPLE >= 2**63
            measures.append(_added(mechanisms, _fitting(exact.measures[index], wide=wide), positions, groups, bits))
    if query.choose is None:
        return Noisy(tuple(shown), tuple(measures))
    winners = _winners(grouping.choices, exact.measures[query.choose.measure], positions, groups, bits)
    return Noisy(tuple(key.take(pa.array(winners)) for key in shown), tuple(values[winners] for values in measures))


def _winners(
    choices: Sequence[PermuteAndFlip], exact: NDArray[Any], positions: Rows, groups: int, bits: RandomBits
) -> Rows:
    """Return the positions of the winners, in the order in which they won. A winner does not compete again."""
    scores = np.zeros(groups, np.int64)
    shown = positions >= 0
    scores[positions[shown]] = exact[shown].astype(np.int64)
    left, winners = np.arange(groups), []
    for choice in choices:
        at = choice.release(scores[left], bits)
        winners.append(int(left[at]))
        left = np.delete(left, at)
    return np.array(winners, np.int64)


def _typed(array: pa.Array, key: Key) -> pa.Array:
    """Check that keys have their declared type. A cast would turn 1 into True."""
    whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    wanted = ARROW[key.expression.properties.type]
    if pa.types.is_string(whole.type) or pa.types.is_null(whole.type):
        whole = whole.cast(wanted)
    if whole.type != wanted:
        message = "the engine gave a key another type"
        raise TypeError(message)
    return whole


def _declared(key: Key) -> pa.Array:
    return pa.array(key.values or (), ARROW[key.expression.properties.type])


# The position of each group of the data in the answer; -1 if it is not shown


def _every_combination(keys: Sequence[Key]) -> list[pa.Array]:
    """Return the product of declared values; the last key varies fastest."""
    lengths = [len(key.values or ()) for key in keys]
    arrays = []
    for at, key in enumerate(keys):
        before, behind = math.prod(lengths[:at]), math.prod(lengths[at + 1 :])
        arrays.append(_declared(key).take(pa.array(np.tile(np.repeat(np.arange(lengths[at]), behind), before))))
    return arrays


def _positions(found: Sequence[pa.Array], keys: Sequence[Key], size: int) -> Rows:
    """Return the position of each group in the product; -1 for undeclared values."""
    positions, outside = np.zeros(size, np.int64), np.zeros(size, np.bool_)
    for array, key in zip(found, keys, strict=True):
        at = _value_numbers(array, key)
        outside |= at < 0
        positions = positions * len(key.values or ()) + at
    return np.where(outside, -1, positions)


def _value_numbers(array: pa.Array, key: Key) -> Rows:
    """Return the number of each declared value, NULL included; -1 for others."""
    at = pc.index_in(array, value_set=_declared(key))
    numbers: Rows = pc.fill_null(at, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _selected(
    found: Sequence[pa.Array],
    keys: Sequence[Key],
    people: NDArray[np.int64] | None,
    selection: PartitionSelection,
    bits: RandomBits,
) -> tuple[list[pa.Array], Rows]:
    """Select the groups that are shown, one draw for each. They are sorted, since the order of the rows could reveal something."""
    assert people is not None  # noqa: S101  engines count people where keys are private
    present = np.ones(len(people), np.bool_)
    for array, key in zip(found, keys, strict=True):
        if key.values is None:
            present &= array.is_valid().to_numpy(zero_copy_only=False)
        else:
            present &= _value_numbers(array, key) >= 0
    rows = np.flatnonzero(present)
    rows = rows[_sorted([array.take(pa.array(rows)) for array in found])]
    kept = rows[selection.release(people[rows].astype(np.int64), bits)]
    positions = np.full(len(people), -1, np.int64)
    positions[kept] = np.arange(len(kept))
    return [array.take(pa.array(kept)) for array in found], positions


def _sorted(found: Sequence[pa.Array]) -> Rows:
    if len(found) == 1:
        alone: Rows = pc.array_sort_indices(found[0]).to_numpy()
        return alone
    table = pa.table(list(found), names=[str(at) for at in range(len(found))])
    order: Rows = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in table.column_names]).to_numpy()
    return order


# Noise


def _fitting(exact: NDArray[Any], *, wide: bool) -> NDArray[Any]:
    """Choose 64-bit or Python integers by what the bounds allow, never by the data: only the former are clamped after the noise."""
    if wide:
        return exact.astype(object)
    return np.clip(exact, _INT64.min, _INT64.max).astype(np.int64) if exact.dtype == object else exact


def _added(
    mechanisms: tuple[Mechanism, ...], exact: NDArray[Any], positions: Rows, groups: int, bits: RandomBits
) -> NDArray[Any]:
    """Return exact values, 0 for groups that are not in the data, plus noise. A public measure has no noise."""
    values = np.zeros(groups, np.int64)
    if exact.dtype == object:
        values = values.astype(object)
    shown = positions >= 0
    values[positions[shown]] = exact[shown]
    if mechanisms:
        (mechanism,) = mechanisms
        assert isinstance(mechanism, Laplace | Gaussian)  # noqa: S101  the plan has checked it
        drawn = mechanism if mechanism.size == groups else replace(mechanism, size=groups)
        values = drawn.release(values, bits)
    return narrowed(values).reshape(groups, 1)


def _chosen(
    mechanisms: tuple[Mechanism, ...],
    histogram: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    positions: Rows,
    groups: int,
    bits: RandomBits,
) -> NDArray[np.int64]:
    """Return the number of the chosen candidate, for each group and each draw."""
    group, candidate, count = (np.asarray(part).astype(np.int64) for part in histogram)
    shown = positions[group] >= 0
    width = len(_quantile(mechanisms[0]).candidates)
    histograms = Histograms.of_cells(
        positions[group][shown], candidate[shown], count[shown], groups=groups, candidates=width
    )
    return np.stack([_quantile(mechanism).choose_many(histograms, bits) for mechanism in mechanisms], axis=1)


def _quantile(mechanism: Mechanism) -> Quantile:
    assert isinstance(mechanism, Quantile)  # noqa: S101  the plan has checked it
    return mechanism
