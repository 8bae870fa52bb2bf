"""`discreet init` and `discreet import`: create a first catalog and its ledger."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.catalog import Catalog, anchor_beside, parse_catalog
from discreet.catalog.catalog_draft import LEDGER, write_draft
from discreet.catalog.catalog_warnings import warnings_of
from discreet.catalog.metadata_import import import_catalog
from discreet.cli.owner.interview import DELTA, Flags, Interview
from discreet.engines import profile_files
from discreet.errors import BadInput
from discreet.ledger import Ledger
from discreet.ledger.accounts.declared_ledger import start_ledger
from discreet.sql.reader.query_text import written

Output = Annotated[Path, typer.Option("--output", help="Catalog file to write.")]
_CATALOG = Path("discreet.toml")
_SAMPLE = 1_000


def init(
    source: Annotated[list[Path], typer.Argument(help="Parquet or CSV files, a folder of them, or a DuckDB file.")],
    *,
    output: Output = _CATALOG,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask: use suggestions and flags.")] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", min=0, help=f"Number of rows to read, to suggest types and ids ({_SAMPLE:,}); 0 for none."
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", help="Cap of the whole budget (epsilon). There is no default."),
    ] = None,
    delta: Annotated[float, typer.Option("--delta", help="Cap of delta.")] = DELTA,
    analyst: Annotated[
        list[str] | None, typer.Option("--analyst", help="Analyst, with an optional cap: NAME or NAME=EPSILON.")
    ] = None,
    person: Annotated[
        list[str] | None,
        typer.Option(
            "--person",
            help="TABLE=COLUMN: the column that identifies the person. TABLE=row: each row is one person. TABLE=public: not protected.",
        ),
    ] = None,
    max_rows: Annotated[
        list[str] | None, typer.Option("--max-rows", help="TABLE=N: use at most N rows per person.")
    ] = None,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="TABLE.COLUMN=integer, real, text, date or boolean.")
    ] = None,
    bounds: Annotated[
        list[str] | None, typer.Option("--bounds", help="TABLE.COLUMN=LOW:HIGH, from public knowledge.")
    ] = None,
    values: Annotated[
        list[str] | None, typer.Option("--values", help="TABLE.COLUMN=A,B,C, from public knowledge.")
    ] = None,
) -> None:
    """Create a catalog and its ledger: by a short interview in a terminal, or by flags."""
    _check_free(output)
    asks = not yes and sys.stdin.isatty() and sys.stdout.isatty()
    rows = sample if sample is not None else _rows_to_look_at(asks=asks)
    seen = profile_files(source, rows=rows, beside=output.parent)
    flags = Flags(
        person=person or (), max_rows=max_rows or (), types=types or (), bounds=bounds or (), values=values or (),
        analysts=analyst or (), epsilon=epsilon, delta=delta,
    )  # fmt: skip
    interview = Interview(seen.tables, flags, asks=asks)
    tables, budget = interview.drafts(), interview.budget()
    origin = f"types and ids suggested from the first {rows:,} rows of each table" if rows else "by column names only"
    text = write_draft(tables, origin=f"Written by `discreet init`: {origin}.", source=seen.source, budget=budget)
    catalog = parse_catalog(text, base=output.parent)
    kept = Path(catalog.ledger).exists()
    output.parent.mkdir(parents=True, exist_ok=True)
    if not kept:
        start_ledger(catalog).close()
    output.write_text(text, "utf-8")
    typer.echo(
        f"\nwrote {output}, and {'keeps the existing ledger' if kept else 'created a ledger'} in {catalog.ledger}"
    )
    _print_next_steps(catalog)


def _rows_to_look_at(*, asks: bool) -> int:
    if not asks:
        return _SAMPLE
    query = "How many rows of each table may be read, to suggest types and ids? 0 for none"
    return max(0, int(typer.prompt(query, default=_SAMPLE, type=int)))


def _print_next_steps(catalog: Catalog) -> None:
    """Print the next commands to run, and what the catalog still lacks."""
    table = next((table for table in catalog.tables.values() if not table.is_public), None)
    unbounded = [said for said in warnings_of(catalog) if "no bounds" in said]
    if unbounded:
        typer.echo(f"without bounds, so SUM and AVG are not possible: {len(unbounded)} of its columns")
    typer.echo("next:")
    typer.echo("  discreet check     how well the data fits the catalog (for you only)")
    if table is not None:
        sql = f"SELECT COUNT(*) AS n FROM {written(table.name)}"  # noqa: S608  a query to be typed, and read as one
        typer.echo(f"  discreet ask {shlex.quote(sql)} --epsilon 0.1")
    typer.echo("  discreet serve     the page")


def import_metadata(
    source: Annotated[Path, typer.Argument(help="SmartNoise metadata (YAML) or CSVW metadata (JSON).")],
    *,
    output: Output = _CATALOG,
) -> None:
    """Create a catalog and its ledger from another tool's metadata."""
    _check_free(output)
    text = import_catalog(source)
    ledger = str(output.parent / LEDGER)
    kept = Path(ledger).exists()
    if not kept:
        Ledger.new(ledger, anchor=anchor_beside(ledger)).close()
    output.write_text(text, "utf-8")
    typer.echo(f"wrote {output}: name the person of each table, declare bounds and values, set the budget")
    typer.echo(f"{'keeps the existing ledger' if kept else 'created a ledger'} in {ledger}")


def _check_free(output: Path) -> None:
    if output.exists():
        raise BadInput(
            "There is already a catalog at this path.", next_step="Choose another --output, or move the old one."
        )
