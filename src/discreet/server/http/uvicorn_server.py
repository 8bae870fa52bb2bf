"""Run uvicorn with connection limits, a log without data, and a bounded shutdown."""

from __future__ import annotations

import errno
import gc
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from fastapi import FastAPI

from discreet.errors import BadInput
from discreet.server.http.connections import OpenConnections
from discreet.server.http.server_limits import Limits
from discreet.server.routes.datasets import Datasets

_YOUNG = 20_000
"""Allocations between garbage collections. A query allocates thousands of objects, and almost none of them is in a reference cycle."""
_BACKLOG = 128
"""Connections that the kernel accepts before the server counts them."""


class NamesOnly(logging.Formatter):
    """Log without tracebacks: the text of an error may quote the request or a row."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  name given by logging
        """Return the name of the exception's class."""
        return str(ei[0].__name__)


_LOGS = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"()": NamesOnly, "format": "%(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"level": "WARNING", "handlers": ["stderr"]},
    # INFO and WARNING of uvicorn are one line for each malformed request: clients could fill the disk.
    "loggers": {"discreet.server": {"level": "INFO"}, "uvicorn.error": {"level": "ERROR"}},
}


class _Server(uvicorn.Server):
    """Call `on_listening` once the server accepts connections."""

    def __init__(self, config: uvicorn.Config, on_listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does."""
        await super().startup(sockets=sockets)
        if self.started:
            self._on_listening()


def bind_sockets(host: str, port: int) -> list[socket.socket]:
    """Bind a socket at every address of `host`, or refuse if one is in use."""
    sockets: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            bound = socket.socket(family, kind, protocol)
            sockets.append(bound)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            bound.bind(address)
    except OSError as error:
        for bound in sockets:
            bound.close()
        if error.errno == errno.EADDRINUSE:
            raise BadInput(
                f"Port {port} is in use.", next_step="Stop the program that uses it, or choose another --port."
            ) from None
        raise BadInput(
            f"The server cannot listen at {host}, port {port}.",
            next_step="Choose another --host, or a --port above 1023.",
        ) from None
    return sockets


def run(apps: list[FastAPI], limits: Limits, *, sockets: list[socket.socket], on_listening: Callable[[], None]) -> None:
    """Serve one dataset at the root, or several under /d/NAME, until a signal; then wait a little for requests in progress, and stop."""
    connections = OpenConnections(limits)
    gc.collect()
    gc.freeze()  # imported modules are never garbage; scanning them would pause all requests for 0.1 s
    gc.set_threshold(_YOUNG, 10, 10)
    for app in apps:
        app.state.service.telemetry.gauge("discreet_connections", "Open connections.", lambda: len(connections))
    config = uvicorn.Config(
        apps[0] if len(apps) == 1 else Datasets(apps, limits),
        http=connections.protocol(),
        ws="none",
        backlog=_BACKLOG,
        loop="uvloop",
        timeout_keep_alive=max(1, round(limits.patience)),
        timeout_graceful_shutdown=round(limits.stopping),
        proxy_headers=False,  # `NamedProxies` reads them, from trusted proxies only
        log_config=_LOGS,
        access_log=False,
        server_header=False,
    )
    with suppress(KeyboardInterrupt):
        _Server(config, on_listening).run(sockets=sockets)
