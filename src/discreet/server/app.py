"""The HTTP API: every answer, price and refusal of the curator, for those who hold a key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse

import discreet
from discreet.curator import Curator
from discreet.server import analysts, owner
from discreet.server.guard import Guard
from discreet.server.keys import KeyBook
from discreet.server.pages import add_pages
from discreet.server.records import transparency
from discreet.server.refusals import add_refusals, told
from discreet.server.service import Service, owner_of, service_of

_LONGEST_BODY = 100_000
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


def create_app(
    curator: Curator,
    keys: KeyBook,
    *,
    dataset: str = "default",
    rate: float = 50,
    at_once: int = 8,
    quantum: float = 0.05,
) -> FastAPI:
    """The application for one curator: so many requests a second and at once for each key, answers at round times."""
    app = FastAPI(title="Discreet", version=discreet.__version__, docs_url=None, redoc_url=None)
    app.state.service = Service(curator, keys, Guard(rate=rate, at_once=at_once), dataset, quantum)
    app.middleware("http")(_limit_and_label)
    add_refusals(app)
    app.include_router(analysts.routes)
    app.include_router(owner.routes)
    app.get("/v1/transparency")(card)
    app.get("/healthz")(health)
    app.get("/metrics", response_class=PlainTextResponse)(metrics)
    add_pages(app, keys)
    return app


async def _limit_and_label(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    length = request.headers.get("content-length") or "0"
    if not length.isdecimal() or int(length) > _LONGEST_BODY:
        return told(413, "too-large", "The request is too long.", "Send less.")
    response = await call_next(request)
    response.headers.update(_HEADERS)
    route = getattr(request.scope.get("route"), "path", "other")
    holder, code = (getattr(request.state, name, None) for name in ("holder", "code"))
    service_of(request).telemetry.note(route, response.status_code, holder=holder, code=code)
    return response


def card(request: Request) -> dict[str, Any]:
    """For everybody: what is protected, how strongly, what was released, what is left, the ledger's head."""
    service = service_of(request)
    return transparency(service.curator, service.dataset)


def health(request: Request) -> dict[str, str]:
    """Whether the books can be read."""
    service_of(request).curator.ledger.data_version()
    return {"status": "ok"}


def metrics(request: Request) -> str:
    """Counts of requests by route and status; for the owner."""
    owner_of(request)
    return service_of(request).telemetry.text()
