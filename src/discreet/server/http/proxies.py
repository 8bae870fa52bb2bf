"""Trusted proxies: their headers for the client address and the signed-in user are used. Headers of other senders are not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from discreet.errors import NoAccess
from discreet.server.http.server_limits import Limits


class NamedProxies:
    """Middleware: record whether a connection comes from a trusted proxy, then apply its X-Forwarded-For."""

    def __init__(self, app: Any, limits: Limits) -> None:
        self._app: ASGIApp = ProxyHeadersMiddleware(app, trusted_hosts=list(limits.proxies))  # type: ignore[assignment]  # typed by hand
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and scope["client"]:
            scope.setdefault("state", {})["by_proxy"] = self._limits.is_proxy(scope["client"][0])
        await self._app(scope, receive, send)


def user_named(request: Request, header: str | None) -> str | None:
    """Return the user that a trusted proxy names in `header`, or None without the header.

    Raises:
        NoAccess: The header comes from another sender, or twice.
    """
    names = [] if header is None else request.headers.getlist(header)
    if not names:
        return None
    if len(names) == 1 and getattr(request.state, "by_proxy", False):
        with suppress(UnicodeDecodeError):
            return names[0].encode("latin-1").decode()  # headers are read as Latin-1, and proxies write UTF-8
    raise NoAccess(
        "Only a trusted proxy may send the user header, and only once.",
        next_step="Connect through the proxy, or omit the header and use a key.",
    )
