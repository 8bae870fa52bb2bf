"""The route class of FastAPI routes: bodies are limited, and synchronous handlers run in a limited thread pool."""

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
from discreet.server.http.thread_pools import check_queue


class SharedRoute(APIRoute):
    """A route with a limited body, whose synchronous handler runs in the pool of its kind."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler with the limits applied."""
        handle = super().get_route_handler()
        needs_thread, has_body = not iscoroutinefunction(self.endpoint), self.body_field is not None

        async def handle_limited(given: Request) -> Response:
            request = LimitedRequest(given.scope, given.receive)
            if has_body:
                await request.body()
            if not needs_thread:
                return await handle(request)
            async with _thread_slot(service_of(request), request):
                return await handle(request)

        return handle_limited


def _check_connected(request: Request) -> None:
    """Do no work for a public request whose client disconnected while it was queued."""
    connection = connection_of(request)
    if connection is not None and connection.is_disconnected:
        raise HTTPException(400)


@asynccontextmanager
async def _thread_slot(service: Service, request: Request) -> AsyncIterator[None]:
    """Hold a thread of the route's pool; for an authenticated route, also within the holder's rate limit."""
    if is_public(route_of(request)):
        check_queue(service.pools.public)
        async with service.pools.public:
            _check_connected(request)
            yield
        return
    check_queue(service.pools.ledger)
    with service.rate_limit.admit(holder_of(request).name):
        async with service.pools.ledger:
            yield
