"""Authentication, roles and rate limits, before the body of a request is read and before FastAPI routes it.

A client above its limit is refused here: it reaches neither FastAPI nor a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from typing import TypeAlias

from anyio.to_thread import run_sync
from fastapi import Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.errors import NoAccess, TooMany, UnknownAccount
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.roles import is_known_path, is_public, route_for
from discreet.server.auth.service import Service, address_of, admit
from discreet.server.http.connections import Connection, connection_of
from discreet.server.http.error_responses import REFUSALS, refusal_response
from discreet.server.http.proxies import user_named
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.server_limits import is_loopback_address

Direct: TypeAlias = Callable[[LimitedRequest], Awaitable[Response]]
_DELAY = 1.0
"""Seconds by which a refusal is delayed for a client above its limit; then the connection is closed. It may be closed earlier to admit others."""
_HEALTH = "GET /healthz"
"""Not subject to the other limits."""


class AuthMiddleware:
    """Limit public routes by address, and check the key and the role on all others.

    `direct` are handlers that are called from here, as FastAPI's own work would take longer than they do.
    """

    def __init__(self, app: ASGIApp, service: Service, direct: Mapping[str, Direct]) -> None:
        self._app, self._service, self._direct = app, service, direct
        self._refreshing: asyncio.Future[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, route = LimitedRequest(scope, receive), route_for(scope["method"], scope["path"])
        request.state.route = route
        answer = None
        with ExitStack() as counted:
            try:
                await self._check_request(request, route, counted)
                if (direct := self._direct.get(route or "")) is not None:
                    answer = await direct(request)
            except REFUSALS as error:
                answer = refusal_response(request, error)
            await (answer or self._app)(scope, receive, send)

    async def _check_request(self, request: LimitedRequest, route: str | None, counted: ExitStack) -> None:
        """Check the limits and, if the route is not public, the key and the role. `counted` holds the rate limits until the response is sent."""
        if route == _HEALTH:
            await self._limit_health_request(request, counted)
            return
        if route is None or is_public(route):
            await self._limit_by_address(request, counted)
            user_named(request, self._service.limits.user_header)
            if route is None:
                raise HTTPException(405 if is_known_path(request.scope["path"]) else 404)
            return
        await self._admit(request, route, counted)
        if (connection := connection_of(request)) is not None:
            connection.is_authenticated = True

    async def _admit(self, request: LimitedRequest, route: str, counted: ExitStack) -> None:
        """Check the key against the cached keys, count the request, and then read new keys. The order limits how many keys an address can try."""
        is_up_to_date, problem = self._service.keys.is_up_to_date, None
        try:
            admit(request, route)
        except (NoAccess, UnknownAccount) as error:
            problem = error
        await self._limit_by_holder(request, counted)
        if not is_up_to_date:
            await self._refresh_keys()
            admit(request, route)
        elif problem is not None:
            raise problem

    async def _refresh_keys(self) -> None:
        """Read new keys and users; all requests that wait share one read."""
        reading = self._refreshing
        if reading is None or reading.done():
            keys, share = self._service.keys, self._service.pools.keys
            reading = self._refreshing = asyncio.ensure_future(run_sync(keys.refresh, limiter=share))
        await asyncio.shield(reading)

    async def _limit_health_request(self, request: LimitedRequest, counted: ExitStack) -> None:
        """Apply the separate limit of health requests, so that they and other requests do not use up each other's. The local machine has none."""
        if request.client and not is_loopback_address(request.client.host):
            await self._limit(self._service.health_requests, request, counted)

    async def _limit_by_address(self, request: LimitedRequest, counted: ExitStack) -> None:
        await self._limit(self._service.unauthenticated, request, counted)

    async def _limit_by_holder(self, request: LimitedRequest, counted: ExitStack) -> None:
        """Count the request against its key or user, whatever its outcome; against the address if neither is valid."""
        holder = request.scope["state"].get("holder")
        if holder is None:
            await self._limit_by_address(request, counted)
        else:
            await self._limit(self._service.callers, request, counted, caller=holder)

    async def _limit(
        self, rate_limit: RateLimit, request: LimitedRequest, counted: ExitStack, *, caller: str | None = None
    ) -> None:
        """Hold a rate limit of `caller`, or else of the address."""
        caller = caller or address_of(request)
        try:
            counted.enter_context(rate_limit.admit(caller))
        except TooMany:
            request.state.close_connection = True
            with suppress(TooMany), self._service.delayed_refusals.admit(caller):  # limits behind a proxy too
                await _delay(connection_of(request))
            raise


async def _delay(connection: Connection | None) -> None:
    """Wait, unless the client disconnects."""
    if connection is None:
        await asyncio.sleep(_DELAY)
    else:
        await connection.delay_refusal(_DELAY)
