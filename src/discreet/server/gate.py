"""The gate of every route: who comes, how often, and which threads they may keep busy; all before a byte of a body is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from inspect import iscoroutinefunction
from typing import Any

from anyio.to_thread import run_sync
from fastapi import Request, Response
from fastapi.routing import APIRoute

from discreet.errors import Forbidden, NoAccess, TooMany
from discreet.server.connections import Connection
from discreet.server.incoming import LimitedRequest
from discreet.server.proxies import user_named
from discreet.server.roles import is_public
from discreet.server.service import Service, address_of, admit, holder_of, route_of, service_of
from discreet.server.shares import check_room

_SLOWED = 1.0
"""Seconds that a refusal takes for who comes too often, after which the connection is closed; meanwhile it makes room for any other."""


class Gate(APIRoute):
    """A route for everybody is limited by address; for any other a key is looked at first. Routes that are no coroutines run in a share of the threads."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's own handler, behind the gate."""
        handle = super().get_route_handler()
        needs_thread, has_body = not iscoroutinefunction(self.endpoint), self.body_field is not None

        async def gated(given: Request) -> Response:
            request = LimitedRequest(given.scope, given.receive)
            service = service_of(request)
            async with _let_in(service, request):
                if has_body:
                    await request.body()
                if not needs_thread:
                    return await handle(request)
                async with _place(service, request):
                    return await handle(request)

        return gated


@asynccontextmanager
async def _let_in(service: Service, request: Request) -> AsyncIterator[None]:
    if is_public(route_of(request)):
        async with _as_stranger(service, request):
            user_named(request, service.limits.user_header)
            yield
        return
    if not service.keys.is_up_to_date:
        await run_sync(service.keys.catch_up, limiter=service.shares.keys)
    try:
        admit(request)
    except Forbidden:
        raise
    except NoAccess:
        async with _as_stranger(service, request):  # who may not try keys without end
            raise
    if (connection := _connection_of(request)) is not None:
        connection.has_shown_key = True
    yield


@asynccontextmanager
async def _as_stranger(service: Service, request: Request) -> AsyncIterator[None]:
    try:
        async with service.strangers.admit(address_of(request)):
            yield
    except TooMany:
        request.state.hang_up = True
        if (connection := _connection_of(request)) is not None:
            connection.let_wait()
        with suppress(TooMany):  # an address has so many refusals that take their time, through a proxy too
            async with service.slowed.admit(address_of(request)):
                await asyncio.sleep(_SLOWED)
        raise


def _connection_of(request: Request) -> Connection | None:
    """None where an application is called without a server."""
    connection: Connection | None = getattr(request.state, "connection", None)
    return connection


@asynccontextmanager
async def _place(service: Service, request: Request) -> AsyncIterator[None]:
    """A place in the share of the route; of the analyst's own limits too, where there is one."""
    if is_public(route_of(request)):
        check_room(service.shares.public)
        async with service.shares.public:
            yield
        return
    check_room(service.shares.books)
    async with service.guard.admit(holder_of(request).name), service.shares.books:
        yield
