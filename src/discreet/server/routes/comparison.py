"""Routes that compare a release with exact numbers, for the owner only. The results are not private and say so; the ledger records each use."""

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
    """Compare every column, the error of tables, and models trained on either. The result is not private."""
    return await _compare(request, (await request.read(COMPARE)).request(CompareRequest, name=name))


@routes.post("/pair", openapi_extra=in_document(PAIR))
async def compare_pair(name: str, request: LimitedRequest) -> JSONResponse:
    """Compare the table of two columns, exact and synthetic. The result is not private."""
    return await _compare(request, (await request.read(PAIR)).request(ComparePairRequest, name=name))


@routes.post("/price", openapi_extra=in_document(PRICE))
async def compare_price(name: str, request: LimitedRequest) -> JSONResponse:
    """Return the error of the same release at another epsilon. That release is discarded and nothing is charged. The result is not private."""
    return await _compare(request, (await request.read(PRICE)).request(ComparePriceRequest, name=name))


async def _compare(request: LimitedRequest, wanted: CompareRequest) -> JSONResponse:
    """Run a comparison. One runs at a time, in its own pool, so it takes no slot from analysts."""
    service, holder = service_of(request), holder_of(request)

    def job() -> dict[str, Any]:
        with service.current.acquire() as curator:
            return curator.with_call(Call(actor=holder.id)).execute(wanted)

    with service.rate_limit.admit(holder.name):
        return JSONResponse(await in_thread(service.pools.comparisons, job))
