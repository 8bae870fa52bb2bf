"""Round estimates to counts: non-negative integers that sum to known totals. All of it is postprocessing."""

from __future__ import annotations

import numpy as np

from discreet.errors import BadInput
from discreet.mechanisms.additive.combinations import Integers
from discreet.workloads.queries.families import Floats

_TINY = 1e-9


def round_to_totals(values: Floats, *, totals: Integers, starts: Integers, caps: Integers | None = None) -> Integers:
    """Return the integers from 0 to their caps that sum to the total of each group and are close to given values.

    First the closest real numbers are computed (least squares). They are rounded down, and then up where most was lost.

    Args:
        values: Estimates of all groups, one group after another.
        totals: Total of each group, from 0 to the sum of its caps.
        starts: Position of the first value of each group.
        caps: Largest value of each number. Without caps only the total is a limit.
    """
    group = np.repeat(np.arange(starts.size), np.diff(starts, append=values.size))
    limits = totals[group] if caps is None else caps
    if np.any(totals < 0) or np.any(np.add.reduceat(limits, starts) < totals):
        raise BadInput("No counts sum to these totals.", next_step="Give totals from 0 to the sum of the caps.")
    close = _closest_reals(values, totals.astype(np.float64), group, limits.astype(np.float64))
    counts = np.minimum(np.floor(close + _TINY).astype(np.int64), limits)
    while True:
        missing = totals - np.add.reduceat(counts, starts)
        if not missing.any():
            return counts
        up = missing[group] > 0
        can_move = np.where(up, counts < limits, counts > 0)
        lost = np.clip(np.where(up, close - counts, counts - close), 0, 1)
        order = np.argsort(group + np.where(can_move, (1 - lost) / 2, 1 - _TINY), kind="stable")
        ranks = np.arange(values.size) - starts[group]  # the sort keeps each group in its range
        chosen = order[(ranks < np.abs(missing)[group]) & can_move[order]]
        counts[chosen] += np.where(up[chosen], 1, -1)


def _closest_reals(values: Floats, totals: Floats, group: Integers, caps: Floats) -> Floats:
    """The closest real numbers from 0 to their caps with given sums: values minus a constant per group, clamped.

    In each round some numbers are below their range and some above. The side that is further off in total is fixed at
    its end, and the others are computed anew (Bitran, Hax 1981).
    """
    close = np.zeros_like(values)
    free = np.arange(values.size)
    rest = totals.copy()
    while free.size:
        own = group[free]
        members = np.bincount(own, minlength=totals.size)
        sums = np.bincount(own, values[free], totals.size)
        shift = (sums - rest) / np.maximum(members, 1)
        moved = values[free] - shift[own]
        below, above = np.minimum(moved, 0), np.maximum(moved - caps[free], 0)
        off = np.bincount(own, below + above, totals.size)[own]
        low, high = (below < 0) & (off <= 0), (above > 0) & (off >= 0)
        wrong = np.bincount(own, low | high, totals.size)[own] > 0
        close[free] = np.clip(moved, 0, caps[free])
        rest -= np.bincount(own[high], caps[free[high]], totals.size)
        free = free[wrong & ~low & ~high]
    return close


def round_to_counts(estimates: Floats) -> Integers:
    """Return non-negative integers whose sum is the rounded sum of the estimates, in the same shape."""
    total = max(0, round(float(estimates.sum())))
    flat = round_to_totals(estimates.reshape(-1), totals=np.array([total]), starts=np.array([0]))
    return flat.reshape(estimates.shape)
