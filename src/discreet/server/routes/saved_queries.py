"""Routes for saved queries: keep one under a name, share it, look at what it was answered."""

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
    """Your saved queries and those that others share, newest first, without their texts: 100 at a time.

    What comes after them has the number `next` as its `after`; it is null at the end.
    """
    holder = holder_of(request)
    page = service_of(request).saved.visible_to(holder, after=after)
    following = page[-1].number if len(page) == PAGE else None
    return JSONResponse({"saved": [_facts(saved, holder) for saved in page], "next": following})


@routes.post("/saved", status_code=201)
def save(body: NewSaved, request: Request) -> Response:
    """Keep a query under a name; one of yours with the same name gives way. Shared, others see it and its answer."""
    holder = holder_of(request)
    query = body.query.model_dump(exclude_unset=True)
    saved = service_of(request).saved.save(holder, name=body.name, query=query, shared=body.shared)
    return JSONResponse({**_facts(saved, holder), "query": query}, 201)


@routes.get("/saved/{number}")
def find_saved(number: str, request: Request) -> Response:
    """One that is yours or shared."""
    holder = holder_of(request)
    saved, query = _found(request, number)
    return JSONResponse({**_facts(saved, holder), "query": query.model_dump(exclude_unset=True)})


@routes.delete("/saved/{number}", status_code=204)
def delete_saved(number: str, request: Request) -> None:
    """Forget one of yours; what was answered stays in the books."""
    service_of(request).saved.delete(holder_of(request), number)


@routes.get("/saved/{number}/answer")
async def saved_answer(number: str, request: Request) -> Response:
    """What its author was answered, free: they have paid for it, and chose to show it. Never asks."""
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
            "Its author has no answer to this question on the present data.", next_step="Open the question, and ask it."
        ) from None


def _found(request: Request, number: str) -> tuple[Saved, LevelBody]:
    """A saved query, held against what may be asked today."""
    saved, query = service_of(request).saved.find(holder_of(request), number)
    try:
        return saved, ASK.model_validate(query)
    except ValidationError:
        raise UnknownSaved(
            "This saved question has a form that is not taken any more.", next_step="Ask its author to save it anew."
        ) from None


def _facts(saved: Saved, holder: Holder) -> dict[str, Any]:
    return {
        "number": saved.number,
        "name": saved.name,
        "by": saved.analyst,
        "yours": saved.is_of(holder),
        "shared": saved.shared,
        "time": saved.time,
    }
