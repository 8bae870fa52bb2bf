"""`discreet shuffle`: run a shuffler, which hides from the collector which device sent which report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.collect.device_commands import read_task
from discreet.cli.owner.serve import say_listening
from discreet.core.exact import read_delta
from discreet.errors import BadInput
from discreet.local.device.client import format_loss, shown
from discreet.local.shuffling.amplification import epsilon_after_shuffling
from discreet.local.shuffling.shuffler import ShufflerStore
from discreet.server.http.server_limits import Limits
from discreet.store import open_store


def shuffle(
    tasks: Annotated[list[Path], typer.Argument(help="Task files from `discreet collect new`.")],
    *,
    to: Annotated[str, typer.Option("--to", help="Address of the collector.")],
    key_file: Annotated[Path, typer.Option("--key-file", help="File with an API key of the role shuffler.")],
    batch: Annotated[
        int, typer.Option("--batch", min=2, help="Smallest batch: people whose reports are forwarded together.")
    ],
    per_address: Annotated[
        int | None,
        typer.Option("--per-address", min=1, help="Most reports of a batch from one address. Default: a twentieth."),
    ] = None,
    wait: Annotated[float, typer.Option("--wait", min=0.05, help="Seconds between two checks for a full batch.")] = 60,
    delta: Annotated[float, typer.Option("--delta", help="Delta for the guarantee of a shuffled report.")] = 1e-6,
    state: Annotated[Path, typer.Option("--state", help="Database for waiting messages.")] = Path("shuffler.sqlite"),
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port.")] = 8100,
    proxy: Annotated[
        list[str] | None, typer.Option("--proxy", help="Address of a proxy whose X-Forwarded-For is trusted.")
    ] = None,
) -> None:
    """Run a shuffler: it forwards reports to a collector in batches, without senders, sequence numbers or order."""
    from discreet.server.http.uvicorn_server import bind_sockets, run  # noqa: PLC0415  heavy, and of no use to another command
    from discreet.server.shuffler_app import Courier, create_shuffler  # noqa: PLC0415

    read_delta(delta)
    limits = Limits(proxies=tuple(proxy or ()))
    if not key_file.is_file():
        raise BadInput(
            "There is no key in this file.",
            next_step="Make one at the collector: discreet key create NAME --role shuffler > FILE.",
        )
    os.umask(0o077)  # what waits here is not for others on this machine
    asked = [read_task(path) for path in tasks]
    store = ShufflerStore(open_store(state), asked, batch=batch, per_address=per_address)
    for task in asked:
        hidden = epsilon_after_shuffling(task, batch, delta)
        typer.echo(
            f"{shown(task.name)}: ε {format_loss(task.epsilon)} against anyone; among {batch:,} honest people, one report each, "
            f"ε {format_loss(hidden)} at δ {delta:g} against a collector that does not collude with this shuffler",
            err=True,
        )
    courier = Courier(store, collector=to, key=key_file.read_text().strip(), wait=wait, delta=delta)
    app, sockets = create_shuffler(store, courier, limits), bind_sockets(host, port)
    run([app], limits, sockets=sockets, on_listening=lambda: say_listening(host, port))
