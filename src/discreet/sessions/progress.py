"""The course of a session: a function of its steps, each of which is stored before anything of it is used or shown.

Steps after those of the beginning: `watch` begins a run of the sparse vector, `guard` says of queries, in order, which is the first that the
hypothesis answers badly, `count` measures that one, and `told` has answers of the hypothesis after the last alarm. Whoever takes a session up
again takes them in as they were stored; a run of the sparse vector that was begun elsewhere has ended by that, and its price is gone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.measurement.measurer import GRID, CountQuery, Guard, on_grid
from discreet.measurement.runs import Underway
from discreet.measurement.sparse_vector import count_query_from_json
from discreet.measurement.transcript import Step
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.sessions.modes import Mode
from discreet.sessions.session_terms import SessionAnswer

MOST_AT_ONCE = 4096
"""Queries of one step."""


class Course:
    """How far a session has got.

    Args:
        underway: Its rows and steps.
        mode: How it begins.
        budget: All of it.
        queries: How many may be asked.
    """

    def __init__(self, underway: Underway, mode: Mode, budget: AdaptiveBudget, queries: int) -> None:
        self._underway, self._measurer = underway, underway.measurer
        self.hypothesis, self.terms = mode.begin(underway.measurer, budget, queries)
        self.answers: dict[CountQuery, SessionAnswer] = {}
        self._queries, self._watches = queries, 0
        self._guard: Guard | None = None
        self._badly_answered: CountQuery | None = None
        for step in underway.taken_up():
            self._take(step)
        self._measure()

    @property
    def reused(self) -> tuple[str, ...]:
        """Names of releases whose tables the hypothesis began with."""
        return self._underway.reused

    @property
    def left(self) -> int:
        """How many queries may still be asked."""
        return self._queries - len(self.answers)

    @property
    def alarms_left(self) -> int:
        """How many runs of the sparse vector can still give an alarm."""
        return self.terms.alarms - self._watches + (self._guard is not None)

    def ask(self, queries: Sequence[CountQuery]) -> None:
        """SessionAnswer queries that were not asked before, each once, and as many as are left.

        Args:
            queries: In order.
        """
        for start in range(0, len(queries), MOST_AT_ONCE):
            rest = queries[start : start + MOST_AT_ONCE]
            while rest:
                rest = self._pass(rest)

    def close(self) -> None:
        """Let go of the rows."""
        self._underway.close()

    def _pass(self, queries: Sequence[CountQuery]) -> Sequence[CountQuery]:
        """SessionAnswer queries up to the first that is badly answered, which is measured; those that are left."""
        estimates = on_grid(np.array([self.hypothesis.expected(query) for query in queries]))
        guard = self._on_guard()
        if guard is None:
            self._underway.told(queries, estimates)
            first = None
        else:
            first = guard.first_above(queries, estimates)
        self._take(self._underway.last)
        self._measure()
        return () if first is None else queries[first + 1 :]

    def _on_guard(self) -> Guard | None:
        """A run of the sparse vector, begun now where there is none; None after the last."""
        while self._guard is None or self._guard.is_over:
            if self._watches == self.terms.alarms:
                return None
            self._guard = self._measurer.watch(self.terms.watch)
            self._watches += 1
        return self._guard

    def _measure(self) -> None:
        if self._badly_answered is not None:
            self._measurer.counted(self._badly_answered, self.terms.noise)
            self._take(self._underway.last)

    def _take(self, step: Step) -> None:
        """What one step says."""
        if step.kind == "watch":
            self._watches += 1
        elif step.kind == "count":
            query, counted = count_query_from_json(step.about["question"]), int(step.outcome[0])
            self.answers[query] = self.terms.answer(counted, "measured")
            self.hypothesis.learn(query, counted)
            self._badly_answered = None
        elif step.kind in {"guard", "told"}:
            self._take_estimates(step)

    def _take_estimates(self, step: Step) -> None:
        queries = [count_query_from_json(described) for described in step.about["questions"]]
        is_guarded = step.kind == "guard"
        first, estimates = (int(step.outcome[0]), step.outcome[1:]) if is_guarded else (-1, step.outcome)
        if first >= 0:
            self._badly_answered, self._guard = queries[first], None
            queries = queries[:first]
        for query, estimate in zip(queries, estimates.tolist(), strict=False):
            self.answers[query] = self.terms.answer(estimate / GRID, "estimated" if is_guarded else "unguarded")
