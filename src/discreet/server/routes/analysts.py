"""Routes for analysts: ask and explain queries, read the budget, the history and the catalog."""

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
    """Execute a query: charge its cost and return the answer with intervals at `level`. The same query is never charged twice.

    With `Accept: application/x-ndjson`, steps are sent as they happen, one line each, and the answer last; with
    `application/vnd.apache.parquet`, `text/csv` or `application/vnd.discreet.records+json` the answer is a table for programs.
    """
    body, service = await request.read(ASK), service_of(request)
    service.check_dataset(body.dataset)
    form = form_of(request.headers.get("accept", ""), service, level=body.level)
    return await respond(request, outcome_job(body.request(AskRequest)), form)


@routes.post("/recall", openapi_extra=in_document(ASK))
async def recall(request: LimitedRequest) -> Response:
    """Return the stored answer to a query that you were charged for. Nothing is charged or recorded."""
    body, service, holder = await request.read(ASK), service_of(request), holder_of(request)
    service.check_dataset(body.dataset)
    form = form_of(request.headers.get("accept", ""), service, level=body.level)
    return await recall_response(
        body.request(AskRequest), service, holder=holder, charged_analyst=holder.charged_analyst, form=form
    )


@routes.delete("/ask/{name}", status_code=204)
async def cancel(name: str, request: Request) -> None:
    """Cancel one of your running queries, by its Idempotency-Key. Its charge remains."""
    service_of(request).queries.cancel(holder_of(request), name)


@routes.post("/explain", openapi_extra=in_document(EXPLAIN))
async def explain(request: LimitedRequest) -> Response:
    """Return what a query would read, measure and cost. Nothing is charged."""
    body, service, holder = await request.read(EXPLAIN), service_of(request), holder_of(request)
    service.check_dataset(body.dataset)
    return await service.queries.explain(plan_job(body.request(AskRequest)), holder=holder, then=_response)


@routes.get("/budget")
async def budget(request: LimitedRequest) -> Response:
    """Return the remaining budget of the dataset and of your account; of all accounts for the owner, stewards and auditors."""
    service, holder = service_of(request), holder_of(request)

    def read() -> Response:
        accounts = service.curator.as_analyst(holder.visible_analyst).budget()
        return _response({"role": holder.role, "accounts": accounts})

    with service.rate_limit.admit(holder.name):
        return await in_thread(service.pools.ledger, read)


@routes.get("/history")
def past(
    request: Request, before: Annotated[int | None, UrlParameter(ge=0, le=2**62)] = None, limit: int = PAGE
) -> Response:
    """Return your queries, newest first; those of all analysts for the owner and auditors.

    For the next page, pass the lowest `number` of this one as `before`.
    """
    holder = holder_of(request)
    queries = service_of(request).curator.as_analyst(holder.visible_analyst).history(before=before, limit=limit)
    return _response({"queries": queries})


@routes.get("/catalog")
def catalog(request: Request) -> Response:
    """Return the public catalog: tables, columns, bounds, values."""
    return _response(service_of(request).curator.catalog())


def _response(thing: Any) -> Response:
    """Render JSON in this thread: FastAPI would do it on the event loop, which all requests share."""
    return JSONResponse(to_json(thing))


DIRECT = {"POST /v1/ask": ask, "POST /v1/explain": explain, "POST /v1/recall": recall, "GET /v1/budget": budget}
"""The most frequent routes, which the auth middleware calls directly."""
