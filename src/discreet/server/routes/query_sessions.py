"""Routes for sessions: open one, and ask many queries in it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from discreet.core.json_codec import to_json
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.idempotency import NAME, answered
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import JSON, Form
from discreet.server.http.streaming import WaitingAnswer
from discreet.server.schemas.query_bodies import body_outcome, planned_body
from discreet.server.schemas.session_bodies import NewSession, QueriesBody
from discreet.server.schemas.strict_json import in_document

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)


@routes.post("/sessions", openapi_extra={**in_document(NewSession), "parameters": [NAME]})
async def open_session(request: LimitedRequest) -> Response:
    """Open a session: pays once for all its queries. The same words find it again, and it goes on. With `dry`, say what it would cost and promise."""
    wanted = await request.read(NewSession)
    service, holder = service_of(request), holder_of(request)
    service.check_dataset(wanted.dataset)
    if wanted.dry:
        return await service.queries.explain(
            planned_body(wanted), holder=holder, then=lambda plan: JSONResponse(to_json(plan))
        )
    return await answered(request, body_outcome(wanted), _FORM)


@routes.post("/sessions/{name}/answers", openapi_extra={**in_document(QueriesBody), "parameters": [NAME]})
async def answer(name: str, request: LimitedRequest) -> Response:
    """Answer queries in a session of yours, stored together. Free: it is paid for."""
    queries = await request.read(QueriesBody)
    service_of(request).check_dataset(queries.dataset)
    return await answered(request, body_outcome(queries.of(name)), _FORM)


def _written(said: Any, file: WaitingAnswer) -> None:
    file.write(said.stored)


_FORM = Form(JSON, _written)
