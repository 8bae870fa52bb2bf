"""Serve several datasets in one process: each is a separate application under /d/NAME, and / lists them.

Datasets share only the process and its connection limits. Keys, sessions, rate limits, threads, ledgers and engines are separate.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.types import Receive, Scope, Send

from discreet.catalog import Catalog, load_catalog
from discreet.errors import BadInput, TooMany, UnknownDataset
from discreet.ledger import Ledger
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.service import address_of, admit_health_request, health_rate_limit
from discreet.server.http.access_log import AccessLog
from discreet.server.http.error_responses import add_refusals
from discreet.server.http.proxies import NamedProxies
from discreet.server.http.server_limits import Limits
from discreet.server.http.telemetry import Telemetry

_INSIDE = re.compile(r"/d/([^/]+)(/.*)", re.DOTALL)
_PLAIN = re.compile(r"[\w.~ -]+")
"""Names that all browsers write in an address in the same way; the path of a cookie depends on it."""


def prefix_of(name: str) -> str:
    """Return the path of a dataset, quoted."""
    return f"/d/{quote(name)}"


def check_separate(configs: Sequence[Path]) -> None:
    """Refuse catalogs that cannot be served together, before any is opened: each needs its own name and databases.

    `configs` are their files, as absolute paths.
    """
    for name, count in Counter(config.parent.name for config in configs).items():
        if count > 1:
            raise BadInput(
                f"Two datasets have the name {name}.",
                next_step="A dataset is named after the folder of its catalog. Give each catalog once, or rename a folder.",
            )
        if not _PLAIN.fullmatch(name):
            raise BadInput(
                f"The name {name!r} cannot be part of an address.",
                next_step="Rename the folder of the catalog. Use letters, digits, spaces and . _ ~ - only.",
            )
    for shared, count in Counter(path for config in configs for path in _files_of(load_catalog(config))).items():
        if count > 1:
            raise BadInput(
                f"Two catalogs use the same ledger, collector database or snapshot: {shared.name}.",
                next_step="Give each its own [ledger] path, [collector] path and [source] snapshot: keys and budgets live there.",
            )


def check_separate_ledger(catalog: Catalog, opened: Collection[str]) -> None:
    """Refuse a ledger that another dataset has `opened`, before anything is written into it. Ledgers are compared by id, as a path can be spelled in several ways."""
    with closing(Ledger.look(catalog.ledger)) as books:
        if books.name() in opened:
            raise BadInput(
                "Two catalogs use the same ledger, under two paths, or a copy of it.",
                next_step="Give each its own [ledger] path: keys and budgets live there. `discreet ledger new` begins one.",
            )


def _files_of(catalog: Catalog) -> set[Path]:
    """Return the files that a dataset writes."""
    named = (catalog.ledger, catalog.reports, catalog.snapshot, catalog.anchor)
    return {Path(path).resolve() for path in named if path is not None and path != ":memory:"}


class Datasets:
    """Dispatch /d/NAME/… to the dataset's application, with the rest of the path; all other requests go to the index application."""

    def __init__(self, apps: Iterable[FastAPI], limits: Limits) -> None:
        self._apps = {app.state.service.curator.dataset: app for app in apps}
        self._index_app = _index_app(self._apps, limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Dispatch one request."""
        inside = _INSIDE.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if inside is not None and inside[1] in self._apps:
            app = self._apps[inside[1]]
            await app({**scope, "path": inside[2], "root_path": f"/d/{inside[1]}"}, receive, send)
        else:
            await self._index_app(scope, receive, send)


def _index_app(apps: Mapping[str, FastAPI], limits: Limits) -> FastAPI:
    """Create the index application: the list of datasets, and the health of all."""

    @asynccontextmanager
    async def run_all(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as running:
            for app in apps.values():
                await running.enter_async_context(app.router.lifespan_context(app))
            yield

    index_app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=run_all)
    unauthenticated, health_requests = (
        RateLimit(rate=limits.public_rate, at_once=limits.public_at_once),
        health_rate_limit(),
    )
    page = _page(list(apps))

    @index_app.get("/healthz")
    async def health(request: Request) -> dict[str, str]:
        request.state.route = "GET /healthz"
        with admit_health_request(health_requests, request):
            await asyncio.gather(*(app.state.health.check() for app in apps.values()))
        return {"status": "ok"}

    @index_app.api_route("/{path:path}", methods=["GET", "POST", "PUT", "DELETE"])
    async def elsewhere(path: str, request: Request) -> Response:
        try:
            with unauthenticated.admit(address_of(request)):
                return _index_response(request, path, page=page, names=apps)
        except TooMany:
            request.state.close_connection = True
            raise

    add_refusals(index_app)
    index_app.add_middleware(AccessLog, telemetry=Telemetry())
    if limits.proxies:
        index_app.add_middleware(NamedProxies, limits=limits)
    return index_app


def _index_response(request: Request, path: str, *, page: str, names: Iterable[str]) -> Response:
    if request.method == "GET" and not path:
        request.state.route = "GET /"
        return HTMLResponse(page)
    name = path.removeprefix("d/")
    if request.method == "GET" and path != name and name in names:
        return RedirectResponse(f"{quote(name)}/")  # links of the page are relative to the slash
    raise UnknownDataset(
        "This server has no such dataset.", next_step="Start the path with /d/NAME; the page / lists the datasets."
    )


def _page(names: list[str]) -> str:
    """Render the list of datasets. It contains their names only, which are public."""
    template = Template((files("discreet.server") / "page" / "datasets.html").read_text())
    items = [
        f'<li><a href="{prefix_of(name)[1:]}/">{escape(name)}</a> '
        f'<small><a href="{prefix_of(name)[1:]}/#transparency">how people are protected</a></small></li>'
        for name in sorted(names)
    ]
    return template.substitute(first=prefix_of(names[0])[1:], datasets="\n".join(items))
