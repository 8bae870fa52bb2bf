"""Execute a charged request under its Idempotency-Key, and send the result at once or after progress lines."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from discreet.pipeline.call import Call
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.connections import connection_of
from discreet.server.http.serializers import Form, Prepared
from discreet.server.jobs.progress_stream import stream_progress
from discreet.server.jobs.running_queries import Answered, Job

_LONGEST_NAME = 200
NAME = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "maxLength": _LONGEST_NAME},
}
"""The header, as OpenAPI describes it."""


async def respond(request: Request, job: Job[Answered], form: Form[Answered]) -> Response:
    """Execute a job and return its result in the form that the request accepts; with `application/x-ndjson`, after a line for each step."""
    service, holder, name = service_of(request), holder_of(request), _name_of(request)
    service.long_answers.check(holder.name)

    def ask(hear: Callable[[str], None]) -> Awaitable[Prepared]:
        call = Call(request_id=name, on_step=hear, limit=form.limit)
        prepare = partial(form.prepare, service=service, analyst=holder.name)
        return service.queries.ask(job, holder=holder, call=call, then=prepare)

    if "application/x-ndjson" in request.headers.get("accept", ""):
        lines = stream_progress(
            ask,
            on_disconnect=lambda: service.queries.cancel(holder, name),
            written=lambda prepared: prepared.pieces(service),
            on_refusal=partial(setattr, request.state, "code"),
        )
        return StreamingResponse(lines, media_type="application/x-ndjson")
    prepared = await ask(lambda _: None)
    if (connection := connection_of(request)) is not None and connection.is_disconnected:
        prepared.file.close()
        raise HTTPException(400)
    return prepared.response(service)


def _name_of(request: Request) -> str:
    """Return the Idempotency-Key, with which a query can be repeated or cancelled; a random one if the header is missing."""
    name = request.headers.get("idempotency-key") or os.urandom(16).hex()
    if len(name) > _LONGEST_NAME:
        raise RequestValidationError([])
    return name
