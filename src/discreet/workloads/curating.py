"""What a curator does with workloads: says what they would be measured by and how exactly, and answers them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from discreet.answering.budgets import budget_of
from discreet.answering.pipeline import Asking, Pipeline
from discreet.answering.runs import TableRun
from discreet.catalog import Catalog
from discreet.engines import Engine
from discreet.exact import Number
from discreet.ledger import Ledger
from discreet.sql import Table
from discreet.sql.people import plan_rows
from discreet.sql.text import Parameters
from discreet.workloads.choosing import Plan
from discreet.workloads.tabulating import TabulatedRelease, plan_over, tabulation
from discreet.workloads.workload import Workload


class AnswersWorkloads:
    """A part of the curator."""

    declared: Catalog
    ledger: Ledger
    version: int
    _engine: Engine
    _pipeline: Pipeline

    def tabulate(
        self,
        source: str | Table,
        workload: Workload,
        *,
        bins: Mapping[str, int] | None = None,
        name: str | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Asking | None = None,
        **price: Number,
    ) -> TabulatedRelease:
        """The answers to a workload over a table, or over a SELECT that yields people's rows: they agree, and are paid for once.

        Args:
            source: A table's name, or a SELECT of rows.
            workload: What is asked, such as `discreet.workloads.marginals(2)`.
            bins: How many bins numbers have, by column, where it shall not be 32.
            name: What the release is looked up by.
            parameters: A mapping for :name, or a sequence for ?.
            analyst: Who asks; nobody is the owner at hand.
            request_id: Says that it is a repeat.
            asking: How it can be taken back.
            **price: `rho`, or `epsilon` with `delta`; `epsilon` alone where the account has no delta.
        """
        with self._planning(analyst, None if asking is None else asking.taken_back):
            run = self._run(str(source), workload, price, name=name, bins=bins, parameters=parameters)
        paid = self._pipeline.answer(run, analyst=analyst, request_id=request_id, asking=asking)
        assert paid.reservation is not None  # noqa: S101  a budget is never free
        return TabulatedRelease(paid.stored, name=name, receipt=paid.reservation.receipt)

    def plan_tables(
        self,
        source: str | Table,
        workload: Workload,
        *,
        bins: Mapping[str, int] | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
        **price: Number,
    ) -> Plan:
        """What `tabulate` would measure, and ± of every answer. Nothing is read and nothing is spent.

        Args:
            source: A table's name, or a SELECT of rows.
            workload: What is asked.
            bins: How many bins numbers have, by column, where it shall not be 32.
            parameters: A mapping for :name, or a sequence for ?.
            analyst: Who asks; nobody is the owner at hand.
            **price: As `tabulate` takes it.
        """
        with self._planning(analyst, None):
            run = self._run(str(source), workload, price, name=None, bins=bins, parameters=parameters)
            return plan_over(workload, run.domain, run.budget)

    def _planning(self, analyst: str | None, taken_back: threading.Event | None) -> AbstractContextManager[None]:
        """As the curator does."""
        raise NotImplementedError

    def _run(
        self, source: str, workload: Workload, price: Mapping[str, Number], *, name: str | None, **details: Any
    ) -> TableRun:
        """The run, or a refusal by name: everything that can be known before it is paid for."""
        named: dict[str, Number | None] = {"epsilon": None, "delta": None, "rho": None, **price}
        budget = budget_of(**named, is_pure_account=not self.declared.cap.cap.delta)
        rows = plan_rows(source, self.declared, self._engine, today=self.ledger.data_day(), **details)
        run = tabulation(
            rows,
            neighbours=self.declared.neighbours,
            budget=budget,
            workload=workload,
            version=self.version,
            source=source,
            name=name,
        )
        self._engine.bind_rows(rows.question)
        return run
