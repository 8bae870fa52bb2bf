"""Routes for analysts: ask, explain, and look at the books and the catalog."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

from discreet.answering.facts import PAGE, facts_of
from discreet.curator import Asking
from discreet.server.bodies import Asked, Question, in_document
from discreet.server.bytes_of import Prepared, form_of, recalled
from discreet.server.connections import connection_of
from discreet.server.incoming import LimitedRequest
from discreet.server.progress import told_as_it_happens
from discreet.server.refusals import RESPONSES
from discreet.server.routing import SharedRoute
from discreet.server.service import holder_of, service_of
from discreet.server.shares import in_thread

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)
_LONGEST_NAME = 200
_NAME = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "maxLength": _LONGEST_NAME},
}


@routes.post("/ask", openapi_extra={**in_document(Asked), "parameters": [_NAME]})
async def ask(request: LimitedRequest) -> Response:
    """Ask: pays, answers with intervals at `level`, and never pays twice for the same question.

    With `Accept: application/x-ndjson` steps are told as they happen, a line each, the answer last; with
    `application/vnd.apache.parquet`, `text/csv` or `application/vnd.discreet.records+json` the answer is a table for programs.
    """
    question, name = await request.read(Asked), _name_of(request)
    service, holder = service_of(request), holder_of(request)
    service.check_dataset(question.dataset)
    service.writing.check_room(holder.name)
    accept = request.headers.get("accept", "")
    form = form_of(accept, service, level=question.level)

    def asked(hear: Callable[[str], None]) -> Awaitable[Prepared]:
        asking = Asking(hear, limit=form.limit)
        prepare = partial(form.prepare, service=service, analyst=holder.name)
        return service.questions.ask(question, holder=holder, name=name, asking=asking, then=prepare)

    if "application/x-ndjson" in accept:
        lines = told_as_it_happens(
            asked,
            hang_up=lambda: service.questions.take_back(holder, name),
            written=lambda prepared: prepared.pieces(service),
            on_refusal=partial(setattr, request.state, "code"),
        )
        return StreamingResponse(lines, media_type="application/x-ndjson")
    prepared = await asked(lambda _: None)
    if (connection := connection_of(request)) is not None and connection.is_gone:
        prepared.file.close()
        raise HTTPException(400)
    return prepared.response(service)


def _name_of(request: Request) -> str:
    """What the request calls its question, so that it can be asked again or taken back; else a name that nobody knows."""
    name = request.headers.get("idempotency-key") or os.urandom(16).hex()
    if len(name) > _LONGEST_NAME:
        raise RequestValidationError([])
    return name


@routes.post("/recall", openapi_extra=in_document(Asked))
async def recall(request: LimitedRequest) -> Response:
    """The answer to a question that you have paid for, as it is stored: nothing is spent, and nothing written down."""
    question, service, holder = await request.read(Asked), service_of(request), holder_of(request)
    service.check_dataset(question.dataset)
    accept = request.headers.get("accept", "")
    return await recalled(question, service, holder=holder, paid_by=holder.asks_as, accept=accept)


@routes.delete("/ask/{name}", status_code=204)
async def take_back(name: str, request: Request) -> None:
    """Take back a question of yours that is being read, by its Idempotency-Key. It costs its price all the same."""
    service_of(request).questions.take_back(holder_of(request), name)


@routes.post("/explain", openapi_extra=in_document(Question))
async def explain(request: LimitedRequest) -> Response:
    """What a question would read, measure and cost. Spends nothing."""
    question = await request.read(Question)
    service, holder = service_of(request), holder_of(request)
    service.check_dataset(question.dataset)
    return await service.questions.explain(question, holder=holder, then=_response)


@routes.get("/budget")
async def budget(request: LimitedRequest) -> Response:
    """What is left of the dataset's account and of your own; of all for those who keep the books."""
    service, holder = service_of(request), holder_of(request)

    def looked() -> Response:
        accounts = service.curator.budget(analyst=holder.sees)
        return _response({"role": holder.role, "accounts": accounts})

    with service.guard.admit(holder.name):
        return await in_thread(service.shares.books, looked)


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


DIRECT = {"POST /v1/ask": ask, "POST /v1/explain": explain, "POST /v1/recall": recall, "GET /v1/budget": budget}
"""What is asked for most; the gate calls it."""
