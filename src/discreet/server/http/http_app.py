"""The HTTP API: every answer, price and refusal of the curator, for those who hold a key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from anyio import CapacityLimiter
from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.routing import APIRoute

import discreet
from discreet.api.local import Curator
from discreet.core.json_codec import to_json
from discreet.local.collector.report_store import ReportStore
from discreet.pipeline.time_padding import SHORTEST_BUCKET
from discreet.server.auth.auth_middleware import Gate
from discreet.server.auth.keys import KeyBook
from discreet.server.auth.page_sessions import Sessions
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.service import Service, came_through_the_gate, service_of
from discreet.server.http.access_log import Door
from discreet.server.http.cached_response import Shown
from discreet.server.http.error_responses import add_refusals
from discreet.server.http.proxies import NamedProxies
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.server_limits import Limits
from discreet.server.jobs.current_curator import Current
from discreet.server.jobs.health import Health
from discreet.server.jobs.running_queries import Queries
from discreet.server.jobs.saved_store import SavedQueries
from discreet.server.jobs.time_budget import TimeBudget
from discreet.server.routes import (
    analysts,
    attack_lab,
    audit_log,
    collections,
    comparison,
    networks,
    owner,
    query_sessions,
    releases,
    saved_queries,
    watches,
)
from discreet.server.routes.pages import add_pages
from discreet.store import open_store


def create_app(
    curator: Curator,
    keys: KeyBook,
    *,
    rate: float = 50,
    at_once: int = 8,
    class_ms: float = 1000 * SHORTEST_BUCKET,
    seconds_a_minute: float = 60,
    config: Path | None = None,
    limits: Limits | None = None,
) -> FastAPI:
    """The application for one curator: so many requests a second, at once and seconds of a minute for each analyst.

    Answers leave at the end of classes of `class_ms` milliseconds and doublings of that; 0 gives away how long data was read.
    """
    known = limits or Limits()
    current = Current(curator, config)
    app = FastAPI(
        title="Discreet",
        version=discreet.__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=_served,
        dependencies=[Depends(came_through_the_gate)],
    )
    app.router.route_class = SharedRoute
    rate_limit = RateLimit(rate=rate, at_once=at_once)
    time_budget = TimeBudget(
        unit=class_ms / 1000, longest=curator.declared.seconds, seconds_per_minute=seconds_a_minute
    )
    service = Service(
        current,
        keys,
        Sessions(keys),
        rate_limit,
        RateLimit(rate=known.public_rate, at_once=known.public_at_once),
        RateLimit(rate=2 * rate, at_once=known.connections),
        Queries(current, rate_limit=rate_limit, time_budget=time_budget),
        ReportStore.from_catalog(curator.declared),
        SavedQueries(open_store(curator.declared.ledger)),
        limits=known,
    )
    app.state.service = service
    app.add_middleware(Gate, service=service, direct=analysts.DIRECT)
    app.add_middleware(Door, telemetry=service.telemetry)
    if known.proxies:
        app.add_middleware(NamedProxies, limits=known)
    add_refusals(app)
    app.include_router(analysts.routes)
    app.include_router(watches.routes)
    app.include_router(saved_queries.routes)
    app.include_router(releases.routes)
    app.include_router(networks.routes)
    app.include_router(comparison.routes)
    app.include_router(query_sessions.routes)
    app.include_router(owner.routes)
    app.include_router(audit_log.routes)
    app.include_router(collections.routes)
    app.include_router(attack_lab.routes)
    app.state.card = Shown(
        lambda: bytes(JSONResponse(to_json(service.curator.card())).body),
        mark=lambda: (service.curator, service.curator.ledger.known_head),
    )
    app.get("/v1/transparency")(card)
    app.get("/metrics", response_class=PlainTextResponse)(metrics)
    _add_health(app, current, Health(curator.ledger.check_writable))
    _add_gauges(service)
    add_pages(app)
    return app


@asynccontextmanager
async def _served(app: FastAPI) -> AsyncIterator[None]:
    """While the server runs, what is newer than what it serves is noticed; at its end the books are closed, whichever signal ends it."""
    service: Service = app.state.service
    following = asyncio.create_task(service.current.watch())
    try:
        yield
    finally:
        following.cancel()
        await app.state.health.stop()
        service.close()


def _add_health(app: FastAPI, current: Current, health: Health) -> None:
    async def report() -> dict[str, Any]:
        """Whether the books can be written, as of a second ago; and which data version is served."""
        await health.check()
        return {"status": "ok", "data_version": current.curator.version}

    app.state.health = health
    app.router.add_api_route("/healthz", report, route_class_override=APIRoute)  # no share: it waits for nobody


def _add_gauges(service: Service) -> None:
    service.telemetry.gauge("discreet_questions", "Questions under way.", lambda: len(service.queries))
    for name in ("keys", "public", "books", "answers"):
        share: CapacityLimiter = getattr(service.shares, name)
        meaning = f"Requests that wait for a thread of the share {name}."
        service.telemetry.gauge(f"discreet_waiting_{name}", meaning, partial(_waiting, share))


def _waiting(share: CapacityLimiter) -> int:
    return share.statistics().tasks_waiting


async def card(request: Request) -> Response:
    """For everybody: what is protected, how strongly, what was released, what is left, the ledger's head."""
    shown: Shown = request.app.state.card
    return Response(await shown.content(), media_type="application/json")


def metrics(request: Request) -> str:
    """Counts of requests and refusals, and what is open and under way."""
    return service_of(request).telemetry.text()
