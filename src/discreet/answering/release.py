"""The one place where exact meets noise."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.engines.exact_rows import ExactRows, GroupKey, Histogram
from discreet.mechanisms import Gaussian, Laplace, Mechanism, Quantile
from discreet.noise import RandomBits
from discreet.sql.plan import GroupSet, Plan

_NOTHING: Histogram = (np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Noisy:
    """What left of one grouping: the keys, and for each measure the noisy integers of each group.

    A quantile has three of them a group: the candidates chosen for itself and for the ends of its interval.
    """

    keys: tuple[GroupKey, ...]
    measures: tuple[tuple[tuple[int, ...], ...], ...]


def release(plan: Plan, exact: Sequence[ExactRows], bits: RandomBits) -> list[Noisy]:
    """For each grouping, draw the groups, if they are private, and the noise of every measure."""
    return [_grouping(plan, one, rows, bits) for one, rows in zip(plan.sets, exact, strict=True)]


def _grouping(plan: Plan, one: GroupSet, exact: ExactRows, bits: RandomBits) -> Noisy:
    keys = _keys(plan, one, exact, bits)
    columns = []
    for index, mechanisms in enumerate(one.mechanisms):
        if isinstance(mechanisms[0], Quantile):
            columns.append(
                tuple(_choices(mechanisms, exact.histograms[index].get(key, _NOTHING), bits) for key in keys)
            )
        else:
            columns.append(tuple((value,) for value in _added(mechanisms[0], exact, index, keys, bits)))
    return Noisy(tuple(keys), tuple(columns))


def _added(mechanism: Mechanism, exact: ExactRows, index: int, keys: Sequence[GroupKey], bits: RandomBits) -> list[int]:
    assert isinstance(mechanism, Laplace | Gaussian)  # noqa: S101  the planner makes no others
    values = np.zeros(len(keys), object)
    values[:] = [exact.groups[key][index] if key in exact.groups else 0 for key in keys]
    return [int(value) for value in replace(mechanism, size=len(keys)).release(values, bits)]


def _choices(mechanisms: Sequence[Mechanism], histogram: Histogram, bits: RandomBits) -> tuple[int, ...]:
    chosen = []
    for mechanism in mechanisms:
        assert isinstance(mechanism, Quantile)  # noqa: S101
        counts = np.zeros(len(mechanism.candidates), np.int64)
        counts[histogram[0]] = histogram[1]
        chosen.append(mechanism.choose(counts, bits))
    return tuple(chosen)


def _keys(plan: Plan, one: GroupSet, exact: ExactRows, bits: RandomBits) -> list[GroupKey]:
    """Every declared combination; or the combinations in the data that survive private selection, sorted."""
    domains = [plan.keys[index].domain for index in one.keys]
    if one.selection is None:
        return list(itertools.product(*(domain or () for domain in domains)))
    allowed = [None if domain is None else set(domain) for domain in domains]
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
    kept = one.selection.release(np.array([exact.people[key] for key in present], np.int64), bits)
    return [key for key, keep in zip(present, kept.tolist(), strict=True) if keep]
