"""`discreet collect list | close | delete`: manage the collections of a catalog."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer

from discreet.catalog import load_catalog
from discreet.cli.terminal.options import CATALOG, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json, say_done
from discreet.local.collector.report_store import ReportStore

Name = Annotated[str, typer.Argument(help="Name or id of the task.")]


def list_collections(*, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """List what is collected, until when it is kept, and tasks that cannot be carried out."""
    with closing(ReportStore.from_catalog(load_catalog(config))) as store:
        records, unsound = store.records()
    if as_json:
        known = [
            {"id": record.task.id, "name": record.task.name, "state": record.state, "expires": record.expires}
            for record in records
        ]
        print_json({"collections": known, "unsound": unsound})
        return
    for record in records:
        until = f", kept until {datetime.fromtimestamp(record.expires, UTC):%Y-%m-%d}" if record.expires else ""
        typer.echo(f"{record.task.id}  {record.task.name}  {record.state}{until}")
    for name in unsound:
        typer.echo(f"{name} cannot run and is hidden; delete it: discreet collect delete {name!r}")


def close(name: Name, *, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """Stop accepting reports; estimates stay available."""
    with closing(ReportStore.from_catalog(load_catalog(config))) as store:
        store.close_task(name)
    say_done(f"{name} takes no more reports", {"closed": name}, as_json=as_json)


def delete(
    name: Name,
    *,
    config: ConfigOption = CATALOG,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a task and all its reports."""
    if not yes:
        typer.confirm(f"Delete {name} and all that was collected?", abort=True)
    with closing(ReportStore.from_catalog(load_catalog(config))) as store:
        store.delete_task(name)
    say_done(f"{name} is deleted", {"deleted": name}, as_json=as_json)
