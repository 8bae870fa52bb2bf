"""The sparse vector technique over count queries: find which of many queries a model answers badly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import BadData, BadInput
from discreet.measurement.domain import MOST_COUNTED, Domain
from discreet.measurement.measurer import GRID, Cells, Conjunction, CountQuery, Counts
from discreet.measurement.replay import Run
from discreet.measurement.transcript import about
from discreet.mechanisms.choice.above_threshold import Watch

Exactly: TypeAlias = Callable[[CountQuery], int]
"""Returns the exact answer of a count query."""
_LARGEST = 2**50
"""The largest estimate, times GRID."""


class StartedSparseVector:
    """One sparse vector. Its noisy threshold is in memory only: after a restart it can only repeat its stored answers.

    That a restart ended it is a step of its own, stored when `is_over` is first read. So a replay of the run reads the same there.
    """

    __slots__ = ("_domain", "_exactly", "_is_over", "_number", "_run", "_watch")

    def __init__(self, run: Run, domain: Domain, exactly: Exactly, *, number: int, watch: Watch | None) -> None:
        self._run, self._domain, self._exactly = run, domain, exactly
        self._number, self._watch, self._is_over = number, watch, False

    def __repr__(self) -> str:
        return "StartedSparseVector(hidden)"

    @property
    def is_over(self) -> bool:
        if not self._is_over and self._watch is None:
            self._is_over = self._run.is_next(about("ended", paid=None, watch=self._number))
        return self._is_over

    def first_above(self, queries: Sequence[CountQuery], estimates: Counts) -> int | None:
        is_whole = isinstance(estimates, np.ndarray) and estimates.dtype == np.int64
        if not is_whole or estimates.shape != (len(queries),) or (np.abs(estimates) > _LARGEST).any():
            raise BadData(
                "Estimates are an int64 array with one number for each query.", next_step="Make them with `on_grid`."
            )
        for query in queries:
            check_query(query, self._domain)
        if self.is_over:
            raise _over()

        def draw() -> Counts:
            if (watch := self._watch) is None:
                raise _over()
            for at, query in enumerate(queries):
                if watch.is_above(abs(GRID * self._exactly(query) - int(estimates[at]))):
                    return np.array([at, *estimates])
            return np.array([-1, *estimates])

        listed = [count_query_to_json(query) for query in queries]
        asked = about("guard", paid=None, watch=self._number, questions=listed)
        first = int(self._run.take_step(asked, mechanism=None, draw=draw).outcome[0])
        self._is_over = first >= 0
        return first if self._is_over else None


def _over() -> BadInput:
    return BadInput("This sparse vector is over.", next_step="Start another with `watch`.")


def check_query(query: CountQuery, domain: Domain) -> None:
    """Refuse an invalid query over a domain. A row that is counted twice would change the count by more than 1."""
    shape = domain.shape(domain.check(query.columns, most=MOST_COUNTED))
    if isinstance(query, Cells):
        fits = _are_runs(query.runs, math.prod(shape))
    else:
        fits = len(query.codes) == len(shape) and all(map(_are_runs, query.codes, shape))
    if not fits:
        raise BadInput(
            "A query needs cells, or codes of each of its columns, as ranges in order that do not touch.",
            next_step="Create it with `question`.",
        )


def _are_runs(runs: tuple[tuple[int, int], ...], size: int) -> bool:
    ends = [end for run in runs for end in run]
    if not runs or any(type(end) is not int for end in ends) or any(len(run) != 2 for run in runs):
        return False
    in_order = all(first <= last for first, last in runs)
    apart = all(before[1] < after[0] for before, after in itertools.pairwise(runs))
    return in_order and apart and ends[0] >= 0 and ends[-1] < size


def count_query_to_json(query: CountQuery) -> list[object]:
    """Return the JSON form of a query."""
    if isinstance(query, Cells):
        return [list(query.columns), {"cells": [list(run) for run in query.runs]}]
    return [list(query.columns), [[list(run) for run in runs] for runs in query.codes]]


def count_query_from_json(described: Sequence[Any]) -> CountQuery:
    """Read a query from its JSON form."""
    columns, codes = tuple(map(str, described[0])), described[1]
    if isinstance(codes, Mapping):
        return Cells(columns, _runs(codes["cells"]))
    return Conjunction(columns, tuple(map(_runs, codes)))


def _runs(described: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((first, last) for first, last in described)
