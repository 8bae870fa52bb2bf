"""Routes for auditors: the entries of the ledger, with who did what, and whether they add up."""

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
"""Verifying takes as long as the books are, and must not keep others from theirs."""


@routes.get("/ledger")
def entries(
    request: Request,
    *,
    last: Annotated[int, UrlParameter(ge=1, le=1000)] = 100,
    before: Annotated[int | None, UrlParameter(ge=1, le=2**62)] = None,
) -> Response:
    """The last entries, or the last before a number, in order; `head` is the number of the last of all."""
    ledger = service_of(request).curator.ledger
    head, shown = ledger.head(), ledger.history(last=last, before=before)
    return json_response(request, {"head": head.seq if head else 0, "entries": [asdict(entry) for entry in shown]})


@routes.get("/ledger/verification")
async def verification(request: Request) -> dict[str, Any]:
    """The books, followed from the first entry on: whether every price, total, receipt and answer is right."""
    service = service_of(request)
    with service.rate_limit.admit(holder_of(request).name):
        found = await in_thread(_ONE_AT_A_TIME, verify, service.curator.ledger)
    return {**asdict(found), "sound": found.sound}
