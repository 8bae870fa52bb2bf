"""What the parts of a curator that are not operations yet share."""

from __future__ import annotations

import threading
from abc import ABC
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from discreet.api.context import Context
from discreet.api.operations.run_steps import Made, charged_release, plan_facts, reusable, run_basis
from discreet.catalog import Catalog
from discreet.core.documenting import Told
from discreet.engines import Engine
from discreet.ledger import Ledger
from discreet.measurement.run_budget import budget_of
from discreet.measurement.run_options import RunOptions
from discreet.measurement.runs import Basis, Reuse, TableRun
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.pipeline.call import Call
from discreet.pipeline.pipeline import Pipeline, SqlRelease
from discreet.sql import Table
from discreet.sql.coded_rows import Found


def call_of(analyst: str | None, request_id: str | None, asking: Call | None) -> Call:
    """One object for who asks, under which name, and how it is cancelled."""
    return replace(asking or Call(), analyst=analyst, request_id=request_id)


class CuratorPart(Told, ABC):
    """A part of the curator."""

    declared: Catalog
    ledger: Ledger
    version: int
    context: Context
    _engine: Engine
    _pipeline: Pipeline

    def _planning(self, analyst: str | None, cancelled: threading.Event | None) -> AbstractContextManager[None]:
        return self.context.of(analyst=analyst, cancelled=cancelled or threading.Event()).planning()

    def _basis(
        self,
        source: str | Table,
        options: RunOptions,
        *,
        name: str | None = None,
        found: Found | None = None,
        required: str | None = None,
        budget: AdaptiveBudget | None = None,
    ) -> Basis:
        budget = budget or budget_of(
            epsilon=options.get("epsilon"),
            delta=options.get("delta"),
            rho=options.get("rho"),
            is_pure_account=not self.declared.cap.cap.delta,
        )
        bins, parameters = options.get("bins"), options.get("parameters", ())
        return run_basis(
            source,
            budget,
            self.context,
            bins=bins,
            parameters=parameters,
            name=name,
            found=found,
            required=required,
        )

    def _reuse(self, basis: Basis, analyst: str | None) -> Reuse:
        return reusable(basis, self.context.of(analyst=analyst))

    def _planned(self, run: TableRun, analyst: str | None, *, before: Sequence[SqlRelease] = ()) -> dict[str, Any]:
        return plan_facts(run, self.context.of(analyst=analyst), before=before)

    def _made(
        self, kind: type[Made], run: TableRun, *, analyst: str | None, request_id: str | None, asking: Call | None
    ) -> Made:
        call = call_of(analyst, request_id, asking)
        return charged_release(kind, run, replace(self.context, call=call))
