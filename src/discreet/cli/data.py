"""`discreet estimate-bounds` and `discreet refresh`: what an owner does with the data behind a catalog."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from discreet.answering.estimate import to_be_bounded
from discreet.catalog import load_catalog
from discreet.catalog.editing import number, with_bounds
from discreet.cli import asking, books
from discreet.curator import open_curator, refresh

_CATALOG = Path("discreet.toml")


def estimate_bounds(
    table: Annotated[str, typer.Argument(help="A protected table.")],
    column: Annotated[str, typer.Argument(help="A numeric column without bounds.")],
    *,
    epsilon: Annotated[float, typer.Option("--epsilon", help="What it may cost; there is no default.")],
    analyst: books.AnalystOption = None,
    config: asking.Config = _CATALOG,
    as_json: books.JsonOption = False,
) -> None:
    """Find bounds privately: spends budget, and writes what it found into the catalog with where it comes from."""
    to_be_bounded(load_catalog(config), table, column)
    with_bounds(  # tried before anything is spent
        config.read_text(), table=table, column=column, bounds=(Fraction(0), Fraction(1)), source=""
    )
    with open_curator(config) as curator:
        found = curator.estimate_bounds(table, column, epsilon=epsilon, analyst=analyst)
        version = curator.version
    written = None if found.bounds is None else [number(end) for end in found.bounds]
    if found.bounds is not None:
        source = f"estimated with ε {epsilon:g} on data version {version}, receipt {found.answer.receipt[:12]}"
        text = with_bounds(config.read_text(), table=table, column=column, bounds=found.bounds, source=source)
        config.write_text(text)
    paid = 0.0 if found.answer.replayed else found.answer.loss.epsilon
    if as_json:
        low, high = (None, None) if found.bounds is None else map(float, found.bounds)
        typer.echo(json.dumps({"epsilon": paid, "lower": low, "upper": high}))
        return
    typer.echo("free: asked before" if found.answer.replayed else f"paid ε {paid:g}")
    if written is None:
        typer.echo(
            "nothing stands out from the noise: give a larger --epsilon, or declare bounds from public knowledge"
        )
    else:
        typer.echo(f"wrote lower = {written[0]}, upper = {written[1]} for {table}.{column} to {config}")


def refresh_data(*, config: asking.Config = _CATALOG, as_json: books.JsonOption = False) -> None:
    """Read the source anew, for the owner: a new data version begins, and budgets stay as they are."""
    version = refresh(config)
    said = f"data version {version}: the source was read anew, budgets stay as they are"
    typer.echo(json.dumps({"version": version}) if as_json else said)
