"""The HTTP application of one curator."""

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
from discreet.server.auth.auth_middleware import AuthMiddleware
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.page_sessions import Sessions
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.service import Service, check_route_was_admitted, service_of
from discreet.server.http.access_log import AccessLog
from discreet.server.http.cached_response import CachedResponse
from discreet.server.http.error_responses import add_refusals
from discreet.server.http.proxies import NamedProxies
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.server_limits import Limits
from discreet.server.jobs.current_curator import CurrentCurator
from discreet.server.jobs.health import Health
from discreet.server.jobs.running_queries import RunningQueries
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
    keys: KeyStore,
    *,
    rate: float = 50,
    at_once: int = 8,
    class_ms: float = 1000 * SHORTEST_BUCKET,
    seconds_a_minute: float = 60,
    config: Path | None = None,
    limits: Limits | None = None,
) -> FastAPI:
    """Create the application for one curator.

    Each analyst may send `rate` requests per second, have `at_once` in progress, and use `seconds_a_minute` of query time.
    Response times are padded to `class_ms * 2**k` milliseconds. With 0 they are not padded, and reveal how long the data was read.
    """
    limits = limits or Limits()
    current = CurrentCurator(curator, config)
    app = FastAPI(
        title="Discreet",
        version=discreet.__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=_served,
        dependencies=[Depends(check_route_was_admitted)],
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
        RateLimit(rate=limits.public_rate, at_once=limits.public_at_once),
        RateLimit(rate=2 * rate, at_once=limits.connections),
        RunningQueries(current, rate_limit=rate_limit, time_budget=time_budget),
        ReportStore.from_catalog(curator.declared),
        SavedQueries(open_store(curator.declared.ledger)),
        limits=limits,
    )
    app.state.service = service
    app.add_middleware(AuthMiddleware, service=service, direct=analysts.DIRECT)
    app.add_middleware(AccessLog, telemetry=service.telemetry)
    if limits.proxies:
        app.add_middleware(NamedProxies, limits=limits)
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
    app.state.card = CachedResponse(
        lambda: bytes(JSONResponse(to_json(service.curator.card())).body),
        version=lambda: (service.curator, service.curator.ledger.known_head),
    )
    app.get("/v1/transparency")(card)
    app.get("/metrics", response_class=PlainTextResponse)(metrics)
    _add_health(app, current, Health(curator.ledger.check_writable))
    _add_gauges(service)
    add_pages(app)
    return app


@asynccontextmanager
async def _served(app: FastAPI) -> AsyncIterator[None]:
    """Watch for new data versions and catalogs while the server runs; close all databases at its end, whichever signal ends it."""
    service: Service = app.state.service
    following = asyncio.create_task(service.current.watch())
    try:
        yield
    finally:
        following.cancel()
        await app.state.health.stop()
        service.close()


def _add_health(app: FastAPI, current: CurrentCurator, health: Health) -> None:
    async def report() -> dict[str, Any]:
        """Report whether the ledger could be written a second ago, and the data version."""
        await health.check()
        return {"status": "ok", "data_version": current.curator.version}

    app.state.health = health
    app.router.add_api_route(
        "/healthz", report, route_class_override=APIRoute
    )  # not in a thread pool: it never waits for other requests


def _add_gauges(service: Service) -> None:
    service.telemetry.gauge("discreet_queries", "Queries in progress.", lambda: len(service.queries))
    for name in ("keys", "public", "ledger", "answers"):
        pool: CapacityLimiter = getattr(service.pools, name)
        meaning = f"Requests that wait for a thread of the pool {name}."
        service.telemetry.gauge(f"discreet_waiting_{name}", meaning, partial(_waiting, pool))


def _waiting(pool: CapacityLimiter) -> int:
    return pool.statistics().tasks_waiting


async def card(request: Request) -> Response:
    """Return the public transparency card: what is protected and how strongly, releases, remaining budget, and the ledger's head."""
    cached: CachedResponse = request.app.state.card
    return Response(await cached.content(), media_type="application/json")


def metrics(request: Request) -> str:
    """Return counters of requests and refusals, and gauges of open connections and running queries, for Prometheus."""
    return service_of(request).telemetry.text()
