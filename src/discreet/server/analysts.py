"""Routes for analysts: ask, explain, and look at the books and the catalog."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

from discreet.answering.answer import Answer
from discreet.answering.face import PAGE
from discreet.answering.wire import facts_of
from discreet.curator import Asking
from discreet.server.bodies import Asked, Question
from discreet.server.bytes_of import answer_response, json_pieces, table_kind
from discreet.server.gate import Gate
from discreet.server.progress import told_as_it_happens
from discreet.server.refusals import RESPONSES
from discreet.server.service import holder_of, service_of
from discreet.server.shares import in_thread

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=Gate)


@routes.post("/ask")
async def ask(
    question: Asked, request: Request, idempotency_key: Annotated[str | None, Header(max_length=200)] = None
) -> Response:
    """Ask: pays, answers with intervals at `level`, and never pays twice for the same question.

    With `Accept: application/x-ndjson` steps are told as they happen, a line each, the answer last; with
    `application/vnd.apache.parquet`, `text/csv` or `application/vnd.discreet.records+json` the answer is a table for programs.
    """
    service, holder = service_of(request), holder_of(request)
    service.check_dataset(question.dataset)
    service.writing.check_room(holder.name)
    name = idempotency_key or os.urandom(16).hex()
    accept = request.headers.get("accept", "")
    kind = table_kind(accept)
    most = None if kind else service.limits.cells

    def asked(hear: Callable[[str], None]) -> Awaitable[Answer]:
        asking = Asking(hear, most_cells=most)
        return service.questions.ask(question, holder=holder, name=name, asking=asking)

    if "application/x-ndjson" in accept:
        lines = told_as_it_happens(
            asked,
            hang_up=lambda: service.questions.take_back(holder, name),
            written=lambda answer: json_pieces(service, answer, question.level, analyst=holder.name),
            on_refusal=partial(setattr, request.state, "code"),
        )
        return StreamingResponse(lines, media_type="application/x-ndjson")
    answer = await asked(lambda _: None)
    if await request.is_disconnected():
        raise HTTPException(400)
    return await answer_response(service, answer, question.level, kind=kind, analyst=holder.name)


@routes.post("/recall")
async def recall(question: Asked, request: Request) -> Response:
    """The answer to a question that you have paid for, as it is stored: nothing is spent, and nothing written down."""
    service, holder = service_of(request), holder_of(request)
    service.check_dataset(question.dataset)
    service.writing.check_room(holder.name)
    answer = await service.questions.recall(question, holder=holder, paid_by=holder.asks_as)
    kind = table_kind(request.headers.get("accept", ""))
    return await answer_response(service, answer, question.level, kind=kind, analyst=holder.name)


@routes.delete("/ask/{name}", status_code=204)
async def take_back(name: str, request: Request) -> None:
    """Take back a question of yours that is being read, by its Idempotency-Key. It costs its price all the same."""
    service_of(request).questions.take_back(holder_of(request), name)


@routes.post("/explain")
async def explain(question: Question, request: Request) -> Response:
    """What a question would read, measure and cost. Spends nothing."""
    service, holder = service_of(request), holder_of(request)
    service.check_dataset(question.dataset)
    explanation = await service.questions.explain(question, holder=holder)
    return await in_thread(service.shares.answers, _response, explanation)


@routes.get("/budget")
def budget(request: Request) -> dict[str, Any]:
    """What is left of the dataset's account and of your own; of all for those who keep the books."""
    holder = holder_of(request)
    accounts = service_of(request).curator.budget(analyst=holder.sees)
    return {"role": holder.role, "accounts": facts_of(accounts)}


@routes.get("/history")
def past(request: Request, before: Annotated[int | None, Query(ge=0, le=2**62)] = None, limit: int = PAGE) -> Response:
    """The questions that you asked, newest first; of everybody for the owner and auditors.

    What came before them has the lowest `number` among them as its `before`.
    """
    holder = holder_of(request)
    questions = service_of(request).curator.history(analyst=holder.sees, before=before, limit=limit)
    return _response({"questions": questions})


@routes.get("/catalog")
def catalog(request: Request) -> Response:
    """The public facts: tables, columns, bounds, values."""
    return _response(service_of(request).curator.catalog())


def _response(thing: Any) -> Response:
    """Written where it is made: FastAPI would write it on the event loop, where all others wait for it."""
    return JSONResponse(facts_of(thing))
