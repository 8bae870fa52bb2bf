"""Routes for the owner alone: real numbers beside those of a release. Nothing that they send is private, all of it says so, and the books say who looked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from discreet.api.local import Curator
from discreet.api.operations.comparison import Compared
from discreet.results.answer_json import parameters_from_json
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.thread_pools import in_thread
from discreet.server.schemas.strict_json import Parameter, Positive, WithoutNulls, in_document

routes = APIRouter(prefix="/v1/releases/{name}/comparison", responses=RESPONSES, route_class=SharedRoute)


class Comparison(WithoutNulls):
    """A release beside the rows that are served now."""

    analyst: Annotated[str, Field(max_length=200)] | None = None
    """Who gave the release its name, where several did."""
    parameters: dict[str, Parameter] | list[Parameter] | None = None
    """Of the release's source, where that has any: the books do not keep them."""


class PairComparison(Comparison):
    """Two columns of it."""

    columns: Annotated[list[str], Field(min_length=2, max_length=2)]


class PriceComparison(Comparison):
    """Another price for the same release."""

    epsilon: Positive


@routes.post("", openapi_extra=in_document(Comparison))
async def compare(name: str, request: LimitedRequest) -> JSONResponse:
    """Every column, how far tables are off, and what is learned from either: not private."""
    return await _sent(name, request, await request.read(Comparison), Curator.compare)


@routes.post("/pair", openapi_extra=in_document(PairComparison))
async def compare_pair(name: str, request: LimitedRequest) -> JSONResponse:
    """The table of two columns, real beside synthetic: not private."""
    wanted = await request.read(PairComparison)
    one, other = wanted.columns
    return await _sent(name, request, wanted, lambda curator, which: curator.compare_pair(which, (one, other)))


@routes.post("/price", openapi_extra=in_document(PriceComparison))
async def compare_price(name: str, request: LimitedRequest) -> JSONResponse:
    """How far the same release would be off at another price; it is thrown away, and nothing is charged: not private."""
    wanted = await request.read(PriceComparison)
    return await _sent(
        name, request, wanted, lambda curator, which: curator.compare_price(which, epsilon=wanted.epsilon)
    )


async def _sent(
    name: str, request: Request, wanted: Comparison, compared: Callable[[Curator, Compared], dict[str, Any]]
) -> JSONResponse:
    """One at a time, beside what analysts ask: whoever waits for a place of theirs waits for none of these."""
    service, holder = service_of(request), holder_of(request)
    which = Compared(
        name=name, given_by=wanted.analyst, parameters=parameters_from_json(wanted.parameters or ()), by=holder.id
    )

    def job() -> dict[str, Any]:
        with service.current.held() as curator:
            return compared(curator, which)

    with service.guard.admit(holder.name):
        return JSONResponse(await in_thread(service.shares.comparisons, job))
