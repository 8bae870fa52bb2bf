"""What a curator does with workloads: says what they would be measured by and how exactly, and answers them."""

from __future__ import annotations

from typing import Unpack

from discreet.answering.parts import CuratorPart
from discreet.answering.pipeline import Asking
from discreet.answering.run_options import RunOptions
from discreet.sql import Table
from discreet.workloads.choosing import Plan
from discreet.workloads.tabulating import TabulatedRelease, plan_over, tabulation
from discreet.workloads.workload import Workload


class AnswersWorkloads(CuratorPart):
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
            source: A table's name, or a SELECT of rows.
            workload: What is asked, such as `discreet.workloads.marginals(2)`.
            name: What the release is looked up by.
            analyst: Who asks; nobody is the owner at hand.
            request_id: Says that it is a repeat.
            asking: How it can be taken back.
            **options: A price, and how rows become codes.
        """
        with self._planning(analyst, None if asking is None else asking.taken_back):
            run = tabulation(self._basis(source, options, name=name), workload)
        return self._made(TabulatedRelease, run, analyst=analyst, request_id=request_id, asking=asking)

    def plan_tables(
        self, source: str | Table, workload: Workload, *, analyst: str | None = None, **options: Unpack[RunOptions]
    ) -> Plan:
        """What `tabulate` would measure, and ± of every answer. Nothing is read and nothing is spent.

        Args:
            source: A table's name, or a SELECT of rows.
            workload: What is asked.
            analyst: Who asks; nobody is the owner at hand.
            **options: A price, and how rows become codes.
        """
        with self._planning(analyst, None):
            basis = self._basis(source, options)
            return plan_over(workload, basis.domain, basis.budget)
