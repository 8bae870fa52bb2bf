"""The one place where exact meets noise."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from discreet.engines.exact_rows import ExactRows
from discreet.noise import RandomBits
from discreet.sql.plan import KeyValue, Plan


@dataclass(frozen=True, slots=True)
class Noisy:
    """What left: for each group its key and its noisy integers, in the order of the plan's measures."""

    keys: tuple[tuple[KeyValue, ...], ...]
    measures: tuple[tuple[int, ...], ...]


def release(plan: Plan, exact: ExactRows, bits: RandomBits) -> Noisy:
    """Draw the groups, if they are private, and the noise of every measure."""
    keys = _keys(plan, exact, bits)
    nothing = (0,) * len(plan.measures)
    columns = []
    for index, measure in enumerate(plan.measures):
        values = np.empty(len(keys), object)
        values[:] = [exact.groups.get(key, nothing)[index] for key in keys]
        mechanism = replace(measure.mechanism, size=len(keys))
        columns.append(tuple(int(value) for value in mechanism.release(values, bits)))
    return Noisy(tuple(keys), tuple(columns))


def _keys(plan: Plan, exact: ExactRows, bits: RandomBits) -> list[tuple[KeyValue, ...]]:
    """Every declared combination; or the combinations in the data that survive private selection, sorted."""
    if plan.selection is None:
        return list(itertools.product(*(key.domain or () for key in plan.keys)))
    allowed = [None if key.domain is None else set(key.domain) for key in plan.keys]
    present = sorted(
        (
            key
            for key in exact.people
            if all(
                value is not None if domain is None else value in domain
                for value, domain in zip(key, allowed, strict=True)
            )
        ),
        key=repr,
    )
    kept = plan.selection.release(np.array([exact.people[key] for key in present], np.int64), bits)
    return [key for key, keep in zip(present, kept.tolist(), strict=True) if keep]
