"""The process: uvicorn with our connections, our logs, and an end that comes."""

from __future__ import annotations

import gc
import logging
from typing import Any

import uvicorn
from fastapi import FastAPI

from discreet.server.connections import Crowd
from discreet.server.limits import Limits

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


def run(app: FastAPI, limits: Limits, *, host: str, port: int) -> None:
    """Serve until a signal comes; then wait a little for what is under way, and end."""
    crowd = Crowd(limits)
    gc.collect()
    gc.freeze()  # all that was imported stays: looking through it for garbage keeps everybody waiting for a tenth of a second
    app.state.service.telemetry.gauge("discreet_connections", "Open connections.", lambda: len(crowd))
    uvicorn.run(
        app,
        host=host,
        port=port,
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
