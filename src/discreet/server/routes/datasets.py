"""Several datasets behind one door: each is an application of its own under /d/NAME, and / lists them.

Nothing is shared but the process and its connections: keys, sessions, limits, threads, books and engines are those of one dataset.
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
"""Names that every browser writes in an address in the same way; cookies are kept by it."""


def prefix_of(name: str) -> str:
    """Where a dataset is, as it is written in an address."""
    return f"/d/{quote(name)}"


def check_separate(places: Sequence[Path]) -> None:
    """Refuse catalogs that cannot be served side by side, before any of them is opened: each needs a name and books of its own.

    `places` are their files, as paths from the root.
    """
    for name, count in Counter(place.parent.name for place in places).items():
        if count > 1:
            raise BadInput(
                f"Two datasets would be called {name}.",
                next_step="A dataset is called as the folder of its catalog: name each once, and rename one of the folders.",
            )
        if not _PLAIN.fullmatch(name):
            raise BadInput(
                f"A dataset called {name!r} cannot be one of several: its name stands in the address.",
                next_step="Rename the folder of its catalog: letters, digits, spaces and . _ ~ - are taken.",
            )
    for kept, count in Counter(path for place in places for path in _kept_in(load_catalog(place))).items():
        if count > 1:
            raise BadInput(
                f"Two catalogs name the ledger, collections or snapshot {kept.name}.",
                next_step="Give each its own [ledger] path, [collector] path and [source] snapshot: keys and budgets live there.",
            )


def check_separate_ledger(catalog: Catalog, opened: Collection[str]) -> None:
    """Refuse books that another dataset has `opened`, by their names, however the place is spelt: before anything is written into them."""
    with closing(Ledger.look(catalog.ledger)) as books:
        if books.name() in opened:
            raise BadInput(
                "Two catalogs have one ledger, under two spellings of its place, or a copy of it.",
                next_step="Give each its own [ledger] path: keys and budgets live there. `discreet ledger new` begins one.",
            )


def _kept_in(catalog: Catalog) -> set[Path]:
    """The files that a dataset writes."""
    named = (catalog.ledger, catalog.reports, catalog.snapshot, catalog.anchor)
    return {Path(path).resolve() for path in named if path is not None and path != ":memory:"}


class Datasets:
    """What comes to /d/NAME/… is handed to that dataset's application, which sees the rest of the path; all else is for the hall."""

    def __init__(self, apps: Iterable[FastAPI], limits: Limits) -> None:
        self._apps = {app.state.service.curator.dataset: app for app in apps}
        self._index_app = _index_app(self._apps, limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        inside = _INSIDE.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if inside is not None and inside[1] in self._apps:
            app = self._apps[inside[1]]
            await app({**scope, "path": inside[2], "root_path": f"/d/{inside[1]}"}, receive, send)
        else:
            await self._index_app(scope, receive, send)


def _index_app(apps: Mapping[str, FastAPI], limits: Limits) -> FastAPI:
    """What is before all datasets: their list, and whether all of them are well."""

    @asynccontextmanager
    async def all_of_them(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as running:
            for app in apps.values():
                await running.enter_async_context(app.router.lifespan_context(app))
            yield

    index_app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=all_of_them)
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
        return RedirectResponse(f"{quote(name)}/")  # the page's own addresses are relative to it
    raise UnknownDataset(
        "There is no such dataset here.", next_step="Put /d/NAME before the path; the page / lists what is served."
    )


def _page(names: list[str]) -> str:
    """Names, and nothing that is behind a key."""
    template = Template((files("discreet.server") / "page" / "datasets.html").read_text())
    items = [
        f'<li><a href="{prefix_of(name)[1:]}/">{escape(name)}</a> '
        f'<small><a href="{prefix_of(name)[1:]}/#transparency">how its people are protected</a></small></li>'
        for name in sorted(names)
    ]
    return template.substitute(first=prefix_of(names[0])[1:], datasets="\n".join(items))
