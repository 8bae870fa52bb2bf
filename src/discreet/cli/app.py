"""The `discreet` command."""

from __future__ import annotations

import typer

import discreet
from discreet.cli import asking, books
from discreet.cli.demo import show_demo

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
def demo() -> None:
    """Show a first taste: a true count, ten private answers, the interval that covers them, epsilon in words."""
    show_demo()
