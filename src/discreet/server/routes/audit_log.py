"""Routes for auditors: read the entries of the ledger, and verify it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from anyio import CapacityLimiter
from fastapi import APIRouter, Request, Response
from fastapi import Query as UrlParameter

from discreet.ledger import verify
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import json_response
from discreet.server.http.thread_pools import in_thread

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)


_ONE_AT_A_TIME = CapacityLimiter(1)
"""Verification time grows with the ledger; a separate pool keeps it from delaying other requests."""


@routes.get("/ledger")
def entries(
    request: Request,
    *,
    last: Annotated[int, UrlParameter(ge=1, le=1000)] = 100,
    before: Annotated[int | None, UrlParameter(ge=1, le=2**62)] = None,
) -> Response:
    """Return the last entries, or the last before a number, in order; `head` is the number of the newest entry."""
    ledger = service_of(request).curator.ledger
    head, shown = ledger.head(), ledger.history(last=last, before=before)
    return json_response(request, {"head": head.seq if head else 0, "entries": [asdict(entry) for entry in shown]})


@routes.get("/ledger/verification")
async def verification(request: Request) -> dict[str, Any]:
    """Verify the ledger from its first entry: every charge, total, receipt and answer."""
    service = service_of(request)
    with service.rate_limit.admit(holder_of(request).name):
        found = await in_thread(_ONE_AT_A_TIME, verify, service.curator.ledger)
    return {**asdict(found), "sound": found.sound}
