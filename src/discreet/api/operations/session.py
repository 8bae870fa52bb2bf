"""Plan a session, and open it: one charge for all its queries."""

from __future__ import annotations

from discreet.api.context import Context
from discreet.api.operations.releases import load_release
from discreet.api.operations.run_steps import plan_fields, reusable, run_basis, run_budget
from discreet.api.plans import SessionPlan
from discreet.api.requests.session import SessionRequest
from discreet.sessions.session import Opening, Session
from discreet.sessions.session_run import ALARMS, SessionSettings, opening_of
from discreet.sessions.sql_conditions import Conditions


def run(request: SessionRequest, context: Context) -> Session:
    """Charge and open a session, or return it if it is open. Everything that can be refused is refused before the charge."""
    opening = _opening(request, context)
    context.ledger.check_open(context.analyst)
    conditions = Conditions(
        opening.run.rows,
        opening.run.domain,
        context.catalog,
        context.engine,
        today=context.ledger.data_day(),
        planning=lambda cancelled: context.of(cancelled=cancelled).planning(),
    )

    def open_session() -> Session:
        return Session(opening, context.pipeline, conditions, context.call)

    return context.sessions.open(opening.id, open_session, analyst=context.analyst)


def plan(request: SessionRequest, context: Context) -> SessionPlan:
    """The cost of a session and the error bound that it would have."""
    opening = _opening(request, context)
    run, fields = opening.run, plan_fields(opening.run, context)
    terms = opening.mode.terms_before_charge(run.domain, run.budget, request.queries)
    return SessionPlan(
        cells=run.domain.cells(run.domain.names),
        queries=request.queries,
        alarms=None if terms is None else terms.alarms,
        within=None if terms is None else terms.within,
        # A session that was charged is free, also while it is not finished.
        **{**fields, "asked_before": not fields["charged"]},
    )


def _opening(request: SessionRequest, context: Context) -> Opening:
    """What would be charged and opened, or a refusal: everything that can be known before the charge."""
    release = load_release(request.release, context) if isinstance(request.release, str) else request.release
    settings = SessionSettings(
        queries=request.queries,
        mode=request.mode,
        workload=request.workload,
        alarms=ALARMS if request.alarms is None else request.alarms,
        release=release,
        name=request.name or "",
    )
    with context.planning():
        basis = run_basis(
            request.source,
            run_budget(request, context),
            context,
            bins=request.bins,
            parameters=request.parameters,
        )
        reuse = reusable(basis, context) if request.reuse else None
        return opening_of(settings, basis, analyst=context.analyst, reuse=reuse)
