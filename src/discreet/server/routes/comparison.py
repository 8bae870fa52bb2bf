"""Routes for the owner alone: real numbers beside those of a release. Nothing that they send is private, all of it says so, and the ledger records who looked."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from discreet.api.requests.compare import ComparePairRequest, ComparePriceRequest, CompareRequest
from discreet.pipeline.call import Call
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.thread_pools import in_thread
from discreet.server.schemas.request_models import Body, body_of
from discreet.server.schemas.strict_json import in_document

COMPARE, PAIR, PRICE = (body_of(kind, Body) for kind in (CompareRequest, ComparePairRequest, ComparePriceRequest))
routes = APIRouter(prefix="/v1/releases/{name}/comparison", responses=RESPONSES, route_class=SharedRoute)


@routes.post("", openapi_extra=in_document(COMPARE))
async def compare(name: str, request: LimitedRequest) -> JSONResponse:
    """Every column, the error of tables, and what is learned from either: not private."""
    return await _compare(request, (await request.read(COMPARE)).request(CompareRequest, name=name))


@routes.post("/pair", openapi_extra=in_document(PAIR))
async def compare_pair(name: str, request: LimitedRequest) -> JSONResponse:
    """The table of two columns, real beside synthetic: not private."""
    return await _compare(request, (await request.read(PAIR)).request(ComparePairRequest, name=name))


@routes.post("/price", openapi_extra=in_document(PRICE))
async def compare_price(name: str, request: LimitedRequest) -> JSONResponse:
    """The error of the same release at another epsilon; it is thrown away, and nothing is charged: not private."""
    return await _compare(request, (await request.read(PRICE)).request(ComparePriceRequest, name=name))


async def _compare(request: LimitedRequest, wanted: CompareRequest) -> JSONResponse:
    """One at a time, in a thread pool of its own: it takes no slot from analysts."""
    service, holder = service_of(request), holder_of(request)

    def job() -> dict[str, Any]:
        with service.current.held() as curator:
            return curator.with_call(Call(actor=holder.id)).execute(wanted)

    with service.rate_limit.admit(holder.name):
        return JSONResponse(await in_thread(service.pools.comparisons, job))
