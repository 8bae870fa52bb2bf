"""Around everything: every answer is labelled, every request is noted, and whatever fails is one sentence."""

from __future__ import annotations

import asyncio
import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server.http.error_responses import failed
from discreet.server.http.telemetry import Telemetry

_LOG = logging.getLogger("discreet.server")
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]
_CLOSE = (b"connection", b"close")


class Door:
    """The outermost part of the application."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app, self._telemetry = app, telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        status, is_read = 0, not _has_body(scope)

        async def counted() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body", False)
            return message

        async def labelled(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # Who is answered before they have sent all of a body would go on sending: hang up. So too on who comes too often.
                stays = is_read and not scope["state"].get("hang_up", False)
                message["headers"] = [*message["headers"], *_HEADERS, *([] if stays else [_CLOSE])]
            await send(message)

        try:
            await self._app(scope, counted, labelled)
        except asyncio.CancelledError:  # the server stops; what uvicorn says then is no JSON
            if not status:
                await failed()(scope, counted, labelled)
            raise
        except Exception as failure:  # noqa: BLE001  its text may quote what was sent, or a row
            _LOG.error("a request failed: %s", type(failure).__name__)
            scope["state"]["code"] = "failure"
            if not status:
                await failed()(scope, counted, labelled)
        state = scope["state"]
        _, _, path = (state.get("route") or "").partition(" ")
        route = f"{scope['root_path']}{path}" if path else "other"
        self._telemetry.note(route, status, holder=state.get("holder"), code=state.get("code"))


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"
