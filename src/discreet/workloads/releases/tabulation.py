"""The run that measures the plan of a workload, and the release that answers the workload."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.exact import Number
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadInput
from discreet.measurement.domain import Domain, label_text
from discreet.measurement.measurer import Measurer
from discreet.measurement.reuse import only
from discreet.measurement.run_release import RunRelease
from discreet.measurement.runs import Basis, Reuse, TableRun
from discreet.measurement.transcript import Earlier, Step
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.workloads.queries import workload_json
from discreet.workloads.queries.families import Floats, Total
from discreet.workloads.queries.workload import Queries, Workload
from discreet.workloads.releases.workload_reuse import columns_of
from discreet.workloads.strategies.strategy_choice import Estimate, Plan, best_plan, candidates
from discreet.workloads.strategies.workload_budget import WorkloadBudget

PURPOSE = "tabulate"


def plan_tabulation(workload: Workload, domain: Domain, budget: AdaptiveBudget, reuse: Reuse | None = None) -> Plan:
    """Return the plan with the least error for a workload, or refuse tables that are too large. Reads no protected row.

    Args:
        workload: The queries.
        domain: Public description of the rows.
        budget: Budget of the run.
        reuse: Earlier measurements of the same rows.
    """
    queries = _queries(workload, domain)
    earlier = None if reuse is None else _steps(reuse.releases)
    plan = best_plan(queries, WorkloadBudget(**budget_arguments(domain, budget)), candidates(queries), earlier)
    for measurement in plan.measurements:
        if measurement:
            domain.check(columns_of(queries, measurement.combination))
    return plan


def _steps(releases: Iterable[Earlier]) -> list[Step]:
    return [step for earlier in releases for step in earlier.steps]


def tabulation_run(basis: Basis, workload: Workload, plan: Plan, reuse: Reuse | None = None) -> TableRun:
    """Prepare the run that measures a plan, with earlier measurements that it can use. Reads no protected row."""
    if reuse is not None:
        reuse = replace(reuse, releases=only(reuse.releases, plan.uses))
    purpose: Mapping[str, object] = {
        "kind": PURPOSE,
        "workload": workload_json.workload_to_json(workload),
        "strategy": plan.strategy.name,
        "shares": plan.shares.tolist(),
    }
    return basis.run(
        "tables", purpose=purpose, measure=partial(measure, plan=plan), reuse=reuse, measurements=len(plan.measurements)
    )


def measure(measurer: Measurer, plan: Plan) -> None:
    """Take all measurements of a plan, in order.

    Args:
        measurer: Measurer of the rows.
        plan: Plan over their domain.
    """
    for measurement in plan.measurements:
        if measurement:
            columns = columns_of(plan.queries, measurement.combination)
            measurer.combined(columns, measurement.combination, measurement.noise)


class TabulatedRelease(RunRelease, kind=PURPOSE):
    """Consistent answers to a workload."""

    def __repr__(self) -> str:
        terms, strategy = len(self.plan.queries.terms), self.plan.strategy.name
        return f"TabulatedRelease(name={self.name!r}, strategy={strategy!r}, terms={terms})"

    @property
    def summary(self) -> dict[str, Any]:
        """A summary as JSON."""
        return {**super().summary, "strategy": self.purpose["strategy"]}

    @cached_property
    def plan(self) -> Plan:
        """The measurements and their noise."""
        queries = _queries(workload_json.workload_from_json(self.purpose["workload"]), self.domain)
        strategy = next(option for option in candidates(queries) if option.name == self.purpose["strategy"])
        shares = np.array(self.purpose["shares"], np.int64)
        plan = Plan.divided(queries, WorkloadBudget(**budget_arguments(self.domain, self.budget)), strategy, shares)
        return plan.with_earlier(_steps(self.transcript.reused)) if self.transcript.reused else plan

    @cached_property
    def estimate(self) -> Estimate:
        """The least-squares estimates."""
        steps = iter(self.transcript.own)
        return self.plan.estimate([next(steps).outcome if m else None for m in self.plan.measurements])

    @property
    def answers(self) -> list[Floats]:
        """The answers of each term, with an axis for each of its columns."""
        return self.estimate.answers

    def errors(self, confidence: Number) -> Iterator[Floats]:
        """Return the half-widths of each term's answers. They were known before the charge.

        Args:
            confidence: Probability with which an answer is no further off.
        """
        return self.plan.errors(confidence)

    def table(self, *columns: str) -> Floats:
        """Return a marginal of the workload, with its axes in the order of the domain.

        Args:
            *columns: Names of its columns.
        """
        wanted = self.domain.ordered(columns)
        for term, answers in zip(self.plan.queries.terms, self.answers, strict=True):
            if term.is_table and tuple(self.plan.queries.names[i] for i in term.columns) == wanted:
                return answers
        raise BadInput(
            "The workload does not have this table.", next_step="Sum over a larger one, or add it to the workload."
        )

    def to_arrow(self) -> pa.Table:
        """Return a row per answer: the workload's columns (empty if summed over), count, half-width at 95 %."""
        queries = self.plan.queries
        labels = {name: [label_text(label) for label in self.domain.column(name).labels] for name in queries.names}
        columns: dict[str, list[Any]] = {name: [] for name in queries.names}
        counts, widths = [], []
        for term, answers, width in zip(queries.terms, self.answers, self.errors(CONFIDENCE), strict=True):
            parts = zip(term.families, queries.names, strict=True)
            names = [[None] if type(f) is Total else f.names(labels[name]) for f, name in parts]
            for at, cells in enumerate(zip(*itertools.product(*names), strict=True)):
                columns[queries.names[at]] += cells
            counts.append(answers.reshape(-1))
            widths.append(np.broadcast_to(width, answers.shape).reshape(-1))
        texts = [pa.array(cells, pa.string()) for cells in columns.values()]
        numbers = [pa.array(np.concatenate(each)) for each in (counts, widths)]
        return pa.table([*texts, *numbers], names=unique_names([*columns, "count", "within"]))


def _queries(workload: Workload, domain: Domain) -> Queries:
    if not isinstance(workload, Workload):
        raise BadInput("A workload is needed here.", next_step="Give one, such as discreet.workloads.marginals(2).")
    names = workload.columns_among(domain.names) or domain.names[:1]
    return workload.on({name: domain.column(name).size for name in names})


def unique_names(names: Sequence[str]) -> list[str]:
    """Append underscores to names that occur before, so that all names differ."""
    taken: list[str] = []
    for name in names:
        free = name
        while free in taken:
            free += "_"
        taken.append(free)
    return taken


def budget_arguments(domain: Domain, budget: AdaptiveBudget) -> dict[str, Any]:
    """Return the arguments of the `WorkloadBudget` of a run over a domain."""
    unit = "rho" if isinstance(budget, Adaptive) else "epsilon"
    return {unit: budget.amount, "rows_per_person": domain.rows_per_person, "neighbours": domain.neighbours}
