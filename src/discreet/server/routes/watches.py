"""Routes for watches: begin one, look at the data version that is served, and read what was said."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial

from fastapi import APIRouter, Response

from discreet.api.local import LocalApi
from discreet.api.requests.watch import WatchRequest
from discreet.core.json_codec import to_json
from discreet.pipeline.threshold_watch import Watch
from discreet.results.models import WatchStatus
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.idempotency import NAME, respond
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import JSON, Form
from discreet.server.http.streaming import SpooledAnswer
from discreet.server.schemas.request_models import Body, body_of
from discreet.server.schemas.strict_json import in_document

WATCH = body_of(WatchRequest, Body)
routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a watch says. Its evaluations cost nothing, its beginning may."""

    status: WatchStatus
    replayed: bool = True

    @property
    def stored(self) -> bytes:
        return json.dumps(to_json(self.status)).encode()


@routes.post("/watch", openapi_extra={**in_document(WATCH), "parameters": [NAME]})
async def begin(request: LimitedRequest) -> Response:
    """Begin to watch one count or sum: charged in full, once for all data versions. The same words find it again, and cost nothing more."""
    wanted = await _read(request)

    def begun(api: LocalApi) -> _Said:
        watch: Watch = api.outcome(wanted)
        return _Said(watch.status, watch.replayed)

    return await respond(request, begun, _FORM)


@routes.post("/watch/evaluate", openapi_extra={**in_document(WATCH), "parameters": [NAME]})
async def evaluate(request: LimitedRequest) -> Response:
    """Say whether the data version that is served is above, with noise: read once, and repeated as often as it is requested. Free."""
    wanted = await _read(request)

    def evaluated(api: LocalApi) -> _Said:
        watch: Watch = api.recall(wanted)
        watch.evaluate()
        return _Said(watch.status)

    return await respond(request, evaluated, _FORM)


@routes.post("/watch/recall", openapi_extra=in_document(WATCH))
async def recall(request: LimitedRequest) -> Response:
    """What a watch of yours has said so far; nothing is read or spent."""
    wanted, service, holder = await _read(request), service_of(request), holder_of(request)
    prepared = await service.queries.look_up(
        lambda curator: _Said(curator.as_analyst(holder.charged_analyst).recall(wanted).status),
        holder=holder,
        then=partial(_FORM.prepare, service=service, analyst=holder.name),
    )
    return prepared.response(service)


async def _read(request: LimitedRequest) -> WatchRequest:
    body = await request.read(WATCH)
    service_of(request).check_dataset(body.dataset)
    return body.request(WatchRequest)


def _written(said: _Said, file: SpooledAnswer) -> None:
    file.write(said.stored)


_FORM = Form(JSON, _written)
