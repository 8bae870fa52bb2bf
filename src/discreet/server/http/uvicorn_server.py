"""The process: uvicorn with our connections, our logs, and an end that comes."""

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
from discreet.server.http.connections import Crowd
from discreet.server.http.server_limits import Limits
from discreet.server.routes.datasets import Datasets

_YOUNG = 20_000
"""Objects made until some are looked through for garbage: a query makes thousands, and hardly any of them is in a circle."""
_BACKLOG = 128
"""Connections that are accepted in one go, before they are counted."""


class NamesOnly(logging.Formatter):
    """Lines without tracebacks: the text of an error may quote what was sent, or a row."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  as logging calls it
        """The class alone."""
        return str(ei[0].__name__)


_LOGS = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"()": NamesOnly, "format": "%(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"level": "WARNING", "handlers": ["stderr"]},
    # A stranger who sends nonsense is worth no line each time.
    "loggers": {"discreet.server": {"level": "INFO"}, "uvicorn.error": {"level": "ERROR"}},
}


class _Listening(uvicorn.Server):
    """Says so once it does, and not before."""

    def __init__(self, config: uvicorn.Config, on_listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does."""
        await super().startup(sockets=sockets)
        if self.started:
            self._on_listening()


def bound(host: str, port: int) -> list[socket.socket]:
    """Sockets that nobody else has, at every address that `host` means; or a refusal."""
    places: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            place = socket.socket(family, kind, protocol)
            places.append(place)
            place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                place.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            place.bind(address)
    except OSError as error:
        for place in places:
            place.close()
        if error.errno == errno.EADDRINUSE:
            raise BadInput(
                f"Port {port} is taken.", next_step="Stop what listens there, or give another --port."
            ) from None
        raise BadInput(
            f"Nothing can listen at {host}, port {port}.", next_step="Give another --host, or a --port above 1023."
        ) from None
    return places


def run(apps: list[FastAPI], limits: Limits, *, sockets: list[socket.socket], on_listening: Callable[[], None]) -> None:
    """Serve one dataset at the root, or several side by side, until a signal comes; then wait a little for what is under way, and end."""
    crowd = Crowd(limits)
    gc.collect()
    gc.freeze()  # all that was imported stays: looking through it for garbage keeps everybody waiting for a tenth of a second
    gc.set_threshold(_YOUNG, 10, 10)
    for app in apps:
        app.state.service.telemetry.gauge("discreet_connections", "Open connections.", lambda: len(crowd))
    config = uvicorn.Config(
        apps[0] if len(apps) == 1 else Datasets(apps, limits),
        http=crowd.protocol(),
        ws="none",
        backlog=_BACKLOG,
        loop="uvloop",
        timeout_keep_alive=max(1, round(limits.patience)),
        timeout_graceful_shutdown=round(limits.stopping),
        proxy_headers=False,  # the application sees to them, for proxies that the owner names
        log_config=_LOGS,
        access_log=False,
        server_header=False,
    )
    with suppress(KeyboardInterrupt):
        _Listening(config, on_listening).run(sockets=sockets)
