"""Estimates made into counts: whole numbers, none below 0, that add up to what is known. All of it after the noise."""

from __future__ import annotations

import numpy as np

from discreet.errors import BadInput
from discreet.mechanisms.additive.combinations import Integers
from discreet.workloads.queries.families import Floats

_TINY = 1e-9


def allot(values: Floats, *, totals: Integers, starts: Integers, caps: Integers | None = None) -> Integers:
    """Whole numbers from 0 to their caps that add up, group by group, to given totals, as close to given values as can be.

    First the closest real numbers (least squares), then rounding: down, and up where most was lost.

    Args:
        values: Of all groups, one after another.
        totals: Of each group; not negative, nor above the sum of its caps.
        starts: Where each group begins.
        caps: The most that each may be; if none are given there is no limit but the total.
    """
    group = np.repeat(np.arange(starts.size), np.diff(starts, append=values.size))
    limits = totals[group] if caps is None else caps
    if np.any(totals < 0) or np.any(np.add.reduceat(limits, starts) < totals):
        raise BadInput("No counts add up to these totals.", next_step="Give totals from 0 to the sum of the caps.")
    close = _closest(values, totals.astype(np.float64), group, limits.astype(np.float64))
    counts = np.minimum(np.floor(close + _TINY).astype(np.int64), limits)
    while True:
        missing = totals - np.add.reduceat(counts, starts)
        if not missing.any():
            return counts
        up = missing[group] > 0
        room = np.where(up, counts < limits, counts > 0)
        lost = np.clip(np.where(up, close - counts, counts - close), 0, 1)
        order = np.argsort(group + np.where(room, (1 - lost) / 2, 1 - _TINY), kind="stable")
        ranks = np.arange(values.size) - starts[group]  # groups stay where they are
        chosen = order[(ranks < np.abs(missing)[group]) & room[order]]
        counts[chosen] += np.where(up[chosen], 1, -1)


def _closest(values: Floats, totals: Floats, group: Integers, caps: Floats) -> Floats:
    """The closest numbers from 0 to their caps with these sums: values less a constant a group, and those that leave their range at its end.

    In each round, of those that leave their range below and those that leave it above, the side that is further off stays at its end for good (Bitran, Hax 1981).
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


def counts_of(estimates: Floats) -> Integers:
    """Whole numbers, none below 0, whose sum is that of the estimates, rounded.

    Args:
        estimates: Of cells, in any shape.
    """
    total = max(0, round(float(estimates.sum())))
    flat = allot(estimates.reshape(-1), totals=np.array([total]), starts=np.array([0]))
    return flat.reshape(estimates.shape)
