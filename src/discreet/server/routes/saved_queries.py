"""Routes for saved queries: save one under a name, share it, and read its stored answer."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from discreet.api.requests.ask import AskRequest
from discreet.errors import NotAnswered, UnknownSaved
from discreet.server.auth.roles import Holder
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import form_of, recall_response
from discreet.server.http.thread_pools import in_thread
from discreet.server.jobs.saved_store import PAGE, Saved
from discreet.server.schemas.query_bodies import NewSaved
from discreet.server.schemas.request_models import LevelBody, body_of

ASK = body_of(AskRequest, LevelBody)
routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)


@routes.get("/saved")
def list_saved(request: Request, after: str | None = None) -> Response:
    """List your saved queries and those shared by others, newest first, without their texts, 100 per page.

    For the next page, pass `next` as `after`; it is null on the last page.
    """
    holder = holder_of(request)
    page = service_of(request).saved.visible_to(holder, after=after)
    following = page[-1].number if len(page) == PAGE else None
    return JSONResponse({"saved": [_json(saved, holder) for saved in page], "next": following})


@routes.post("/saved", status_code=201)
def save(body: NewSaved, request: Request) -> Response:
    """Save a query under a name; it replaces your query of the same name. If `shared`, others see it and its answer."""
    holder = holder_of(request)
    query = body.query.model_dump(exclude_unset=True)
    saved = service_of(request).saved.save(holder, name=body.name, query=query, shared=body.shared)
    return JSONResponse({**_json(saved, holder), "query": query}, 201)


@routes.get("/saved/{number}")
def find_saved(number: str, request: Request) -> Response:
    """Return a saved query that is yours or shared."""
    holder = holder_of(request)
    saved, query = _found(request, number)
    return JSONResponse({**_json(saved, holder), "query": query.model_dump(exclude_unset=True)})


@routes.delete("/saved/{number}", status_code=204)
def delete_saved(number: str, request: Request) -> None:
    """Delete one of your saved queries; its answers stay in the ledger."""
    service_of(request).saved.delete(holder_of(request), number)


@routes.get("/saved/{number}/answer")
async def saved_answer(number: str, request: Request) -> Response:
    """Return the stored answer of the query's author, free of charge. The query is never executed."""
    service, holder = service_of(request), holder_of(request)
    with service.rate_limit.admit(holder.name):
        saved, query = await in_thread(service.pools.ledger, _found, request, number)
    form = form_of(request.headers.get("accept", ""), service, level=query.level)
    try:
        return await recall_response(
            query.request(AskRequest), service, holder=holder, charged_analyst=saved.charged_analyst, form=form
        )
    except NotAnswered:
        raise NotAnswered(
            "The author has no answer to this query on the current data.",
            next_step="Open the query, and run it yourself.",
        ) from None


def _found(request: Request, number: str) -> tuple[Saved, LevelBody]:
    """Return a saved query, checked against the current schema."""
    saved, query = service_of(request).saved.find(holder_of(request), number)
    try:
        return saved, ASK.model_validate(query)
    except ValidationError:
        raise UnknownSaved(
            "This saved query has an outdated format.", next_step="Ask its author to save it again."
        ) from None


def _json(saved: Saved, holder: Holder) -> dict[str, Any]:
    return {
        "number": saved.number,
        "name": saved.name,
        "by": saved.analyst,
        "yours": saved.is_of(holder),
        "shared": saved.shared,
        "time": saved.time,
    }
