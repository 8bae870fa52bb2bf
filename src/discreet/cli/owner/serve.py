"""`discreet serve`: run the server."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from discreet.api.local import Curator
from discreet.api.opening import open_curator
from discreet.catalog import Catalog, load_catalog
from discreet.cli.terminal.options import CATALOG
from discreet.cli.terminal.read_progress import print_read_progress
from discreet.errors import BadInput, LedgerDamaged
from discreet.ledger import Ledger, verify
from discreet.local import Task
from discreet.local.collector.report_store import ReportStore
from discreet.noise import RandomBits
from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.page_sessions import LINK_SECONDS, Sessions
from discreet.server.http.server_limits import Limits
from discreet.store.secret import require_secret


def serve(
    configs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[CATALOG]...", help="Catalogs (default: discreet.toml). Several are served under /d/NAME."
        ),
    ] = None,
    *,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port.")] = 8000,
    rate: Annotated[float, typer.Option("--rate", min=0.1, help="Requests per second and key.")] = 50,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Concurrent requests per key.")] = 8,
    class_ms: Annotated[
        float,
        typer.Option(
            "--class-ms",
            min=0,
            help="Pad response times to this many ms × 2^k, for a whole k. 0 disables padding (timing leak).",
        ),
    ] = 50,
    seconds_a_minute: Annotated[
        float,
        typer.Option("--seconds-a-minute", min=1, help="Query time that each analyst may use per minute, in seconds."),
    ] = 60,
    connections: Annotated[
        int,
        typer.Option("--connections", min=1, help="Concurrent connections, at most half of the process's descriptors."),
    ] = Limits.connections,
    connections_per_address: Annotated[
        int, typer.Option("--connections-per-address", min=1, help="Concurrent connections per address.")
    ] = Limits.connections_per_address,
    patience: Annotated[
        float, typer.Option("--patience", min=0.1, help="Seconds to wait for headers, and for each part of a body.")
    ] = Limits.patience,
    public_rate: Annotated[
        float, typer.Option("--public-rate", min=0.1, help="Requests per second without a key, per address.")
    ] = Limits.public_rate,
    proxy: Annotated[
        list[str] | None,
        typer.Option("--proxy", help="Address or network of a proxy whose X-Forwarded-For is trusted."),
    ] = None,
    user_header: Annotated[
        str | None, typer.Option("--user-header", help="Header in which the proxy names the authenticated user.")
    ] = None,
    link: Annotated[
        bool, typer.Option("--link", help="Print the sign-in link even if stdout is not a terminal.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Serve a generated clinic, with a key for alice.")] = False,
) -> None:
    """Serve catalogs over HTTP: the API under /v1 and the page under /. Several catalogs are served under /d/NAME."""
    from discreet.server.http.http_app import create_app  # noqa: PLC0415  heavy, and of no use to another command
    from discreet.server.http.uvicorn_server import bind_sockets, run  # noqa: PLC0415
    from discreet.server.routes.datasets import check_separate, check_separate_ledger, prefix_of  # noqa: PLC0415

    limits = Limits(
        connections=connections,
        connections_per_address=connections_per_address,
        patience=patience,
        public_rate=public_rate,
        proxies=tuple(proxy or ()),
        user_header=user_header,
    )
    make = partial(
        create_app, rate=rate, at_once=at_once, class_ms=class_ms, seconds_a_minute=seconds_a_minute, limits=limits
    )
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        given = [write_clinic(Path(folder) / "clinic")] if demo else configs or [CATALOG]
        places = [place.resolve() for place in given]
        if len(places) > 1:
            check_separate(places)
        apps, ledgers = [], set[str]()
        for place in places:
            if len(places) > 1:
                typer.echo(f"opening {place}", err=True)
                check_separate_ledger(load_catalog(place), ledgers)
            curator, keys = opened.enter_context(_opened(place, demo=demo))
            ledgers.add(curator.ledger.name())
            apps.append(make(curator, keys, config=place))

        def say_more() -> None:
            say_listening(host, port)
            if link or sys.stdout.isatty():
                for app in apps:
                    prefix = prefix_of(app.state.service.curator.dataset) if len(apps) > 1 else ""
                    _say_link(app.state.service.sessions, f"{_address(host, port)}{prefix}")

        run(apps, limits, sockets=bind_sockets(host, port), on_listening=say_more)


@contextmanager
def _opened(place: Path, *, demo: bool) -> Iterator[tuple[Curator, KeyStore]]:
    """Open a dataset for serving: its ledger is persistent and sound, its snapshot exists before the first request."""
    catalog = load_catalog(place)
    if catalog.ledger.endswith(":memory:"):
        raise BadInput(
            "A server needs a persistent ledger.", next_step="Set [ledger] path to a file or a database URL."
        )
    with open_curator(place, create_ledger=demo, tell=print_read_progress) as curator:
        keys = KeyStore(curator.ledger, require_secret(catalog.ledger))  # one ledger, so that each entry is read once
        _check_ledger(curator.ledger)
        if demo:
            typer.echo(f"key of alice, valid until the server stops: {keys.create('alice')}")
            _ask_for_emoji(catalog)
        yield curator, keys


def say_listening(host: str, port: int) -> None:
    """Print the address once the server listens."""
    typer.echo(f"listening on {_address(host, port)}", err=True)


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104  nothing is bound here
    return f"http://{shown}:{port}"


def _say_link(sessions: Sessions, address: str) -> None:
    """Print a sign-in link. Browsers do not send what follows the #, so no server or proxy logs the token."""
    typer.echo(
        f"sign in as the data owner, once and within {LINK_SECONDS // 60} minutes, with\n  {address}/#sign-in/{sessions.create_link()}"
    )


def _ask_for_emoji(catalog: Catalog) -> None:
    """Publish a task for the demo. Its random seed makes it a new task, which no browser has answered yet."""
    task = Task.frequency(
        "favourite emoji",
        domain=["😀", "😂", "🥰", "😎", "🤔", "😭"],
        epsilon=2.0,
        lifetime=3,
        seed=int(RandomBits().words(1, 32)[0]),
    )
    with closing(ReportStore.from_catalog(catalog)) as store:
        store.publish(task)


def _check_ledger(ledger: Ledger) -> None:
    """Refuse to serve a damaged ledger. Verifies the entries since its checkpoint, or all entries without one."""
    verification = verify(ledger, from_checkpoint=True)
    if not verification.sound:
        raise LedgerDamaged(
            "The ledger is damaged: " + "; ".join(verification.problems) + ".",
            next_step="Run `discreet ledger verify`, and do not serve it until the data owner knows why.",
        )
