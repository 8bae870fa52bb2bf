"""`discreet tabulate`: consistent answers to many counting queries, with half-widths and cost before the charge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from discreet.api.opening import open_curator
from discreet.api.plans import TablesPlan
from discreet.api.requests.tabulate import TabulateRequest
from discreet.cli.terminal import run_commands
from discreet.cli.terminal.answer_text import show_rows
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.read_progress import print_read_progress
from discreet.cli.terminal.request_options import columns_in, with_options_of
from discreet.cli.terminal.terminal_tables import indented, open_screen
from discreet.core.number_format import amount, plus_minus
from discreet.errors import BadInput
from discreet.pipeline.call import Call
from discreet.synthetic.row_files import KINDS, write_rows
from discreet.workloads.queries.workload import Workload, marginals, points, ranges, thresholds

Marginals = Annotated[
    int | None, typer.Option("--marginals", min=1, help="The marginals over every choice of this many columns.")
]
Points = Annotated[
    list[str] | None, typer.Option("--table", help="A table by its columns, such as ward,age. May be repeated.")
]
Ranges = Annotated[list[str] | None, typer.Option("--ranges", help="All ranges of a column. May be repeated.")]
Thresholds = Annotated[
    list[str] | None, typer.Option("--thresholds", help="Counts at or below each value of a column. May be repeated.")
]
Out = Annotated[Path | None, typer.Option("--out", help="A new file with a row for each count: .parquet or .csv.")]
_SHOWN = 12
"""Largest number of tables whose half-widths are printed."""
_MOST_LINES = 36
"""Largest number of counts that are printed."""


@with_options_of(TabulateRequest, without=("workload",))
def tabulate(
    options: Mapping[str, Any],
    *,
    marginals_of: Marginals = None,
    table: Points = None,
    ranges_of: Ranges = None,
    thresholds_of: Thresholds = None,
    out: Out = None,
    dry_run: run_commands.DryRun = False,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Answer many counting queries together, so that the answers are consistent.

    Charged once. Running the same command again, for example after a crash, is free.
    """
    run_commands.check_file(out, option="--out", kinds=KINDS)
    workload = _workload(marginals_of, table or [], ranges_of or [], thresholds_of or [])
    if workload is None and "tree" not in options:
        raise BadInput("No table was named.", next_step="Give --marginals 2, --table ward,age or --tree geo.")
    request = TabulateRequest(**options, workload=workload)
    with open_curator(config, tell=print_read_progress) as curator:
        if dry_run:
            _show(curator.as_analyst(analyst).plan(request), as_json=as_json)
            return
        with run_commands.show_measurement_progress() as on_measurement:
            release = curator.with_call(Call(analyst=analyst, on_measurement=on_measurement)).execute(request)
    rows = release.to_arrow()
    if out is not None:
        write_rows(rows, out, kind=out.suffix[1:])
    if as_json:
        print_json({**release.summary, "replayed": release.replayed, "out": out and str(out), "rows": rows.to_pylist()})
        return
    run_commands.print_release(
        release, f"{rows.num_rows:,} counts by {release.summary['strategy']}, each {_widest(rows)} or less"
    )
    _show_counts(rows, is_written=out is not None)
    if out is not None:
        typer.echo(f"wrote {out}: {rows.num_rows:,} counts")


def _workload(
    tables: int | None, points_of: list[str], ranges_of: list[str], thresholds_of: list[str]
) -> Workload | None:
    parts = [] if tables is None else [marginals(tables)]
    parts += [points(*columns_in(table)) for table in points_of]
    parts += [ranges(column) for column in ranges_of] + [thresholds(column) for column in thresholds_of]
    return Workload(tuple(term for part in parts for term in part.terms)) if parts else None


def _show(plan: TablesPlan, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(plan))
        return
    widths = [f"{' × '.join(each.columns) or 'all rows'}: ± {amount(each.within)}" for each in plan.tables[:_SHOWN]]
    if len(plan.tables) > _SHOWN:
        widths.append(f"and {len(plan.tables) - _SHOWN:,} more")
    typical = f"{plan.strategy}: a typical count is off by {amount(plan.typical_error)}"
    run_commands.show_plan(plan, {"measured": [typical], "95 %": widths})


def _show_counts(rows: pa.Table, *, is_written: bool) -> None:
    """Print the smallest tables, up to a number of lines, and where the other counts are."""
    *about, count, within = rows.column_names
    tables = [
        (columns, list(cells))
        for columns, cells in groupby(rows.to_pylist(), lambda row: [name for name in about if row[name] is not None])
    ]
    screen, left = open_screen(), _MOST_LINES
    screen.print()
    for columns, cells in sorted(tables, key=lambda table: len(table[1])):
        shown = cells[:left]
        if shown:
            widths = [{**dict.fromkeys(columns), count: cell[within]} for cell in shown]
            show_rows(screen, [*columns, count], shown, widths)
        left -= len(shown)
    if rows.num_rows > _MOST_LINES:
        elsewhere = "in the file" if is_written else "the same command with --out counts.csv writes all of them, free"
        screen.print(indented(f"and {rows.num_rows - _MOST_LINES:,} more: {elsewhere}", style="dim"))
        screen.print()


def _widest(rows: Any) -> str:
    """The largest half-width, rounded up as in the lines below."""
    width = max(rows["within"].to_pylist())
    return plus_minus(width, width)
