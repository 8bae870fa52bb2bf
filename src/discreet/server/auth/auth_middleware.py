"""The gate before every route: who comes, and how often; all before a byte of a body is read, and before anything is routed.

Strangers who come too often meet nothing behind it: neither FastAPI nor a thread.
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
from discreet.server.auth.roles import has_routes, is_public, route_for
from discreet.server.auth.service import Service, address_of, admit
from discreet.server.http.connections import Connection, connection_of
from discreet.server.http.error_responses import REFUSALS, refusal
from discreet.server.http.proxies import user_named
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.server_limits import is_of_this_machine

Direct: TypeAlias = Callable[[LimitedRequest], Awaitable[Response]]
_SLOWED = 1.0
"""Seconds that a refusal takes for who comes too often, after which the connection is closed; meanwhile it makes room for any other."""
_HEALTH = "GET /healthz"
"""It waits for nobody."""


class Gate:
    """A route for everybody is limited by address; for any other a key is looked at first.

    `direct` are routes that are called from here: what FastAPI does for the others takes longer than they do.
    """

    def __init__(self, app: ASGIApp, service: Service, direct: Mapping[str, Direct]) -> None:
        self._app, self._service, self._direct = app, service, direct
        self._catching_up: asyncio.Future[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, route = LimitedRequest(scope, receive), route_for(scope["method"], scope["path"])
        request.state.route = route
        answer = None
        with ExitStack() as counted:
            try:
                await self._let_in(request, route, counted)
                if (direct := self._direct.get(route or "")) is not None:
                    answer = await direct(request)
            except REFUSALS as error:
                answer = refusal(request, error)
            await (answer or self._app)(scope, receive, send)

    async def _let_in(self, request: LimitedRequest, route: str | None, counted: ExitStack) -> None:
        """`counted` is what counts strangers as long as they are here."""
        if route == _HEALTH:
            await self._as_looker(request, counted)
            return
        if route is None or is_public(route):
            await self._as_stranger(request, counted)
            user_named(request, self._service.limits.user_header)
            if route is None:
                raise HTTPException(405 if has_routes(request.scope["path"]) else 404)
            return
        await self._admit(request, route, counted)
        if (connection := connection_of(request)) is not None:
            connection.has_shown_key = True

    async def _admit(self, request: LimitedRequest, route: str, counted: ExitStack) -> None:
        """By the keys that are known. Nothing is read for anybody else before they count as a stranger, who may not try keys without end."""
        is_up_to_date, problem = self._service.keys.is_up_to_date, None
        try:
            admit(request, route)
        except (NoAccess, UnknownAccount) as error:
            problem = error
        await self._as_caller(request, counted)
        if not is_up_to_date:
            await self._catch_up()
            admit(request, route)
        elif problem is not None:
            raise problem

    async def _catch_up(self) -> None:
        """Read who has keys: once, for all who wait for it."""
        reading = self._catching_up
        if reading is None or reading.done():
            keys, share = self._service.keys, self._service.shares.keys
            reading = self._catching_up = asyncio.ensure_future(run_sync(keys.catch_up, limiter=share))
        await asyncio.shield(reading)

    async def _as_looker(self, request: LimitedRequest, counted: ExitStack) -> None:
        """Who looks at the health has a limit beside all others, so that neither uses up the other; this machine, which watches itself, has none."""
        if request.client and not is_of_this_machine(request.client.host):
            await self._within(self._service.lookers, request, counted)

    async def _as_stranger(self, request: LimitedRequest, counted: ExitStack) -> None:
        await self._within(self._service.strangers, request, counted)

    async def _as_caller(self, request: LimitedRequest, counted: ExitStack) -> None:
        """Whatever comes of a request counts against its key or user; against the address where neither opens anything."""
        holder = request.scope["state"].get("holder")
        if holder is None:
            await self._as_stranger(request, counted)
        else:
            await self._within(self._service.callers, request, counted, who=holder)

    async def _within(
        self, guard: RateLimit, request: LimitedRequest, counted: ExitStack, *, who: str | None = None
    ) -> None:
        """`who` is counted, if it is not the address."""
        counts_as = who or address_of(request)
        try:
            counted.enter_context(guard.admit(counts_as))
        except TooMany:
            request.state.hang_up = True
            with suppress(TooMany), self._service.slowed.admit(counts_as):  # through a proxy too
                await _slowed(connection_of(request))
            raise


async def _slowed(connection: Connection | None) -> None:
    """Wait, but not for somebody who is gone."""
    if connection is None:
        await asyncio.sleep(_SLOWED)
    else:
        await connection.let_wait(_SLOWED)
