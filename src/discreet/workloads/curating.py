"""What a curator does with workloads: says what they would be measured by and how exactly, and answers them."""

from __future__ import annotations

from typing import Unpack

from discreet.answering.parts import CuratorPart
from discreet.answering.pipeline import Asking
from discreet.answering.run_options import RunOptions
from discreet.figures import CONFIDENCE
from discreet.sql import Table
from discreet.workloads.choosing import Plan
from discreet.workloads.face import PlannedQueries, TablesFace, TablesPlan
from discreet.workloads.tabulating import TabulatedRelease, plan_over, tabulation
from discreet.workloads.workload import Workload


class AnswersWorkloads(CuratorPart, TablesFace):
    """A part of the curator."""

    def tabulate(
        self,
        source: str | Table,
        workload: Workload,
        *,
        name: str | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Asking | None = None,
        **options: Unpack[RunOptions],
    ) -> TabulatedRelease:
        """The answers to a workload over a table, or over a SELECT that yields people's rows: they agree, and are paid for once.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be taken back.
        """
        with self._planning(analyst, None if asking is None else asking.taken_back):
            basis = self._basis(source, options, name=name)
            run = tabulation(basis, workload, plan_over(workload, basis.domain, basis.budget))
        return self._made(TabulatedRelease, run, analyst=analyst, request_id=request_id, asking=asking)

    def plan_tables(
        self, source: str | Table, workload: Workload, *, analyst: str | None = None, **options: Unpack[RunOptions]
    ) -> TablesPlan:
        """What `tabulate` would measure, ± of its answers, and the price. Nothing is read and nothing is spent.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        with self._planning(analyst, None):
            basis = self._basis(source, options)
            plan = plan_over(workload, basis.domain, basis.budget)
            errors = _errors(plan)
        return TablesPlan(
            strategy=plan.strategy.name,
            typical_error=plan.typical_error,
            tables=errors,
            **self._planned(tabulation(basis, workload, plan), analyst),
        )


def _errors(plan: Plan) -> tuple[PlannedQueries, ...]:
    names, widths = plan.queries.names, plan.errors(CONFIDENCE)
    return tuple(
        PlannedQueries(tuple(names[at] for at in term.columns), width.size, float(width.max()))
        for term, width in zip(plan.queries.terms, widths, strict=True)
    )
