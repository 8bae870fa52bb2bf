"""`discreet releases`: list named releases, and publish one to all analysts."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Any

import typer

from discreet.cli.owner.ledger_command import place_of
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption, LedgerOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.terminal_tables import add_row, open_screen, plain_table
from discreet.errors import NotAnswered
from discreet.ledger import Ledger
from discreet.ledger.charges.release_names import NamedRelease
from discreet.measurement.transcript import Transcript

Publish = Annotated[
    str | None,
    typer.Option("--publish", help="Publish this release; with --analyst, the one of that analyst."),
]
_KINDS = {
    "synthesize": "synthetic data",
    "tabulate": "tables",
    "regions": "tables of regions",
    "learn": "model",
    "evaluate": "evaluation of a model",
    "session": "session",
}


def list_releases(
    *,
    publish: Publish = None,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    analyst: AnalystOption = None,
    as_json: JsonOption = False,
) -> None:
    """List finished releases: name, kind, analyst, and whether they are published. With --publish, publish one for everyone."""
    with closing(place_of(where, config).open()) as ledger:
        if publish is not None:
            ledger.publish(publish, analyst=analyst)
            _print_published(publish, as_json=as_json)
            return
        releases = [_release_fields(ledger, listed, analyst) for listed in ledger.listed_releases(analyst=analyst)]
    if as_json:
        names = list(dict.fromkeys(release["name"] for release in releases))
        print_json({"releases": names, "details": releases})
    elif releases:
        _show(releases, is_owner=analyst is None)
    else:
        typer.echo("no named releases yet; `discreet synth --name` makes one", err=True)


def _print_published(name: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"published": [name]})
    else:
        typer.echo(f"{name} is published: everyone can see it, and the transparency card lists it")


def _release_fields(ledger: Ledger, listed: NamedRelease, analyst: str | None) -> dict[str, Any]:
    try:
        stored = ledger.visible_answer(listed.query, analyst=analyst)
        kind = Transcript.decoded(stored).facts["purpose"]["kind"]
    except NotAnswered:  # it was removed from the ledger in the meantime
        kind = None
    return {"name": listed.name, "kind": kind, "by": listed.given_by, "published": listed.is_published}


def _show(releases: list[dict[str, Any]], *, is_owner: bool) -> None:
    """A line each; whose it is, for the owner alone."""
    table = plain_table("name", "kind", *(["by"] if is_owner else []), "")
    for release in releases:
        by = [release["by"] or "the owner"] if is_owner else []
        kind = _KINDS.get(release["kind"], release["kind"] or "—")
        add_row(table, release["name"], kind, *by, "published" if release["published"] else "")
    open_screen().print("", table, "", sep="\n")
