"""Routes for sessions: open one, and answer queries in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from discreet.api.local import LocalApi
from discreet.api.requests.session import SessionRequest
from discreet.api.requests.session_answers import SessionAnswersRequest
from discreet.core.json_codec import to_json
from discreet.errors import BadInput
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.idempotency import NAME, respond
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import JSON, Form
from discreet.server.http.streaming import SpooledAnswer
from discreet.server.jobs.running_queries import Job, plan_job
from discreet.server.schemas.request_models import Body, PlannableBody, body_of
from discreet.server.schemas.strict_json import in_document

SESSION = body_of(SessionRequest, PlannableBody)
ANSWERS = body_of(SessionAnswersRequest, Body)
routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)
_MOST_QUERIES = 200_000
"""Maximum queries of one session; its answers stay in memory while it is open."""
_EACH, _MOST_OPEN = 4, 8
"""Open sessions per analyst and in total. The client reopens a session that the server closed."""
_MOST_CELLS = 2**22
"""Maximum cells of one query's table, which stays in memory while the session is open."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """The JSON of a response, with the attributes of a stored result."""

    body: Mapping[str, Any]
    replayed: bool = True

    @property
    def stored(self) -> bytes:
        return json.dumps(self.body).encode()


@routes.post("/sessions", openapi_extra={**in_document(SESSION), "parameters": [NAME]})
async def open_session(request: LimitedRequest) -> Response:
    """Open a session: one charge for all its queries. The same request opens it again, without a charge.

    With `dry`, say what it would cost and which error bound it would have.
    """
    body = await request.read(SESSION)
    service, holder = service_of(request), holder_of(request)
    service.check_dataset(body.dataset)
    session_request = body.request(SessionRequest)
    if session_request.queries > _MOST_QUERIES:
        raise BadInput(
            f"On a server, a session has at most {_MOST_QUERIES:,} queries.", next_step=f"Use {_MOST_QUERIES:,}."
        )
    if body.dry:
        return await service.queries.explain(
            plan_job(session_request), holder=holder, then=lambda plan: JSONResponse(to_json(plan))
        )
    return await respond(request, _open(session_request), _FORM)


@routes.post("/sessions/{session_id}/answers", openapi_extra={**in_document(ANSWERS), "parameters": [NAME]})
async def answer(session_id: str, request: LimitedRequest) -> Response:
    """Answer queries in a session that you opened; the answers are stored together. Free: the session is paid for."""
    body = await request.read(ANSWERS)
    service_of(request).check_dataset(body.dataset)
    return await respond(request, _answer(body.request(SessionAnswersRequest, session_id=session_id)), _FORM)


def _open(request: SessionRequest) -> Job[_Reply]:
    def job(api: LocalApi) -> _Reply:
        # Each data version has a curator of its own, so the limits are set where a session is opened.
        api.context.sessions.limit(each=_EACH, most=_MOST_OPEN, most_cells=_MOST_CELLS)
        session = api.outcome(request)
        return _Reply(to_json(session.state), session.replayed)

    return job


def _answer(request: SessionAnswersRequest) -> Job[_Reply]:
    def job(api: LocalApi) -> _Reply:
        outcome = api.outcome(request)
        return _Reply({"answers": to_json(outcome.answers), **to_json(outcome.state)})

    return job


def _write(reply: _Reply, file: SpooledAnswer) -> None:
    file.write(reply.stored)


_FORM = Form(JSON, _write)
