"""`discreet synth`: synthetic rows of people's, and their price before it is paid."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.api.local import Asking, Curator
from discreet.api.opening import open_curator
from discreet.cli.terminal import run_commands
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.read_progress import tell_reading
from discreet.core.number_format import CONFIDENCE, amount, plus_minus, share
from discreet.errors import BadInput
from discreet.synthetic.methods.method_registry import METHODS
from discreet.synthetic.quality.predicted_error import Predicted
from discreet.synthetic.quality.quality_report import html_report
from discreet.synthetic.row_files import KINDS, write_rows
from discreet.synthetic.synthesis_run import Wanted

Workload = Annotated[
    list[str] | None,
    typer.Option(
        "--workload", help="Tables that shall be good: all over so many columns, or one by its columns: ward,age. [3]"
    ),
]
Method = Annotated[
    str,
    typer.Option("--method", help=f"One of: {', '.join(METHODS)}.", autocompletion=lambda: list(METHODS)),
]
Discover = Annotated[
    list[str] | None,
    typer.Option(
        "--discover",
        help="A column whose values nobody declared, with the epsilon that finding them costs beside the price: diagnosis=0.2. May be repeated.",
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="A new file for rows: .parquet or .csv.")]
Report = Annotated[Path | None, typer.Option("--report", help="A new file for how good they are: .html.")]
RowsAbout = Annotated[
    int | None,
    typer.Option("--rows-about", min=1, help="With --dry-run: how many rows there are, if not what the catalog says."),
]
Rows = Annotated[int | None, typer.Option("-n", min=0, help="How many rows; about as many as there are, unless said.")]


def synth(
    source: run_commands.Source,
    *,
    epsilon: run_commands.Epsilon = None,
    delta: run_commands.Delta = None,
    rho: run_commands.Rho = None,
    workload: Workload = None,
    method: Method = "aim",
    bins: run_commands.Bins = None,
    discover: Discover = None,
    reuse: run_commands.Reuse = False,
    name: run_commands.Name = None,
    out: Out = None,
    rows: Rows = None,
    report: Report = None,
    dry_run: run_commands.DryRun = False,
    rows_about: RowsAbout = None,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Make synthetic rows: pays once, goes on where a crash left it, and is free when it is asked for again."""
    if rows_about is not None and not dry_run:
        raise BadInput("--rows-about is assumed before anything is made.", next_step="Give --dry-run, too.")
    run_commands.check_file(out, option="--out", kinds=KINDS)
    run_commands.check_file(report, option="--report", kinds=("html",))
    price = {"epsilon": epsilon, "delta": delta, "rho": rho, "name": name, "analyst": analyst}
    details: dict[str, Any] = {**price, "workload": _tables(workload), "method": method, "reuse": reuse}
    details |= {"bins": run_commands.counts_by_column(bins), "discover": run_commands.prices_by_column(discover)}
    with open_curator(config, tell=tell_reading) as curator:
        if not dry_run:
            _make(curator, source, details, _Files(out, rows, report), as_json=as_json)
            return
        plan = curator.plan_synthesis(source, rows_about=rows_about, **details)
    if as_json:
        print_json(asdict(plan))
    else:
        exactness = [] if plan.predicted is None else _exactness(plan.predicted, is_said=rows_about is not None)
        run_commands.show_plan(plan, {"tables": [f"{plan.tables:,} shall be good"], "exactness": exactness})


def _exactness(predicted: Predicted, *, is_said: bool) -> list[str]:
    """How exact it will be, a line for each column and each width of tables; and whence the number of rows is, if nobody said it."""
    rows = f"if there are about {predicted.rows_about:,} rows"
    if not is_said:
        rows += " (rows_about of the catalog, 1,000,000 a table where it has none; others with --rows-about)"
    lines = [f"{rows}; errors are all differences together, as a share of them"]
    lines += [
        f"{column.column}: {plus_minus(0, column.within)} a count, error {share(column.error)}"
        for column in predicted.columns
        if column.within is not None and column.error is not None
    ]
    for tables in predicted.tables:
        line = f"{tables.width} columns: {tables.measurable:,} of {tables.tables:,} tables can be measured"
        if tables.least_error is not None and tables.most_error is not None:
            ends = dict.fromkeys((share(tables.least_error), share(tables.most_error)))
            errors = f"error {' … '.join(ends)}"
            line += f", {plus_minus(0, tables.within)} a count, {errors}{' where chosen' * tables.is_chosen}"
        lines.append(line)
    return [*lines, predicted.otherwise]


@dataclass(frozen=True, slots=True)
class _Files:
    """What is to be written: so many rows, and how good they are."""

    out: Path | None
    rows: int | None
    report: Path | None


def _make(curator: Curator, source: str, details: dict[str, Any], files: _Files, *, as_json: bool) -> None:
    """Pay, make, write what is wanted, and say so."""
    with run_commands.looking_on() as on_look:
        release = curator.synthesize(source, asking=Asking(on_look=on_look), **details)
    count, out = max(0, round(release.total)) if files.rows is None else files.rows, files.out
    if out is not None:
        write_rows(release.sample(count), out, kind=out.suffix[1:])
    if files.report is not None:
        files.report.write_text(html_report(release, CONFIDENCE), encoding="utf-8")
    if as_json:
        report = files.report and str(files.report)
        written = {"out": out and str(out), "rows": out and count, "report": report}
        print_json({**release.facts, "total": release.total, "replayed": release.replayed, **written})
        return
    looks = release.facts["looks"]
    run_commands.tell_made(release, f"{release.method}, {looks} looks, about {amount(release.total)} rows that count")
    if out is not None:
        typer.echo(f"wrote {out}: {count:,} rows of nobody")
    if files.report is not None:
        typer.echo(f"wrote {files.report}: how good they are")


def _tables(given: list[str] | None) -> Wanted:
    """A number of columns, or tables by their columns."""
    if not given:
        return 3
    if len(given) == 1 and given[0].isdecimal():
        return int(given[0])
    return [columns_in(table) for table in given]


def columns_in(text: str) -> list[str]:
    """Names of columns, such as ward,age."""
    return [name.strip() for name in text.split(",")]
