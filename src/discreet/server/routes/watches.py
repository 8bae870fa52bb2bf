"""Routes for watches: begin one, look at the data version that is served, and read what was said."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Response

from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.idempotency import NAME, answered
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import JSON, Form
from discreet.server.http.streaming import WaitingAnswer
from discreet.server.schemas.query_bodies import NewWatch, WatchLook, WatchSaid, in_document

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)


@routes.post("/watch", openapi_extra={**in_document(NewWatch), "parameters": [NAME]})
async def begin(request: LimitedRequest) -> Response:
    """Begin to watch one count or sum: pays in full, once for all data versions. The same words find it again, and cost nothing more."""
    watch = await request.read(NewWatch)
    service_of(request).check_dataset(watch.dataset)
    return await answered(request, watch, _FORM)


@routes.post("/watch/look", openapi_extra={**in_document(WatchLook), "parameters": [NAME]})
async def look(request: LimitedRequest) -> Response:
    """Say whether the data version that is served is above, noisily: read once, and said again as often as it is asked for. Free."""
    watch = await request.read(WatchLook)
    service_of(request).check_dataset(watch.dataset)
    return await answered(request, watch, _FORM)


@routes.post("/watch/recall", openapi_extra=in_document(NewWatch))
async def recall(request: LimitedRequest) -> Response:
    """What a watch of yours has said so far; nothing is read or spent."""
    watch, service, holder = await request.read(NewWatch), service_of(request), holder_of(request)
    service.check_dataset(watch.dataset)
    prepared = await service.questions.look_up(
        lambda curator: watch.recalled_by(curator, analyst=holder.asks_as),
        holder=holder,
        then=partial(_FORM.prepare, service=service, analyst=holder.name),
    )
    return prepared.response(service)


def _written(said: WatchSaid, file: WaitingAnswer) -> None:
    file.write(said.stored)


_FORM = Form(JSON, _written)
