"""Routes for analysts: ask, explain, and look at the books and the catalog."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Request, Response

from discreet.answering.answer import Answer
from discreet.catalog.public import facts_of
from discreet.curator import Curator
from discreet.server.bodies import Question
from discreet.server.guard import leaving_at_round_times
from discreet.server.keys import Key
from discreet.server.records import balances, history
from discreet.server.refusals import RESPONSES
from discreet.server.service import holder_of, service_of

CONFIDENCE = 0.95
routes = APIRouter(prefix="/v1", responses=RESPONSES)


@routes.post("/ask")
async def ask(
    question: Question, request: Request, idempotency_key: Annotated[str | None, Header(max_length=200)] = None
) -> Response:
    """Ask: pays, answers with intervals, and never pays twice for the same question."""
    service, holder = service_of(request), await run_sync(holder_of, request)
    service.check_dataset(question.dataset)
    async with service.guard.admit(holder.id), leaving_at_round_times(service.quantum):
        answer: Answer = await service.work(
            service.curator.ask,
            question.sql,
            epsilon=question.epsilon,
            within=question.within,
            confidence=question.confidence,
            analyst=holder.asks_as,
            request_id=idempotency_key,
            **question.details,
        )
        body = answer_body(answer)
    headers = {"Discreet-Replayed": "true"} if answer.replayed else {}
    return Response(body, media_type="application/json", headers=headers)


@routes.post("/explain")
async def explain(question: Question, request: Request) -> dict[str, Any]:
    """What a question would read, measure and cost. Spends nothing."""
    service, holder = service_of(request), await run_sync(holder_of, request)
    service.check_dataset(question.dataset)
    async with service.guard.admit(holder.id):
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


def answer_body(answer: Answer) -> bytes:
    """The same bytes for the same answer, whoever asks and however often."""
    facts = {
        "columns": answer.columns,
        "rows": answer.rows,
        "half_widths": [{n: _finite(w) for n, w in row.items()} for row in answer.half_widths(CONFIDENCE)],
        "intervals": [
            {n: None if i is None else [_finite(i[0]), _finite(i[1])] for n, i in row.items()}
            for row in answer.intervals(CONFIDENCE)
        ],
        "confidence": CONFIDENCE,
        "loss": {"epsilon": answer.loss.epsilon, "delta": answer.loss.delta},
        "receipt": answer.question,
        "notes": list(answer.plan.notes),
    }
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False).encode()


def _finite(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None


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
