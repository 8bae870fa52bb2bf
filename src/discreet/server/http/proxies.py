"""Proxies that the owner named: what they say of where a request comes from, and of who sent it, is believed; what others say is not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from discreet.errors import NoAccess
from discreet.server.http.server_limits import Limits


class NamedProxies:
    """Around everything: whether a connection is a named proxy's is noted before the proxy's word for the client's address is taken."""

    def __init__(self, app: Any, limits: Limits) -> None:
        self._app: ASGIApp = ProxyHeadersMiddleware(app, trusted_hosts=list(limits.proxies))  # type: ignore[assignment]  # typed by hand
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http" and scope["client"]:
            scope.setdefault("state", {})["by_proxy"] = self._limits.is_proxy(scope["client"][0])
        await self._app(scope, receive, send)


def user_named(request: Request, header: str | None) -> str | None:
    """The user whom the owner's proxy signed in, None where nobody is named; refused where anybody else names one.

    `header` is the one that the owner chose.
    """
    names = [] if header is None else request.headers.getlist(header)
    if not names:
        return None
    if len(names) == 1 and getattr(request.state, "by_proxy", False):
        with suppress(UnicodeDecodeError):
            return names[0].encode("latin-1").decode()  # headers are read as Latin-1, and proxies write UTF-8
    raise NoAccess(
        "Who asks is said by the owner's proxy, once, and by nobody else.",
        next_step="Come through the proxy, or leave its header out and use a key.",
    )
