"""A workload as something to ask a curator for: the run that measures its plan, and the release that answers from what was measured."""

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
from discreet.workloads.strategies.workload_budget import Price

PURPOSE = "tabulate"


def plan_over(workload: Workload, domain: Domain, budget: AdaptiveBudget, reuse: Reuse | None = None) -> Plan:
    """The best plan over the columns that a workload asks about; its tables are not too large, and nothing is read.

    Args:
        workload: What is asked.
        domain: What is public about the rows.
        budget: What may be spent.
        reuse: What was measured of them before, if that enters.
    """
    queries = _queries(workload, domain)
    earlier = None if reuse is None else _steps(reuse.releases)
    plan = best_plan(queries, Price(**price_of(domain, budget)), candidates(queries), earlier)
    for measurement in plan.measurements:
        if measurement:
            domain.check(columns_of(queries, measurement.combination))
    return plan


def _steps(releases: Iterable[Earlier]) -> list[Step]:
    return [step for earlier in releases for step in earlier.steps]


def tabulation(basis: Basis, workload: Workload, plan: Plan, reuse: Reuse | None = None) -> TableRun:
    """The run that measures what a workload needs of people's rows, by a plan over their domain, with what of that was measured before. Nothing is read."""
    if reuse is not None:
        reuse = replace(reuse, releases=only(reuse.releases, plan.tells))
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
    """Every look that a plan takes, in order.

    Args:
        measurer: Of the rows.
        plan: Over their domain.
    """
    for measurement in plan.measurements:
        if measurement:
            columns = columns_of(plan.queries, measurement.combination)
            measurer.combined(columns, measurement.combination, measurement.noise)


class TabulatedRelease(RunRelease, kind=PURPOSE):
    """The answers to a workload: all of them agree."""

    def __repr__(self) -> str:
        terms, strategy = len(self.plan.queries.terms), self.plan.strategy.name
        return f"TabulatedRelease(name={self.name!r}, strategy={strategy!r}, terms={terms})"

    @property
    def summary(self) -> dict[str, Any]:
        """What it was made of, in JSON."""
        return {**super().summary, "strategy": self.purpose["strategy"]}

    @cached_property
    def plan(self) -> Plan:
        """What was measured, with which noise."""
        queries = _queries(workload_json.workload_from_json(self.purpose["workload"]), self.domain)
        strategy = next(option for option in candidates(queries) if option.name == self.purpose["strategy"])
        shares = np.array(self.purpose["shares"], np.int64)
        plan = Plan.divided(queries, Price(**price_of(self.domain, self.budget)), strategy, shares)
        return plan.with_known(_steps(self.transcript.reused)) if self.transcript.reused else plan

    @cached_property
    def estimate(self) -> Estimate:
        """The most likely answers, by least squares."""
        steps = iter(self.transcript.own)
        return self.plan.estimate([next(steps).outcome if m else None for m in self.plan.measurements])

    @property
    def answers(self) -> list[Floats]:
        """To each term's queries, in order: an axis a column that was asked for."""
        return self.estimate.answers

    def errors(self, confidence: Number) -> Iterator[Floats]:
        """± of each term's queries, in order: known before anything was spent, with what is reused.

        Args:
            confidence: In which share of all releases an answer is no further off.
        """
        return self.plan.errors(confidence)

    def table(self, *columns: str) -> Floats:
        """The table over some columns that was asked for: an axis each, in the order of the domain.

        Args:
            *columns: Their names.
        """
        wanted = self.domain.ordered(columns)
        for term, answers in zip(self.plan.queries.terms, self.answers, strict=True):
            if term.is_table and tuple(self.plan.queries.names[i] for i in term.columns) == wanted:
                return answers
        raise BadInput("This table was not asked for.", next_step="Add it up from a larger one, or ask for it.")

    def to_arrow(self) -> pa.Table:
        """Every answer as a row: what it is about, a column each (empty where all of it is counted), the count, and ± at 95 %."""
        queries = self.plan.queries
        labels = {name: [label_text(label) for label in self.domain.column(name).labels] for name in queries.names}
        columns: dict[str, list[Any]] = {name: [] for name in queries.names}
        counts, widths = [], []
        for term, answers, width in zip(queries.terms, self.answers, self.errors(CONFIDENCE), strict=True):
            parts = zip(term.families, queries.names, strict=True)
            names = [[None] if type(f) is Total else f.names(labels[name]) for f, name in parts]
            for place, cells in enumerate(zip(*itertools.product(*names), strict=True)):
                columns[queries.names[place]] += cells
            counts.append(answers.reshape(-1))
            widths.append(np.broadcast_to(width, answers.shape).reshape(-1))
        texts = [pa.array(cells, pa.string()) for cells in columns.values()]
        numbers = [pa.array(np.concatenate(each)) for each in (counts, widths)]
        return pa.table([*texts, *numbers], names=different([*columns, "count", "within"]))


def _queries(workload: Workload, domain: Domain) -> Queries:
    if not isinstance(workload, Workload):
        raise BadInput("A workload is needed here.", next_step="Give one, such as discreet.workloads.marginals(2).")
    names = workload.columns_among(domain.names) or domain.names[:1]
    return workload.on({name: domain.column(name).size for name in names})


def different(names: Sequence[str]) -> list[str]:
    """Names of columns, where one that is taken gets a mark at its end.

    Args:
        names: In order.
    """
    taken: list[str] = []
    for name in names:
        free = name
        while free in taken:
            free += "_"
        taken.append(free)
    return taken


def price_of(domain: Domain, budget: AdaptiveBudget) -> dict[str, Any]:
    """What a `Price` is made of.

    Args:
        domain: Of people's rows.
        budget: What may be spent on them.
    """
    unit = "rho" if isinstance(budget, Adaptive) else "epsilon"
    return {unit: budget.amount, "rows_per_person": domain.rows_per_person, "neighbours": domain.neighbours}
