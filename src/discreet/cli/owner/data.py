"""`discreet dummy`, `estimate-bounds` and `refresh`: commands about the data of a catalog."""

from __future__ import annotations

import os
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from discreet.api.opening import open_curator, refresh
from discreet.api.operations.bounds_estimate import to_be_bounded
from discreet.catalog import load_catalog
from discreet.catalog.catalog_editing import in_folder, number, with_bounds
from discreet.catalog.public_view import public_tables
from discreet.cli.owner import ledger_command
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import say_done
from discreet.cli.terminal.read_progress import print_read_progress
from discreet.core.number_format import amount
from discreet.errors import BadInput, DiscreetError
from discreet.ledger.accounts.declared_ledger import start_ledger
from discreet.samples.dummy import dummy_edges, dummy_tables
from discreet.synthetic.row_files import KINDS, write_rows


def estimate_bounds(
    table: Annotated[str, typer.Argument(help="Name of a protected table.")],
    column: Annotated[str, typer.Argument(help="Numeric column without bounds.")],
    *,
    epsilon: Annotated[float, typer.Option("--epsilon", help="Epsilon to spend. There is no default.")],
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Estimate bounds privately. Charged; writes the bounds and their origin into the catalog."""
    to_be_bounded(load_catalog(config), table, column)
    _write_bounds(config, table, column, (Fraction(0), Fraction(1)), source="", is_trial=True)  # before the charge
    with open_curator(config, tell=print_read_progress) as curator:
        found = curator.as_analyst(analyst).estimate_bounds(table, column, epsilon=epsilon)
        version = curator.version
    paid = 0.0 if found.answer.replayed else found.answer.loss.epsilon
    if not as_json:
        typer.echo("free: asked before" if found.answer.replayed else f"paid ε {amount(paid)}")
    if found.bounds is None:
        said = "no bounds stand out from the noise: use a larger --epsilon, or declare bounds from public knowledge"
    else:
        low, high = map(number, found.bounds)
        source = f"estimated with ε {epsilon:g} on data version {version}, receipt {found.answer.receipt[:12]}"
        try:
            _write_bounds(config, table, column, found.bounds, source=source)
            said = f"wrote lower = {low}, upper = {high} for {table}.{column} to {config}"
        except DiscreetError:  # whose words would say that nothing was spent
            said = f"the catalog has changed in the meantime: write lower = {low}, upper = {high} for {table}.{column} yourself"
    ends = (None, None) if found.bounds is None else tuple(map(float, found.bounds))
    say_done(said, {"epsilon": paid, "lower": ends[0], "upper": ends[1]}, as_json=as_json)


def _write_bounds(
    config: Path, table: str, column: str, bounds: tuple[Fraction, Fraction], *, source: str, is_trial: bool = False
) -> None:
    """Put bounds into the catalog; on trial only see that it could be done."""
    text = with_bounds(config.read_text("utf-8"), table=table, column=column, bounds=bounds, source=source)
    if not os.access(config, os.W_OK):
        raise BadInput("The catalog file cannot be written.", next_step="Run this as a user who may write it.")
    if not is_trial:
        config.write_text(text, "utf-8")


def refresh_data(
    *,
    config: ConfigOption = CATALOG,
    anyway: Annotated[bool, typer.Option("--anyway", help="Read the source even if it has not changed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Read the changed source as a new data version. Budgets stay as they are."""
    with closing(ledger_command.place_of(None, config).open()) as ledger:
        before = ledger.data_version()
    version = refresh(config, anyway=anyway, tell=print_read_progress)
    changed = version != before
    done = (
        "the source was read again; budgets are unchanged"
        if changed
        else "the source has not changed, so nothing was done"
    )
    say_done(f"data version {version}: {done}", {"version": version, "changed": changed}, as_json=as_json)


def dummy(
    output: Annotated[Path, typer.Argument(help="New folder to write to.")],
    *,
    people: Annotated[int, typer.Option("--people", min=1, help="Number of made-up people.")] = 1_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed: the same seed gives the same tables.")] = 0,
    kind: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
    config: ConfigOption = CATALOG,
) -> None:
    """Generate made-up tables in the shape of the catalog, with a catalog and a ledger, to try queries on. Reads no data."""
    if kind not in KINDS:
        raise BadInput("The format must be csv or parquet.", next_step="Give one of them.")
    if output.exists():
        raise BadInput("The folder exists already.", next_step="Give the name of a new folder.")
    text = in_folder(config.read_text("utf-8"))
    catalog = load_catalog(config)
    undeclared = [table.name for table in catalog.tables.values() if not table.columns]
    if undeclared:
        raise BadInput(
            f"The columns of {', '.join(undeclared)} are not declared, and this command does not read the data.",
            next_step="Declare them in the catalog: a public table may list its columns, too.",
        )
    tables = dummy_tables(public_tables(catalog), people=people, seed=seed)
    for graph in catalog.graphs.values():
        names = tables[graph.nodes].column(graph.key)
        tables[graph.edges.name] = dummy_edges(names, ends=graph.ends, seed=seed)
    output.mkdir(parents=True)
    for name, table in tables.items():
        write_rows(table, output / f"{name}.{kind}", kind=kind)
        typer.echo(f"wrote {output / f'{name}.{kind}'}: {table.num_rows:,} synthetic rows")
    place = output / "discreet.toml"
    place.write_text(text, "utf-8")
    start_ledger(load_catalog(place)).close()
    typer.echo(f"try questions with --config {place}")
