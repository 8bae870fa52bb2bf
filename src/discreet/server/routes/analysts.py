"""Routes for analysts: ask, explain, and look at the books and the catalog."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi import Query as UrlParameter
from fastapi.responses import JSONResponse

from discreet.api.requests.ask import AskRequest
from discreet.core.json_codec import to_json
from discreet.results.models import PAGE
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.idempotency import NAME, respond
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import form_of, recall_response
from discreet.server.http.thread_pools import in_thread
from discreet.server.jobs.running_queries import outcome_job, plan_job
from discreet.server.schemas.request_models import Body, LevelBody, body_of
from discreet.server.schemas.strict_json import in_document

ASK, EXPLAIN = body_of(AskRequest, LevelBody), body_of(AskRequest, Body)
routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)


@routes.post("/ask", openapi_extra={**in_document(ASK), "parameters": [NAME]})
async def ask(request: LimitedRequest) -> Response:
    """Ask: pays, answers with intervals at `level`, and never pays twice for the same query.

    With `Accept: application/x-ndjson` steps are told as they happen, a line each, the answer last; with
    `application/vnd.apache.parquet`, `text/csv` or `application/vnd.discreet.records+json` the answer is a table for programs.
    """
    body, service = await request.read(ASK), service_of(request)
    service.check_dataset(body.dataset)
    form = form_of(request.headers.get("accept", ""), service, level=body.level)
    return await respond(request, outcome_job(body.request(AskRequest)), form)


@routes.post("/recall", openapi_extra=in_document(ASK))
async def recall(request: LimitedRequest) -> Response:
    """The answer to a query that you have paid for, as it is stored: nothing is spent, and nothing written down."""
    body, service, holder = await request.read(ASK), service_of(request), holder_of(request)
    service.check_dataset(body.dataset)
    form = form_of(request.headers.get("accept", ""), service, level=body.level)
    return await recall_response(
        body.request(AskRequest), service, holder=holder, charged_analyst=holder.charged_analyst, form=form
    )


@routes.delete("/ask/{name}", status_code=204)
async def cancel(name: str, request: Request) -> None:
    """Take back a query of yours that is being read, by its Idempotency-Key. It costs its price all the same."""
    service_of(request).queries.cancel(holder_of(request), name)


@routes.post("/explain", openapi_extra=in_document(EXPLAIN))
async def explain(request: LimitedRequest) -> Response:
    """What a query would read, measure and cost. Spends nothing."""
    body, service, holder = await request.read(EXPLAIN), service_of(request), holder_of(request)
    service.check_dataset(body.dataset)
    return await service.queries.explain(plan_job(body.request(AskRequest)), holder=holder, then=_response)


@routes.get("/budget")
async def budget(request: LimitedRequest) -> Response:
    """What is left of the dataset's account and of your own; of all for those who keep the books."""
    service, holder = service_of(request), holder_of(request)

    def looked() -> Response:
        accounts = service.curator.as_analyst(holder.visible_analyst).budget()
        return _response({"role": holder.role, "accounts": accounts})

    with service.rate_limit.admit(holder.name):
        return await in_thread(service.pools.ledger, looked)


@routes.get("/history")
def past(
    request: Request, before: Annotated[int | None, UrlParameter(ge=0, le=2**62)] = None, limit: int = PAGE
) -> Response:
    """The queries that you asked, newest first; of everybody for the owner and auditors.

    What came before them has the lowest `number` among them as its `before`.
    """
    holder = holder_of(request)
    queries = service_of(request).curator.as_analyst(holder.visible_analyst).history(before=before, limit=limit)
    return _response({"queries": queries})


@routes.get("/catalog")
def catalog(request: Request) -> Response:
    """The public facts: tables, columns, bounds, values."""
    return _response(service_of(request).curator.catalog())


def _response(thing: Any) -> Response:
    """Written where it is made: FastAPI would write it on the event loop, where all others wait for it."""
    return JSONResponse(to_json(thing))


DIRECT = {"POST /v1/ask": ask, "POST /v1/explain": explain, "POST /v1/recall": recall, "GET /v1/budget": budget}
"""What is asked for most; the gate calls it."""
