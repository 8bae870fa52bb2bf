"""A workload as something to ask a curator for: the run that measures its plan, and the release that answers from what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from discreet.answering.domain import Columns, Domain
from discreet.answering.measurer import Measurer
from discreet.answering.run_release import RunRelease
from discreet.answering.runs import Basis, TableRun
from discreet.errors import BadInput
from discreet.exact import Number
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive import AdaptiveBudget
from discreet.mechanisms.combining import Combination
from discreet.workloads import describing
from discreet.workloads.choosing import Estimate, Plan, best_plan, candidates
from discreet.workloads.families import Floats
from discreet.workloads.price import Price
from discreet.workloads.workload import Queries, Workload

PURPOSE = "tabulate"


def plan_over(workload: Workload, domain: Domain, budget: AdaptiveBudget) -> Plan:
    """The best plan over the columns that a workload asks about; its tables are not too large, and nothing is read.

    Args:
        workload: What is asked.
        domain: What is public about the rows.
        budget: What may be spent.
    """
    queries = _queries(workload, domain)
    plan = best_plan(queries, _price(domain, budget), candidates(queries))
    for measurement in plan.measurements:
        if measurement:
            domain.check(_columns(queries, measurement.combination))
    return plan


def tabulation(basis: Basis, workload: Workload) -> TableRun:
    """The run that measures what a workload needs of people's rows. Nothing is read."""
    plan = plan_over(workload, basis.domain, basis.budget)
    purpose: Mapping[str, object] = {
        "kind": PURPOSE,
        "workload": describing.described(workload),
        "strategy": plan.strategy.name,
        "shares": plan.shares.tolist(),
    }
    return basis.run("tables", purpose=purpose, measure=partial(measure, plan=plan))


def measure(measurer: Measurer, plan: Plan) -> None:
    """Every look that a plan takes, in order.

    Args:
        measurer: Of the rows.
        plan: Over their domain.
    """
    for measurement in plan.measurements:
        if measurement:
            columns = _columns(plan.queries, measurement.combination)
            measurer.combined(columns, measurement.combination, measurement.noise)


class TabulatedRelease(RunRelease, kind=PURPOSE):
    """The answers to a workload: all of them agree."""

    def __repr__(self) -> str:
        terms, strategy = len(self.plan.queries.terms), self.plan.strategy.name
        return f"TabulatedRelease(name={self.name!r}, strategy={strategy!r}, terms={terms})"

    @property
    def facts(self) -> dict[str, Any]:
        """What it was made of, in JSON."""
        return {**super().facts, "strategy": self.purpose["strategy"]}

    @cached_property
    def plan(self) -> Plan:
        """What was measured, with which noise."""
        queries = _queries(describing.rebuilt(self.purpose["workload"]), self.domain)
        strategy = next(option for option in candidates(queries) if option.name == self.purpose["strategy"])
        shares = np.array(self.purpose["shares"], np.int64)
        return Plan.divided(queries, _price(self.domain, self.budget), strategy, shares)

    @cached_property
    def estimate(self) -> Estimate:
        """The most likely answers, by least squares."""
        steps = iter(self.transcript.steps)
        return self.plan.estimate([next(steps).outcome if m else None for m in self.plan.measurements])

    @property
    def answers(self) -> list[Floats]:
        """To each term's queries, in order: an axis a column that was asked for."""
        return self.estimate.answers

    def errors(self, confidence: Number) -> Iterator[Floats]:
        """± of each term's queries, in order: known before anything was spent.

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


def _queries(workload: Workload, domain: Domain) -> Queries:
    if not isinstance(workload, Workload):
        raise BadInput("A workload is needed here.", next_step="Give one, such as discreet.workloads.marginals(2).")
    names = workload.columns_among(domain.names) or domain.names[:1]
    return workload.on({name: domain.column(name).size for name in names})


def _price(domain: Domain, budget: AdaptiveBudget) -> Price:
    rows, neighbours = domain.rows_per_person, domain.neighbours
    if isinstance(budget, Adaptive):
        return Price(rho=budget.amount, rows_per_person=rows, neighbours=neighbours)
    return Price(epsilon=budget.amount, rows_per_person=rows, neighbours=neighbours)


def _columns(queries: Queries, combination: Combination) -> Columns:
    places: Any = range(len(queries.names)) if combination.columns is None else combination.columns
    return tuple(queries.names[place] for place in places)
