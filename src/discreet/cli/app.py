"""The `discreet` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import discreet
from discreet.catalog.draft import draft_catalog
from discreet.cli import asking, books
from discreet.cli.demo import show_demo
from discreet.errors import BadInput

app = typer.Typer(
    help=discreet.__doc__,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(books.ledger, name="ledger")
app.command("ask")(asking.ask)
app.command("explain")(asking.explain)
app.command("budget")(books.budget)


@app.callback(invoke_without_command=True)
def root(*, version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    """Differential privacy, end to end."""
    if version:
        typer.echo(discreet.__version__)


@app.command()
def init(
    source: Annotated[Path, typer.Argument(help="A Parquet or CSV file, or a folder of them.")],
    *,
    output: Annotated[Path, typer.Option("--output", help="Where to write.")] = Path("discreet.toml"),
) -> None:
    """Write a first catalog to edit, from the names and types of columns; no value is looked at."""
    if output.exists():
        raise BadInput("There is a catalog already.", next_step="Give another --output, or move it away first.")
    output.write_text(draft_catalog(source))
    typer.echo(f"wrote {output}: name the person of each table, declare bounds and values, set the budget")


@app.command()
def demo() -> None:
    """Show a first taste: a count and ten private answers to it, then a clinic, an attack and a budget that runs out."""
    show_demo()
