"""Add the HTTP route of a request class: body, documentation, dry run, execution and response format."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from discreet.api.local import LocalApi
from discreet.api.requests.base import HTTP, body_params, params
from discreet.api.requests.base import Request as ApiRequest
from discreet.core.json_codec import to_json
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.idempotency import NAME, respond
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.serializers import Form
from discreet.server.schemas.request_models import PlannableBody, body_of
from discreet.server.schemas.strict_json import in_document

_HOW = """

With `dry`, say what it would cost, and charge nothing. With `Accept: application/x-ndjson`, steps are sent as they happen, one line each, and the
result last.
"""


def add_verb(
    routes: APIRouter, kind: type[ApiRequest[Any, Any]], form_of: Callable[[Request], Form[Any]], *, more: str = ""
) -> None:
    """Add the route that plans or executes a request.

    Args:
        routes: Router that gets the route.
        kind: Request class; it declares the address and the documentation of the route.
        form_of: Chooses the format of the response for an HTTP request.
        more: Text that is appended to the documentation.
    """
    model = body_of(kind, PlannableBody)

    async def serve(request: LimitedRequest) -> Response:
        body = await request.read(model)
        service, holder = service_of(request), holder_of(request)
        service.check_dataset(body.dataset)

        # Jobs read the request in their own thread: a model with 16,384 hypotheses takes 30 ms.
        def plan(api: LocalApi) -> Any:
            return api.plan(body.request(kind, **request.path_params))

        def execute(api: LocalApi) -> Any:
            return api.outcome(body.request(kind, **request.path_params))

        if body.dry:
            return await service.queries.explain(
                plan, holder=holder, then=lambda planned: JSONResponse(to_json(planned))
            )
        return await respond(request, execute, form_of(request))

    routes.post(
        kind.http_path.removeprefix(routes.prefix),
        name=kind.__name__.removesuffix("Request").lower(),
        description=inspect.cleandoc(str(kind.__doc__)) + _HOW + more,
        openapi_extra={**in_document(model), "parameters": [*_address_parameters(kind), NAME]},
    )(serve)


def _address_parameters(kind: type[ApiRequest[Any, Any]]) -> list[dict[str, Any]]:
    """Return the parameters in the address, as OpenAPI describes them."""
    return [
        {"name": each.name, "in": "path", "required": True, "description": each.doc, "schema": {"type": "string"}}
        for each in params(kind, where=HTTP)
        if each not in body_params(kind)
    ]
