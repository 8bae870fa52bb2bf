"""The `discreet` command."""

from __future__ import annotations

import typer

import discreet
from discreet.cli import asking, attacking, beginning, books, checking, collecting, custody, data, serving, shuffling
from discreet.cli.demo import show_demo

app = typer.Typer(
    help=discreet.__doc__,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(books.ledger, name="ledger")
books.ledger.command("new")(custody.new)
books.ledger.command("backup")(custody.backup)
books.ledger.command("anchor")(custody.renew_anchor)
books.ledger.command("seal")(custody.seal)
app.add_typer(serving.key, name="key")
app.add_typer(serving.user, name="user")
app.add_typer(collecting.commands, name="collect")
app.add_typer(attacking.commands, name="attack")
app.command("init")(beginning.init)
app.command("import")(beginning.import_metadata)
app.command("check")(checking.check)
app.command("dummy")(data.dummy)
app.command("estimate-bounds")(data.estimate_bounds)
app.command("refresh")(data.refresh_data)
app.command("serve")(serving.serve)
app.command("shuffle")(shuffling.shuffle)
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
    """Show a first taste: a count and ten private answers to it, then a clinic, an attack, a budget that runs out."""
    show_demo()
