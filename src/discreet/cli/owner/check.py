"""`discreet check`: how well the data fits its catalog. Exact numbers of the data, for the owner only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from fractions import Fraction

import typer

from discreet.catalog import Column, Table, Type, load_catalog
from discreet.catalog.catalog_editing import number
from discreet.cli.terminal.exit_codes import ExitCode
from discreet.cli.terminal.options import CATALOG, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.engines import ColumnFit, TableFit, fits, with_public_columns


def check(*, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """Check how well the data fits the catalog. Not private: for the data owner only. Free."""
    catalog = with_public_columns(load_catalog(config))
    if not as_json:
        typer.echo("NOT PRIVATE, for the data owner only: exact numbers of the data. Nothing was spent.")
    tables = []
    for fit in fits(catalog):
        tables.append(fit)
        if not as_json:
            _show(fit, catalog.tables[fit.name])
    if as_json:
        print_json({"private": False, "tables": [asdict(fit) for fit in tables]})
    if any(fit.missing for fit in tables):
        raise typer.Exit(ExitCode.REFUSED)


def _show(fit: TableFit, table: Table) -> None:
    people = "" if table.is_public or table.has_row_people else f" of {fit.people:,} people"
    typer.echo(f"\n{fit.name}: {_several(fit.rows, 'row')}{people}")
    misfits = [*_of_rows(fit, table), *(line for column in fit.columns for line in _of_column(column, fit, table))]
    for line in misfits or ["everything fits"]:
        typer.echo(f"  {line}")
    if fit.undeclared:
        typer.echo(f"  not declared, so queries cannot use: {', '.join(fit.undeclared)}")


def _of_rows(fit: TableFit, table: Table) -> Iterator[str]:
    for name in fit.missing:
        yield f"{name}: is declared, but the source has no such column; no query is answered until this is fixed"
    if fit.left_out:
        more = ", …" if fit.left_out > len(fit.first_left_out) else ""
        lines = ", ".join(map(str, fit.first_left_out)) + more
        yield f"{_several(fit.left_out, 'line')} not as long as the header, or not UTF-8: skipped (line {lines})"
    if fit.without_owner:
        yield f"{_several(fit.without_owner, 'row')} without a person: dropped"
    if fit.beyond_max_rows:
        share = 100 * fit.beyond_max_rows / fit.rows
        kept = "max_rows" if table.is_bounded_once else "the rows of a person that a query may use"
        cut = f"{_several(fit.beyond_max_rows, 'row')} ({share:.2g} %) beyond {kept} = {table.rows_kept:,}: dropped"
        yield f"{cut}; one person has {fit.most_rows:,}"


def _of_column(fit: ColumnFit, rows: TableFit, table: Table) -> Iterator[str]:
    column = table.columns[fit.name]
    empty = rows.rows - fit.cells
    if empty and _has_public_values(column) and not column.nullable:
        yield (
            f"{fit.name}: {_several(empty, 'cell')} empty: dropped in GROUP BY, and their rows in synthetic data. "
            "Declare nullable = true to count them"
        )
    if fit.not_of_type:
        cells = f"{fit.not_of_type:,} of {_several(fit.cells, 'cell')}"
        yield f"{fit.name}: {cells} not of type {column.type.value}: read as NULL"
    if fit.outside_bounds:
        yield f"{fit.name}: {_several(fit.outside_bounds, 'cell')} outside {_bounds(column)}: clamped"
    if fit.cut:
        yield f"{fit.name}: {_several(fit.cut, 'cell')} longer than {column.max_length} characters: truncated"
    if fit.timed:
        yield (
            f"{fit.name}: {_several(fit.timed, 'cell')} with a time of day, which is dropped. "
            'Declare type = "timestamp" to keep it'
        )
    if fit.undeclared:
        values = ", ".join(fit.undeclared_values)
        yield f"{fit.name}: {_several(fit.undeclared, 'cell')} not among the declared values: dropped in GROUP BY ({values})"


def _has_public_values(column: Column) -> bool:
    is_bounded = column.lower is not None and column.upper is not None
    return column.values is not None or column.type is Type.BOOLEAN or is_bounded


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _bounds(column: Column) -> str:
    return f"{_end(column.lower)} … {_end(column.upper)}"


def _end(end: Fraction | date | None) -> str:
    return number(end) if isinstance(end, Fraction) else str(end)
