"""Routes for watches: start one, evaluate the current data version, and read earlier results."""

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
class _Reply:
    """The status of a watch. Starting one may be charged; evaluations are free."""

    status: WatchStatus
    replayed: bool = True

    @property
    def stored(self) -> bytes:
        return json.dumps(to_json(self.status)).encode()


@routes.post("/watch", openapi_extra={**in_document(WATCH), "parameters": [NAME]})
async def start(request: LimitedRequest) -> Response:
    """Start to watch one count or sum. It is charged once, for all data versions. The same request finds it again, free of charge."""
    wanted = await _read(request)

    def start_watch(api: LocalApi) -> _Reply:
        watch: Watch = api.outcome(wanted)
        return _Reply(watch.status, watch.replayed)

    return await respond(request, start_watch, _FORM)


@routes.post("/watch/evaluate", openapi_extra={**in_document(WATCH), "parameters": [NAME]})
async def evaluate(request: LimitedRequest) -> Response:
    """Return whether the current data version is above the threshold, with noise. Free. Each version is measured once; repeats return the same result."""
    wanted = await _read(request)

    def evaluate_watch(api: LocalApi) -> _Reply:
        watch: Watch = api.recall(wanted)
        watch.evaluate()
        return _Reply(watch.status)

    return await respond(request, evaluate_watch, _FORM)


@routes.post("/watch/recall", openapi_extra=in_document(WATCH))
async def recall(request: LimitedRequest) -> Response:
    """Return the results of your watch so far. Nothing is read or charged."""
    wanted, service, holder = await _read(request), service_of(request), holder_of(request)
    prepared = await service.queries.look_up(
        lambda curator: _Reply(curator.as_analyst(holder.charged_analyst).recall(wanted).status),
        holder=holder,
        then=partial(_FORM.prepare, service=service, analyst=holder.name),
    )
    return prepared.response(service)


async def _read(request: LimitedRequest) -> WatchRequest:
    body = await request.read(WATCH)
    service_of(request).check_dataset(body.dataset)
    return body.request(WatchRequest)


def _write(reply: _Reply, file: SpooledAnswer) -> None:
    file.write(reply.stored)


_FORM = Form(JSON, _write)
