"""Routes behind the gate: bodies are read within limits, and what is no coroutine runs in a share of the threads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from inspect import iscoroutinefunction
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from discreet.server.auth.roles import is_public
from discreet.server.auth.service import Service, holder_of, route_of, service_of
from discreet.server.http.connections import connection_of
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.thread_pools import check_room


class SharedRoute(APIRoute):
    """The class of every route that FastAPI calls."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's own handler, within limits."""
        handle = super().get_route_handler()
        needs_thread, has_body = not iscoroutinefunction(self.endpoint), self.body_field is not None

        async def limited(given: Request) -> Response:
            request = LimitedRequest(given.scope, given.receive)
            if has_body:
                await request.body()
            if not needs_thread:
                return await handle(request)
            async with _place(service_of(request), request):
                return await handle(request)

        return limited


def _check_there(request: Request) -> None:
    """Nothing is made for a stranger who went away while it was queued for."""
    connection = connection_of(request)
    if connection is not None and connection.is_gone:
        raise HTTPException(400)


@asynccontextmanager
async def _place(service: Service, request: Request) -> AsyncIterator[None]:
    """A place in the share of the route; of the analyst's own limits too, where there is one."""
    if is_public(route_of(request)):
        check_room(service.shares.public)
        async with service.shares.public:
            _check_there(request)
            yield
        return
    check_room(service.shares.books)
    with service.guard.admit(holder_of(request).name):
        async with service.shares.books:
            yield
