"""`discreet synth`: synthetic rows of protected rows, or with --dry-run their cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.api.local import Curator
from discreet.api.opening import open_curator
from discreet.api.requests.synthesize import SynthesizeRequest
from discreet.cli.terminal import run_commands
from discreet.cli.terminal import run_commands as runs
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.read_progress import print_read_progress
from discreet.cli.terminal.request_options import with_options_of
from discreet.core.number_format import CONFIDENCE, amount, plus_minus, share
from discreet.pipeline.call import Call
from discreet.synthetic.quality.predicted_error import Predicted
from discreet.synthetic.quality.quality_report import html_report
from discreet.synthetic.row_files import KINDS, write_rows

Out = Annotated[
    Path | None, typer.Option("--out", help="Write the rows to this file (.parquet or .csv). It must not exist.")
]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write a quality report to this file (.html). It must not exist.")
]
Rows = Annotated[
    int | None, typer.Option("-n", min=0, help="Number of rows. Default: the estimated size of the table.")
]


@with_options_of(SynthesizeRequest)
def synth(
    options: Mapping[str, Any],
    *,
    out: Out = None,
    rows: Rows = None,
    report: Report = None,
    dry_run: runs.DryRun = False,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Make synthetic rows. Charged once. Running the same command again, for example after a crash, is free."""
    runs.check_file(out, option="--out", kinds=KINDS)
    runs.check_file(report, option="--report", kinds=("html",))
    request = SynthesizeRequest(**options)
    with open_curator(config, tell=print_read_progress) as curator:
        if not dry_run:
            _make(curator, request, analyst, _Files(out, rows, report), as_json=as_json)
            return
        plan = curator.as_analyst(analyst).plan(request)
    if as_json:
        print_json(asdict(plan))
    else:
        exactness = [] if plan.predicted is None else _exactness(plan.predicted, is_said=request.rows_about is not None)
        runs.show_plan(plan, {"tables": [f"{plan.tables:,} to preserve"], "exactness": exactness})


def _exactness(predicted: Predicted, *, is_said: bool) -> list[str]:
    """How exact it will be, a line for each column and each width of tables; and whence the number of rows is, if nobody said it."""
    rows = f"if there are about {predicted.rows_about:,} rows"
    if not is_said:
        rows += " (rows_about in the catalog, by default 1,000,000 per table; change it with --rows-about)"
    lines = [f"{rows}; the error is the sum of all differences, as a share of the rows"]
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
    """What to write: the number of synthetic rows, and the quality report."""

    out: Path | None
    rows: int | None
    report: Path | None


def _make(curator: Curator, request: SynthesizeRequest, analyst: str | None, files: _Files, *, as_json: bool) -> None:
    """Charge, synthesize, write the files and print the result."""
    with run_commands.show_measurement_progress() as on_measurement:
        release = curator.with_call(Call(analyst=analyst, on_measurement=on_measurement)).execute(request)
    count, out = max(0, round(release.total)) if files.rows is None else files.rows, files.out
    if out is not None:
        write_rows(release.sample(count), out, kind=out.suffix[1:])
    if files.report is not None:
        files.report.write_text(html_report(release, CONFIDENCE), encoding="utf-8")
    if as_json:
        report = files.report and str(files.report)
        written = {"out": out and str(out), "rows": out and count, "report": report}
        print_json({**release.summary, "total": release.total, "replayed": release.replayed, **written})
        return
    measurements = release.summary["measurements"]
    run_commands.print_release(
        release, f"{release.method}, {measurements} measurements, about {amount(release.total)} rows"
    )
    if out is not None:
        typer.echo(f"wrote {out}: {count:,} synthetic rows")
    if files.report is not None:
        typer.echo(f"wrote {files.report}: quality report")
