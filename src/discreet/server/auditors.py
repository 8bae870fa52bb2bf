"""Routes for auditors: the entries of the ledger, with who did what, and whether they add up."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from discreet.ledger import verify
from discreet.server.gate import Gate
from discreet.server.refusals import RESPONSES
from discreet.server.service import holder_of, service_of
from discreet.server.shares import in_thread

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=Gate)


@routes.get("/ledger")
def entries(request: Request, *, last: Annotated[int, Query(ge=1, le=1000)] = 100) -> dict[str, Any]:
    """The last entries, in order; `head` is the number of the last."""
    shown = service_of(request).curator.ledger.history(last=last)
    return {"head": shown[-1].seq if shown else 0, "entries": [asdict(entry) for entry in shown]}


@routes.get("/ledger/verification")
async def verification(request: Request) -> dict[str, Any]:
    """The books, followed from the first entry on: whether every price, total, receipt and answer is right."""
    service = service_of(request)
    async with service.guard.admit(holder_of(request).name):
        found = await in_thread(service.shares.books, verify, service.curator.ledger)
    return {**asdict(found), "sound": found.sound}
