"""The HTTP API: every answer, price and refusal of the curator, for those who hold a key."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import discreet
from discreet.answering.leaving import UNIT
from discreet.answering.wire import facts_of
from discreet.curator import Curator, open_curator
from discreet.local.books import CollectorBooks
from discreet.server import analysts, attacking, auditors, collecting, owner
from discreet.server.guard import Guard
from discreet.server.hours import Hours
from discreet.server.keys import KeyBook
from discreet.server.pages import add_pages
from discreet.server.questions import Questions
from discreet.server.refusals import add_refusals, told
from discreet.server.service import Service, admitted, service_of
from discreet.server.sessions import Sessions

_LONGEST_BODY = 100_000
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]


def create_app(
    curator: Curator,
    keys: KeyBook,
    *,
    rate: float = 50,
    at_once: int = 8,
    class_ms: float = 1000 * UNIT,
    seconds_a_minute: float = 60,
    config: Path | None = None,
) -> FastAPI:
    """The application for one curator: so many requests a second, at once and seconds of a minute for each analyst.

    Answers leave at the end of classes of `class_ms` milliseconds and doublings of that; 0 gives away how long data was read.
    """
    app = FastAPI(
        title="Discreet",
        version=discreet.__version__,
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(admitted)],
    )
    collections = CollectorBooks.of(curator.declared)
    guard = Guard(rate=rate, at_once=at_once)
    hours = Hours(unit=class_ms / 1000, longest=curator.declared.seconds, a_minute=seconds_a_minute)
    questions = Questions(curator, guard=guard, hours=hours)
    service = Service(curator, keys, Sessions(keys), guard, questions, collections, config)
    app.state.service = service
    app.add_middleware(_Door, service=service)
    add_refusals(app)
    app.include_router(analysts.routes)
    app.include_router(owner.routes)
    app.include_router(auditors.routes)
    app.include_router(collecting.routes)
    app.include_router(attacking.routes)
    app.get("/v1/transparency")(card)
    app.get("/healthz")(health)
    app.get("/metrics", response_class=PlainTextResponse)(metrics)
    add_pages(app)
    return app


def from_environment() -> FastAPI:
    """The application in a worker process: `discreet serve` says by DISCREET_SERVE what it serves, and how."""
    settings = json.loads(os.environ["DISCREET_SERVE"])
    config = Path(settings.pop("config"))
    curator = open_curator(config)
    return create_app(
        curator, KeyBook.open(curator.declared.ledger, anchor=curator.declared.anchor), config=config, **settings
    )


class _Door:
    """Around everything: too long a request stops here, every answer is labelled, and every one is noted."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        status = 0

        async def labelled(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > _LONGEST_BODY:
            await told(413, "too-large", "The request is too long.", "Send less.")(scope, receive, labelled)
        else:
            await self._app(scope, receive, labelled)
        route, state = getattr(scope.get("route"), "path", "other"), scope["state"]
        self._service.telemetry.note(route, status, holder=state.get("holder"), code=state.get("code"))


def card(request: Request) -> dict[str, Any]:
    """For everybody: what is protected, how strongly, what was released, what is left, the ledger's head."""
    facts: dict[str, Any] = facts_of(service_of(request).curator.card())
    return facts


def health(request: Request) -> dict[str, str]:
    """Whether the books can be read."""
    service_of(request).curator.ledger.data_version()
    return {"status": "ok"}


def metrics(request: Request) -> str:
    """Counts of requests by route and status."""
    return service_of(request).telemetry.text()
