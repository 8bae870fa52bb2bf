"""The outermost middleware: security headers, one log line for each request, and a fixed response for unexpected errors."""

from __future__ import annotations

import asyncio
import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server.http.error_responses import failure_response
from discreet.server.http.telemetry import Telemetry

_LOG = logging.getLogger("discreet.server")
_SECURITY_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]
_CLOSE = (b"connection", b"close")


class AccessLog:
    """Add the security headers to each response, and write the access log."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app, self._telemetry = app, telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        status, is_read = 0, not _has_body(scope)

        async def receive_counted() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body", False)
            return message

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # A client that gets its response before its whole body is read would keep sending: close the connection.
                # The same for a client above its rate limit.
                keep_alive = is_read and not scope["state"].get("close_connection", False)
                message["headers"] = [*message["headers"], *_SECURITY_HEADERS, *([] if keep_alive else [_CLOSE])]
            await send(message)

        try:
            await self._app(scope, receive_counted, send_with_headers)
        except asyncio.CancelledError:  # the server stops; uvicorn's own response then is not JSON
            if not status:
                await failure_response()(scope, receive_counted, send_with_headers)
            raise
        except Exception as failure:  # noqa: BLE001  the text of the error may quote the request or a row: log the class only
            _LOG.error("a request failed: %s", type(failure).__name__)
            scope["state"]["code"] = "failure"
            if not status:
                await failure_response()(scope, receive_counted, send_with_headers)
        state = scope["state"]
        _, _, path = (state.get("route") or "").partition(" ")
        route = f"{scope['root_path']}{path}" if path else "other"
        self._telemetry.record(route, status, holder=state.get("holder"), code=state.get("code"))


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"
