"""The `discreet` command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import discreet
from discreet.catalog import anchor_beside
from discreet.catalog.draft import LEDGER, draft_catalog
from discreet.catalog.editing import with_bounds
from discreet.catalog.imports import import_catalog
from discreet.cli import asking, attacking, books, collecting, serving, shuffling
from discreet.cli.demo import show_demo
from discreet.curator import open_curator, refresh
from discreet.engines import schemas_at
from discreet.errors import BadInput
from discreet.ledger import Ledger

app = typer.Typer(
    help=discreet.__doc__,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(books.ledger, name="ledger")
app.add_typer(serving.key, name="key")
app.add_typer(serving.user, name="user")
app.add_typer(collecting.commands, name="collect")
app.add_typer(attacking.commands, name="attack")
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
def init(
    source: Annotated[Path, typer.Argument(help="A Parquet, CSV or DuckDB file, or a folder of files.")],
    *,
    output: Annotated[Path, typer.Option("--output", help="Where to write.")] = Path("discreet.toml"),
) -> None:
    """Write a first catalog to edit, from the names and types of columns, and begin its books; no value is looked at."""
    where, schemas = schemas_at(source)
    _begin(output, draft_catalog(schemas, source=where))


def _begin(output: Path, text: str) -> None:
    if output.exists():
        raise BadInput("There is a catalog already.", next_step="Give another --output, or move it away first.")
    books = str(output.parent / LEDGER)
    kept = Path(books).exists()
    if not kept:
        Ledger.new(books, anchor=anchor_beside(books)).close()
    output.write_text(text)
    typer.echo(f"wrote {output}: name the person of each table, declare bounds and values, set the budget")
    typer.echo(f"{'keeps the books that are' if kept else 'began new books'} in {books}")


@app.command("import")
def import_metadata(
    source: Annotated[Path, typer.Argument(help="SmartNoise metadata (YAML) or CSVW metadata (JSON).")],
    *,
    output: Annotated[Path, typer.Option("--output", help="Where to write.")] = Path("discreet.toml"),
) -> None:
    """Write a first catalog from metadata made for another tool, and begin its books."""
    _begin(output, import_catalog(source))


@app.command("estimate-bounds")
def estimate_bounds(
    table: Annotated[str, typer.Argument(help="A protected table.")],
    column: Annotated[str, typer.Argument(help="A numeric column without bounds.")],
    *,
    epsilon: Annotated[float, typer.Option("--epsilon", help="What it may cost; there is no default.")],
    analyst: books.AnalystOption = None,
    config: asking.Config = Path("discreet.toml"),
    as_json: books.JsonOption = False,
) -> None:
    """Find bounds privately: spends budget, and writes what it found into the catalog with where it comes from."""
    with open_curator(config) as curator:
        found = curator.estimate_bounds(table, column, epsilon=epsilon, analyst=analyst)
        version = curator.version
    low, high = (None, None) if found.bounds is None else map(float, found.bounds)
    if found.bounds is not None:
        source = f"estimated with ε {epsilon:g} on data version {version}, receipt {found.answer.receipt[:12]}"
        text = with_bounds(config.read_text(), table=table, column=column, bounds=found.bounds, source=source)
        config.write_text(text)
    if as_json:
        typer.echo(json.dumps({"epsilon": found.answer.loss.epsilon, "lower": low, "upper": high}))
        return
    typer.echo(f"paid ε {found.answer.loss.epsilon:g}")
    if low is None:
        typer.echo(
            "nothing stands out from the noise: give a larger --epsilon, or declare bounds from public knowledge"
        )
    else:
        typer.echo(f"wrote lower = {low:g}, upper = {high:g} for {table}.{column} to {config}")


@app.command("refresh")
def refresh_data(*, config: asking.Config = Path("discreet.toml"), as_json: books.JsonOption = False) -> None:
    """Read the source anew, for the owner: a new data version begins, and budgets stay as they are."""
    version = refresh(config)
    said = f"data version {version}: the source was read anew, budgets stay as they are"
    typer.echo(json.dumps({"version": version}) if as_json else said)


@app.command()
def demo() -> None:
    """Show a first taste: a count and ten private answers to it, then a clinic, an attack, a budget that runs out."""
    show_demo()
