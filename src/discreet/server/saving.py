"""Routes for saved questions: keep one under a name, share it, look at what it was answered."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.errors import NotAnswered
from discreet.server.bodies import Asked, NewSaved
from discreet.server.bytes_of import form_of
from discreet.server.refusals import RESPONSES
from discreet.server.roles import Holder
from discreet.server.routing import SharedRoute
from discreet.server.saved import Saved
from discreet.server.service import holder_of, service_of

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)


@routes.get("/saved")
def list_saved(request: Request) -> dict[str, Any]:
    """Your saved questions and those that others share, newest first."""
    holder = holder_of(request)
    return {"saved": [_facts(saved, holder) for saved in service_of(request).saved.seen_by(holder)]}


@routes.post("/saved", status_code=201)
def save(body: NewSaved, request: Request) -> dict[str, Any]:
    """Keep a question under a name; one of yours with the same name gives way. Shared, others see it and its answer."""
    holder = holder_of(request)
    question = body.question.model_dump(exclude_none=True)
    saved = service_of(request).saved.save(holder, name=body.name, question=question, shared=body.shared)
    return _facts(saved, holder)


@routes.get("/saved/{number}")
def find_saved(number: str, request: Request) -> dict[str, Any]:
    """One that is yours or shared."""
    holder = holder_of(request)
    return _facts(service_of(request).saved.find(holder, number), holder)


@routes.delete("/saved/{number}", status_code=204)
def delete_saved(number: str, request: Request) -> None:
    """Forget one of yours; what was answered stays in the books."""
    service_of(request).saved.delete(holder_of(request), number)


@routes.get("/saved/{number}/answer")
async def saved_answer(number: str, request: Request) -> Response:
    """What its author was answered, free: they have paid for it, and chose to show it. Never asks."""
    service, holder = service_of(request), holder_of(request)
    saved = service.saved.find(holder, number)
    service.writing.check_room(holder.name)
    question = Asked.model_validate(saved.question)
    form = form_of(request.headers.get("accept", ""), level=question.level, most=service.limits.cells)
    try:
        prepared = await service.questions.recall(question, holder=holder, paid_by=saved.paid_by, then=form.prepare)
    except NotAnswered:
        raise NotAnswered(
            "Its author has no answer to this question on the present data.", next_step="Open the question, and ask it."
        ) from None
    return await prepared.response(service, analyst=holder.name)


def _facts(saved: Saved, holder: Holder) -> dict[str, Any]:
    return {
        "number": saved.number,
        "name": saved.name,
        "by": saved.analyst,
        "yours": saved.is_of(holder),
        "shared": saved.shared,
        "time": saved.time,
        "question": saved.question,
    }
