"""What the parts of a curator share that make something of people's rows: who they ask, and the steps from a source to a paid release."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from discreet.catalog import Catalog
from discreet.core.documenting import Told
from discreet.core.exact import Number
from discreet.engines import Engine
from discreet.ledger import Ledger
from discreet.measurement.reuse import earlier_releases
from discreet.measurement.run_budget import budget_of
from discreet.measurement.run_options import RunOptions
from discreet.measurement.run_release import RunRelease, pure_epsilon
from discreet.measurement.runs import Basis, Reuse, TableRun, domain_of
from discreet.measurement.transcript import Earlier, Transcript
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.pipeline.pipeline import Asking, Pipeline, SqlRelease
from discreet.postprocessing.plan import Plan
from discreet.results.answer import Answer
from discreet.results.ledger_views import holder
from discreet.sql import Table
from discreet.sql.coded_rows import Found, plan_rows
from discreet.sql.reader.query_text import Parameters, wording

Made = TypeVar("Made", bound=RunRelease)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What a run would be made of and cost; nothing was spent or read."""

    columns: Mapping[str, int]
    """How many values or bins each has."""
    rows_per_person: int
    rho: float
    epsilon: float | None
    """None where it has no pure one."""
    asked_before: bool
    """Whether it would be free."""
    charged: Mapping[str, bool]
    """The accounts that would pay, and whether their caps allow it now."""
    reused: tuple[str, ...]
    """Names of earlier releases whose tables would enter, free."""
    notes: tuple[str, ...]


class CuratorPart(Told, ABC):
    """A part of the curator: what it may ask of the whole, and the way that all its runs go."""

    declared: Catalog
    ledger: Ledger
    version: int
    _engine: Engine
    _pipeline: Pipeline

    @abstractmethod
    def ask(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
        asking: Asking | None = None,
        label: str | None = None,
    ) -> Answer:
        """The answer to a question, paid for."""

    @abstractmethod
    def recall(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
    ) -> Answer:
        """The answer to a question that was paid for before, or a refusal."""

    @abstractmethod
    def plan(self, sql: str | Table, *, epsilon: Number | None = None, parameters: Parameters = ()) -> Plan:
        """What a question would read, measure and cost."""

    @abstractmethod
    def _release(self, plan: Plan, label: str) -> SqlRelease:
        """A planned question as the pipeline takes it."""

    @abstractmethod
    def _planning(self, analyst: str | None, taken_back: threading.Event | None) -> AbstractContextManager[None]:
        """A place to plan at, within the seconds of one question."""

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
        """What a run begins with, or a refusal by name: everything that can be known of it before it is paid for.

        Rows that lack the `required` column are left out; a budget is made of the options' price unless there is one.
        """
        budget = budget or budget_of(
            epsilon=options.get("epsilon"),
            delta=options.get("delta"),
            rho=options.get("rho"),
            is_pure_account=not self.declared.cap.cap.delta,
        )
        rows = plan_rows(
            str(source),
            self.declared,
            self._engine,
            bins=options.get("bins"),
            found=found,
            required=required,
            parameters=options.get("parameters", ()),
            today=self.ledger.data_day(),
        )
        self._engine.bind_rows(rows.question)
        domain = domain_of(rows, self.declared.neighbours)
        return Basis(rows, domain, budget, self.version, wording(str(source)), name)

    def _reuse(self, basis: Basis, analyst: str | None) -> Reuse:
        """All that earlier releases have measured of the same rows, as far as who asks may reuse it."""
        return Reuse(analyst, earlier_releases(self.ledger, basis.same_rows, analyst=analyst))

    def _reused(self, run: TableRun, analyst: str | None) -> tuple[Earlier, ...]:
        """What a run would begin with; what it began with, where it was made."""
        if run.reuse is None:
            return ()
        made = self._pipeline.recalled(run, analyst=analyst)
        return run.reuse.releases if made is None else Transcript.decoded(made.stored).reused

    def _planned(self, run: TableRun, analyst: str | None, *, before: Sequence[SqlRelease] = ()) -> dict[str, Any]:
        """What every `RunPlan` says of a run, and of questions that come before it and are still to be paid for."""
        charged = self._pipeline.would_charge(*before, run, analyst=analyst)
        return {
            "columns": {column.name: column.size for column in run.domain.columns},
            "rows_per_person": run.domain.rows_per_person,
            "rho": run.budget.rho,
            "epsilon": pure_epsilon(run.budget),
            "asked_before": not before and self._pipeline.is_paid(run, analyst=analyst),
            "charged": {holder(account): allowed for account, allowed in charged.items()},
            "reused": tuple(earlier.name for earlier in self._reused(run, analyst)),
            "notes": (*run.rows.notes, *_notes(run)),
        }

    def _made(
        self, kind: type[Made], run: TableRun, *, analyst: str | None, request_id: str | None, asking: Asking | None
    ) -> Made:
        """The release of a run: paid for, and made or found."""
        paid = self._pipeline.charged(run, analyst=analyst, request_id=request_id, asking=asking)
        books = paid.reservation
        return kind(paid.stored, name=run.name, receipt=books.receipt, replayed=books.is_free)


def _notes(run: TableRun) -> list[str]:
    """What should be known before it is paid."""
    notes, rows = [], run.domain.rows_per_person
    if rows > 1:
        notes.append(
            f"one person can have {rows} rows, so the noise is {rows} times that of one row a person, and what is counted are rows"
        )
    if isinstance(run.budget, Adaptive):
        notes.append("Gaussian noise has no pure epsilon: an account that counts both counts rho alone from then on")
    return notes
