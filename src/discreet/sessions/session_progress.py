"""The progress of a session: a function of its stored steps. A step is stored before its outcome is used or returned.

After the steps of the mode, a session has four kinds of steps:

- `watch` starts a run of the sparse vector.
- `guard` has a batch of queries, their estimates, and which is the first that the hypothesis answers badly.
- `count` measures that query.
- `told` has estimates after the last alarm.

When a session is opened again, it reads its steps from the ledger. A run of the sparse vector that another process
started is over then, because its noisy threshold was only in that process's memory; its budget stays spent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.measurement.measurer import GRID, CountQuery, SparseVector, on_grid
from discreet.measurement.runs import OpenRun
from discreet.measurement.sparse_vector import count_query_from_json
from discreet.measurement.transcript import Step
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.sessions.modes import Mode
from discreet.sessions.session_terms import SessionAnswer

MOST_AT_ONCE = 4096
"""Queries of one step."""


class Progress:
    """The answers, the hypothesis and the remaining alarms of a session.

    Args:
        underway: The run with its rows and steps.
        mode: How the session starts.
        budget: The whole budget of the session.
        queries: Largest number of different queries.
    """

    def __init__(self, underway: OpenRun, mode: Mode, budget: AdaptiveBudget, queries: int) -> None:
        self._underway, self._measurer = underway, underway.measurer
        self.hypothesis, self.terms = mode.begin(underway.measurer, budget, queries)
        self.answers: dict[CountQuery, SessionAnswer] = {}
        self._queries, self._watches = queries, 0
        self._guard: SparseVector | None = None
        self._to_measure: CountQuery | None = None
        for step in underway.resume_steps():
            self._apply(step)
        self._measure()

    @property
    def reused(self) -> tuple[str, ...]:
        """Names of releases whose tables entered the hypothesis."""
        return self._underway.reused

    @property
    def left(self) -> int:
        """How many new queries can still be answered."""
        return self._queries - len(self.answers)

    @property
    def alarms_left(self) -> int:
        """How many runs of the sparse vector can still raise an alarm."""
        return self.terms.alarms - self._watches + (self._guard is not None)

    def ask(self, queries: Sequence[CountQuery]) -> None:
        """Answer queries that are new and all different, at most as many as are left."""
        for start in range(0, len(queries), MOST_AT_ONCE):
            rest = queries[start : start + MOST_AT_ONCE]
            while rest:
                rest = self._answer(rest)

    def close(self) -> None:
        """Free the rows."""
        self._underway.close()

    def _answer(self, queries: Sequence[CountQuery]) -> Sequence[CountQuery]:
        """Answer queries up to the first that fails its check, which is measured; return the others."""
        estimates = on_grid(np.array([self.hypothesis.expected(query) for query in queries]))
        guard = self._current_guard()
        if guard is None:
            self._underway.store_answers(queries, estimates)
            first = None
        else:
            first = guard.first_above(queries, estimates)
        self._apply(self._underway.last)
        self._measure()
        return () if first is None else queries[first + 1 :]

    def _current_guard(self) -> SparseVector | None:
        """The current run of the sparse vector, started if there is none; None after the last alarm."""
        while self._guard is None or self._guard.is_over:
            if self._watches == self.terms.alarms:
                return None
            self._guard = self._measurer.watch(self.terms.watch)
            self._watches += 1
        return self._guard

    def _measure(self) -> None:
        """Measure the query that failed its check, also if the process ended before it was measured."""
        if self._to_measure is not None:
            self._measurer.counted(self._to_measure, self.terms.noise)
            self._apply(self._underway.last)

    def _apply(self, step: Step) -> None:
        """Update the state by one stored step. Its keys are those of the stored format."""
        if step.kind == "watch":
            self._watches += 1
        elif step.kind == "count":
            query, counted = count_query_from_json(step.about["question"]), int(step.outcome[0])
            self.answers[query] = self.terms.answer(counted, "measured")
            self.hypothesis.learn(query, counted)
            self._to_measure = None
        elif step.kind in {"guard", "told"}:
            self._apply_estimates(step)

    def _apply_estimates(self, step: Step) -> None:
        queries = [count_query_from_json(query) for query in step.about["questions"]]
        is_guarded = step.kind == "guard"
        first, estimates = (int(step.outcome[0]), step.outcome[1:]) if is_guarded else (-1, step.outcome)
        if first >= 0:
            self._to_measure, self._guard = queries[first], None
            queries = queries[:first]
        for query, estimate in zip(queries, estimates.tolist(), strict=False):
            self.answers[query] = self.terms.answer(estimate / GRID, "estimated" if is_guarded else "unguarded")
