"""Steps that all runs over protected rows share: from source and budget to a plan, and to a stored release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from discreet.api.context import Context
from discreet.api.requests.base import RunRequest
from discreet.measurement.reuse import earlier_releases
from discreet.measurement.run_budget import budget_of
from discreet.measurement.run_release import RunRelease, pure_epsilon
from discreet.measurement.runs import Basis, Reuse, TableRun, domain_of
from discreet.measurement.transcript import Earlier, Transcript
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.pipeline.pipeline import SqlRelease
from discreet.results.ledger_views import holder
from discreet.sql import Table
from discreet.sql.coded_rows import FoundValues, plan_rows
from discreet.sql.reader.query_text import Parameters, wording

Made = TypeVar("Made", bound=RunRelease)


def run_budget(request: RunRequest[Any, Any], context: Context) -> AdaptiveBudget:
    """The budget that a request gives."""
    is_pure = not context.catalog.cap.cap.delta
    return budget_of(epsilon=request.epsilon, delta=request.delta, rho=request.rho, is_pure_account=is_pure)


def run_basis(
    source: str | Table,
    budget: AdaptiveBudget,
    context: Context,
    *,
    bins: Mapping[str, int] | None = None,
    parameters: Parameters = (),
    name: str | None = None,
    found: FoundValues | None = None,
    required: str | None = None,
) -> Basis:
    """What a run begins with, or a refusal by name: everything that can be known of it before it is charged.

    Args:
        source: Table name, or a SELECT.
        budget: What the run may cost.
        context: The curator's parts.
        bins: Number of bins by column.
        parameters: Values for placeholders of the source.
        name: Of the release.
        found: Values of columns that were found privately.
        required: Rows without a value in this column are left out.
    """
    rows = plan_rows(
        str(source),
        context.catalog,
        context.engine,
        bins=bins,
        found=found,
        required=required,
        parameters=parameters,
        today=context.ledger.data_day(),
    )
    context.engine.bind_rows(rows.query)
    domain = domain_of(rows, context.catalog.neighbours)
    return Basis(rows, domain, budget, context.version, wording(str(source)), name)


def reusable(basis: Basis, context: Context) -> Reuse:
    """All that earlier releases have measured of the same rows, as far as the caller may reuse it."""
    analyst = context.analyst
    return Reuse(analyst, earlier_releases(context.ledger, basis.same_rows, analyst=analyst))


def plan_fields(run: TableRun, context: Context, *, before: Sequence[SqlRelease] = ()) -> dict[str, Any]:
    """The fields of `RunPlan` for a run, and for queries that come before it and are not charged yet."""
    charged = context.pipeline.would_charge([*before, run], context.call)
    return {
        "columns": {column.name: column.size for column in run.domain.columns},
        "rows_per_person": run.domain.rows_per_person,
        "rho": run.budget.rho,
        "epsilon": pure_epsilon(run.budget),
        "asked_before": not before and context.pipeline.is_free(run, context.call),
        "charged": {holder(account): allowed for account, allowed in charged.items()},
        "reused": tuple(earlier.name for earlier in _reused(run, context)),
        "notes": (*run.rows.notes, *_notes(run)),
    }


def _reused(run: TableRun, context: Context) -> tuple[Earlier, ...]:
    """What a run would begin with; if it has been made, what it began with."""
    if run.reuse is None:
        return ()
    made = context.pipeline.recall(run, context.call)
    return run.reuse.releases if made is None else Transcript.decoded(made.stored).reused


def charged_release(kind: type[Made], run: TableRun, context: Context) -> Made:
    """The release of a run: charged, and made or found."""
    paid = context.pipeline.run_charged(run, context.call)
    reservation = paid.reservation
    return kind(paid.stored, name=run.name, receipt=reservation.receipt, replayed=reservation.is_free)


def _notes(run: TableRun) -> list[str]:
    """What the caller should know before paying."""
    notes, rows = [], run.domain.rows_per_person
    if rows > 1:
        notes.append(
            f"one person can have {rows} rows, so the noise is {rows} times that of one row a person, and what is counted are rows"
        )
    if isinstance(run.budget, Adaptive):
        notes.append("Gaussian noise has no pure epsilon: an account that counts both counts rho alone from then on")
    return notes
