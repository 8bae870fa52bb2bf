"""Routes for analysts: ask, explain, and look at the books and the catalog."""

from __future__ import annotations

import os
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import StreamingResponse

from discreet.answering.answer import Answer
from discreet.catalog.public import facts_of
from discreet.curator import Asking, Curator
from discreet.server.bodies import Question
from discreet.server.bytes_of import CONFIDENCE, PARQUET, answer_body, answer_parquet
from discreet.server.guard import leaving_at_round_times
from discreet.server.keys import Key
from discreet.server.progress import told_as_it_happens
from discreet.server.records import balances, history
from discreet.server.refusals import RESPONSES
from discreet.server.service import Service, holder_of, service_of

routes = APIRouter(prefix="/v1", responses=RESPONSES)


@routes.post("/ask")
async def ask(
    question: Question, request: Request, idempotency_key: Annotated[str | None, Header(max_length=200)] = None
) -> Response:
    """Ask: pays, answers with intervals, and never pays twice for the same question.

    With `Accept: application/x-ndjson` steps are told as they happen, a line each, the answer last; with
    `application/vnd.apache.parquet` the answer is a Parquet file.
    """
    service, holder = service_of(request), await run_sync(holder_of, request)
    service.check_dataset(question.dataset)
    name = idempotency_key or os.urandom(16).hex()
    accept = request.headers.get("accept", "")
    if "application/x-ndjson" in accept:
        lines = told_as_it_happens(service, lambda asking: _asked(service, holder, question, name, asking))
        return StreamingResponse(lines, media_type="application/x-ndjson")
    answer = await _asked(service, holder, question, name, Asking())
    headers = {"Discreet-Replayed": "true"} if answer.replayed else {}
    if PARQUET in accept:
        return Response(answer_parquet(answer), media_type=PARQUET, headers=headers)
    return Response(answer_body(answer), media_type="application/json", headers=headers)


@routes.delete("/ask/{name}", status_code=204)
async def take_back(name: str, request: Request) -> None:
    """Take back a question of yours that is being read, by its Idempotency-Key. It costs its price all the same."""
    service, holder = service_of(request), await run_sync(holder_of, request)
    asking = service.asked.get((holder.id, name))
    if asking is not None:
        service.curator.take_back(asking)


async def _asked(service: Service, holder: Key, question: Question, name: str, asking: Asking) -> Answer:
    async with service.guard.admit(holder.analyst), leaving_at_round_times(service.quantum):
        service.asked[holder.id, name] = asking
        try:
            return await service.work(
                service.curator.ask,
                question.sql,
                epsilon=question.epsilon,
                within=question.within,
                confidence=question.confidence,
                analyst=holder.asks_as,
                request_id=name,
                asking=asking,
                **question.details,
            )
        finally:
            service.asked.pop((holder.id, name), None)


@routes.post("/explain")
async def explain(question: Question, request: Request) -> dict[str, Any]:
    """What a question would read, measure and cost. Spends nothing."""
    service, holder = service_of(request), await run_sync(holder_of, request)
    service.check_dataset(question.dataset)
    async with service.guard.admit(holder.analyst):
        return await service.work(_explained, service.curator, question, holder)


@routes.get("/budget")
def budget(request: Request) -> dict[str, Any]:
    """What is left of the dataset's account and of your own; of all for the owner."""
    holder = holder_of(request)
    return {"role": holder.role, "accounts": balances(service_of(request).curator.ledger, holder.asks_as)}


@routes.get("/history")
def past(request: Request) -> dict[str, Any]:
    """The questions that you asked; all of them for the owner."""
    holder = holder_of(request)
    return {"questions": history(service_of(request).curator.ledger, holder.asks_as)}


@routes.get("/catalog")
def catalog(request: Request) -> dict[str, Any]:
    """The public facts: tables, columns, bounds, values."""
    holder_of(request)
    service = service_of(request)
    tables = facts_of(service.curator.catalog)
    return {"dataset": service.dataset, "version": service.curator.version, "tables": tables}


def _explained(curator: Curator, question: Question, holder: Key) -> dict[str, Any]:
    epsilon = question.epsilon
    if question.within is not None and question.confidence is not None:
        within, confidence = question.within, question.confidence
        epsilon = curator.epsilon_within(question.sql, within=within, confidence=confidence, **question.details)
    plan = curator.plan(question.sql, epsilon=epsilon, **question.details)
    loss = curator.loss(plan)
    return {
        "tables": plan.relation.tables,
        "rows_per_person": plan.relation.rows_per_person,
        "person": plan.relation.unit,
        "groups": plan.groups,
        "columns": [output.name for output in plan.outputs],
        "half_widths": curator.expected_widths(plan, CONFIDENCE),
        "confidence": CONFIDENCE,
        "loss": {"epsilon": loss.epsilon, "delta": loss.delta},
        "in_words": loss.in_words(),
        "accounts": balances(curator.ledger, holder.asks_as),
        "notes": list(plan.notes),
    }
