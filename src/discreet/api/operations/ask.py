"""Plan a query, charge for it, answer it, and find the answer again."""

from __future__ import annotations

import math
import time
from typing import Any

from discreet.accounting import Composed
from discreet.api.context import Context
from discreet.api.requests.ask import AskRequest
from discreet.catalog import Catalog
from discreet.core.exact import Number, exact, read_sensitivity
from discreet.core.loss import Loss
from discreet.errors import NotAnswered, ScaleOutOfRange, TooLarge
from discreet.mechanisms.mechanism import least
from discreet.pipeline.pipeline import SqlRelease
from discreet.planning.query_planning import at_price, digest_of
from discreet.postprocessing.estimation.half_widths import widest_half_width
from discreet.postprocessing.plan import Plan
from discreet.results.answer import Answer
from discreet.results.explanation import explain_plan
from discreet.results.ledger_views import balances, holder
from discreet.results.models import Explanation
from discreet.sql import Table
from discreet.sql.reader.query_text import Parameters, wording


def run(request: AskRequest, context: Context, *, label: str | None = None) -> Answer:
    """Plan, charge on disk, read, add noise, store, answer: in this order, each once.

    Args:
        request: The query and its price.
        context: The curator's parts.
        label: What the ledger calls the query, instead of its text.
    """
    with context.planning():
        plan = priced_plan(request, context)
        release = release_of(plan, context, label or wording(str(request.sql)))
        if context.call.limit is not None:
            context.call.limit.check(plan)
    paid = context.pipeline.run(release, context.call)
    reservation = paid.reservation
    if reservation is None:
        return Answer(plan, paid.stored, loss=Loss(0), replayed=True, receipt="")
    drawn, loss = release.drawn(paid.stored), loss_of(plan, context.catalog)
    return Answer(plan, paid.stored, drawn, loss=loss, replayed=reservation.is_free, receipt=reservation.receipt)


def plan(request: AskRequest, context: Context) -> Explanation:
    """What a query would read, measure and cost. Spends nothing and reads no protected row."""
    with context.planning():
        planned = priced_plan(request, context)
    release = release_of(planned, context, str(request.sql))
    charged = context.pipeline.would_charge([release], context.call)
    return explain_plan(
        planned,
        context.catalog,
        data_version=context.version,
        loss=loss_of(planned, context.catalog),
        asked_before=context.pipeline.is_free(release, context.call),
        accounts=balances(context.ledger, context.analyst),
        charged={holder(name): allowed for name, allowed in charged.items()},
        analyst=context.analyst,
    )


def recall(request: AskRequest, context: Context) -> Answer:
    """Return the stored answer to a charged query, or refuse. Nothing is charged, read or written."""
    with context.planning():
        planned = priced_plan(request, context)
    if context.call.limit is not None:
        context.call.limit.check(planned)
    paid = context.pipeline.recall(release_of(planned, context, str(request.sql)), context.call)
    if paid is None or paid.reservation is None:
        raise NotAnswered("There is no answer to this question yet, or it is not paid for.", next_step="Ask it.")
    loss = loss_of(planned, context.catalog)
    return Answer(planned, paid.stored, loss=loss, replayed=True, receipt=paid.reservation.receipt)


def plan_query(
    sql: str | Table,
    context: Context,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    mechanism: str | None = None,
    parameters: Parameters = (),
) -> Plan:
    """How a query would be answered at a price. Stops if the call is cancelled."""
    reading = context.readings.read(str(sql), parameters, cancelled=context.call.cancelled)
    return at_price(reading, context.catalog, epsilon=epsilon, delta=delta, mechanism=mechanism)


def epsilon_within(sql: str | Table, context: Context, *, within: Number, confidence: Number, **details: Any) -> float:
    """The least epsilon at which every number of the answer is within ± `within` in `confidence` of all answers."""
    limit = read_sensitivity(within)
    with context.engine.one_limit() as until:

        def is_close_enough(epsilon: float) -> bool:
            if time.monotonic() > until:
                raise TooLarge("The question takes too long to plan.", next_step="Name its epsilon.")
            try:
                return widest_half_width(plan_query(sql, context, epsilon=epsilon, **details), confidence) <= limit
            except ScaleOutOfRange:
                return False  # too wide to be drawn

        return least(is_close_enough, precision=1e-4)


def release_of(plan: Plan, context: Context, label: str) -> SqlRelease:
    """A planned query as the pipeline takes it."""
    return SqlRelease(plan, digest_of(plan, context.catalog, data_version=context.version), label)


def loss_of(plan: Plan, catalog: Catalog) -> Loss:
    """What a query costs: the sum of its epsilons; or, if it has none, epsilon at the delta for conversion."""
    cost = Composed.of(plan.releases)
    aside = float(exact(cost.delta))
    pure = cost.pure_epsilon
    if math.isfinite(pure):
        return Loss(pure, aside)
    conversion = catalog.cap.cap.delta / 2 or 1e-6
    return Loss(cost.epsilon_at(conversion + aside), conversion + aside)


def priced_plan(request: AskRequest, context: Context) -> Plan:
    """The plan at the price that was given, or at the price of the accuracy that was given."""
    details: dict[str, Any] = {
        "delta": request.delta,
        "mechanism": request.mechanism,
        "parameters": request.parameters,
    }
    epsilon, within, confidence = request.epsilon, request.within, request.confidence
    if within is not None and confidence is not None:
        epsilon = epsilon_within(request.sql, context, within=within, confidence=confidence, **details)
    return plan_query(request.sql, context, epsilon=epsilon, **details)
