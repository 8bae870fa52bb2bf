"""`discreet collect list | close | delete`: what an owner does with collections that have begun."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from discreet.catalog import load_catalog
from discreet.cli.books import ConfigOption, JsonOption
from discreet.local.books import CollectorBooks

_CONFIG = Path("discreet.toml")
Name = Annotated[str, typer.Argument(help="The task's name, or its id.")]


def add_to(commands: typer.Typer) -> None:
    """Add these commands to those of `discreet collect`."""
    commands.command("list")(list_collections)
    commands.command("close")(close)
    commands.command("delete")(delete)


def list_collections(*, config: ConfigOption = _CONFIG, as_json: JsonOption = False) -> None:
    """List what is collected, until when it is kept, and tasks that cannot be carried out."""
    with closing(CollectorBooks.of(load_catalog(config))) as books:
        records, unsound = books.records()
    if as_json:
        known = [
            {"id": record.task.id, "name": record.task.name, "state": record.state, "expires": record.expires}
            for record in records
        ]
        typer.echo(json.dumps({"collections": known, "unsound": unsound}))
        return
    for record in records:
        until = f", kept until {datetime.fromtimestamp(record.expires, UTC):%Y-%m-%d}" if record.expires else ""
        typer.echo(f"{record.task.id}  {record.task.name}  {record.state}{until}")
    for name in unsound:
        typer.echo(f"{name} cannot be carried out, and nobody sees it; delete it: discreet collect delete {name!r}")


def close(name: Name, *, config: ConfigOption = _CONFIG) -> None:
    """Take no more reports; estimates stay."""
    with closing(CollectorBooks.of(load_catalog(config))) as books:
        books.close_task(name)
    typer.echo(f"{name} takes no more reports")


def delete(
    name: Name,
    *,
    config: ConfigOption = _CONFIG,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a task with all that was collected."""
    if not yes:
        typer.confirm(f"Delete {name} and all that was collected?", abort=True)
    with closing(CollectorBooks.of(load_catalog(config))) as books:
        books.delete_task(name)
    typer.echo(f"{name} is deleted")
