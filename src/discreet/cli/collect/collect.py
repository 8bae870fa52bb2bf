"""`discreet collect`: collect reports under local differential privacy, and estimate from them."""

from __future__ import annotations

import base64
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from discreet.catalog import load_catalog
from discreet.cli.collect.device_commands import TaskFile, read_task
from discreet.cli.terminal.options import JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.terminal_tables import add_row, indented, open_screen, plain_table
from discreet.core.number_format import amount, figure, plus_minus
from discreet.errors import BadTask, ReportRefused
from discreet.local import Collector, Estimate, MeanEstimate, Task, collect
from discreet.local.collector.report_store import ReportStore
from discreet.local.tasks.central_comparison import compare
from discreet.samples.crowd import bell_numbers, zipf_numbers

_CONFIDENCE = 0.95
_MOST_ROWS = 20

Epsilon = Annotated[float, typer.Option("--epsilon", help="Epsilon of one report. There is no default.")]
Confidence = Annotated[float, typer.Option("--confidence", help="Confidence of the ±.")]


def new(
    name: Annotated[str, typer.Argument(help="Name of the task.")],
    *,
    epsilon: Epsilon,
    values: Annotated[str | None, typer.Option("--values", help="Values, separated by commas.")] = None,
    values_file: Annotated[Path | None, typer.Option("--values-file", help="File of values, one per line.")] = None,
    numbers: Annotated[int | None, typer.Option("--numbers", help="Collect a number from 0 to N - 1.")] = None,
    mean: Annotated[
        str | None,
        typer.Option("--mean", metavar="LOW,HIGH", help="Collect the mean of a number between two bounds: LOW,HIGH."),
    ] = None,
    distribution: Annotated[
        str | None,
        typer.Option(
            "--distribution",
            metavar="LOW,HIGH",
            help="Collect the distribution of a number between two bounds: LOW,HIGH.",
        ),
    ] = None,
    words: Annotated[
        int | None, typer.Option("--words", help="Collect the most frequent texts of at most N bytes.")
    ] = None,
    protocol: Annotated[str, typer.Option("--protocol", help="Protocol; auto chooses the best.")] = "auto",
    lifetime: Annotated[
        int | None,
        typer.Option(
            "--lifetime", help="Reports that one device makes in all. Default: as many as a total ε of 20 allows."
        ),
    ] = None,
    per_epoch: Annotated[int | None, typer.Option("--per-epoch", help="Reports of one device per epoch.")] = None,
    epoch_seconds: Annotated[
        int, typer.Option("--epoch-seconds", help="Length of an epoch in seconds; 0 means one epoch without end.")
    ] = 0,
    memoize: Annotated[
        bool,
        typer.Option("--memoize", help="Devices memoize their report within an epoch: repeating it costs nothing."),
    ] = False,
    min_batch: Annotated[int, typer.Option("--min-batch", help="Fewest reports for an estimate.")] = 1,
    output: Annotated[Path, typer.Option("--output", help="Output file.")] = Path("task.json"),
    publish: Annotated[
        Path | None, typer.Option("--publish", help="Catalog whose service collects the reports.")
    ] = None,
    retention_days: Annotated[
        int | None, typer.Option("--retention-days", help="Delete all reports at that service after this many days.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create a task: what is collected, how it is randomized, its epsilon, and how often a device reports."""
    caps = {"lifetime": lifetime, "per_epoch": per_epoch}
    rules: dict[str, Any] = {name: cap for name, cap in caps.items() if cap is not None}
    rules |= {"epoch_seconds": epoch_seconds, "min_batch": min_batch, "memoize": memoize}
    listed = values_file.read_text().split("\n") if values_file else values.split(",") if values else None
    if listed is not None:
        domain = [value.strip() for value in listed if value.strip()]
        task = Task.frequency(name, domain=domain, epsilon=epsilon, protocol=protocol, **rules)
    elif numbers is not None:
        task = Task.frequency(name, domain=range(numbers), epsilon=epsilon, protocol=protocol, **rules)
    elif mean is not None:
        lower, upper = _bounds(mean)
        task = Task.mean(name, lower=lower, upper=upper, epsilon=epsilon, protocol=protocol, **rules)
    elif distribution is not None:
        lower, upper = _bounds(distribution)
        task = Task.distribution(name, lower=lower, upper=upper, epsilon=epsilon, **rules)
    elif words is not None:
        task = Task.heavy_hitters(name, length=words, epsilon=epsilon, protocol=protocol, **rules)
    else:
        raise BadTask(
            "The task does not say what to collect.",
            next_step="Give --values, --numbers, --mean, --distribution or --words.",
        )
    output.write_text(task.to_json())
    if publish is not None:
        with closing(ReportStore.from_catalog(load_catalog(publish))) as store:
            store.publish(task, retention_days=retention_days)
    if as_json:
        print_json({"id": task.id, "spec": task.spec})
        return
    typer.echo("\n" + "\n".join(f"  {line}" for line in task.explain().splitlines()))
    typer.echo(f"\n  wrote {output}; its name in every message is {task.id}\n")


def _bounds(text: str) -> tuple[float, float]:
    """LOW,HIGH."""
    try:
        lower, upper = map(float, text.split(","))
    except ValueError:
        raise BadTask(
            "Bounds must be two numbers, separated by a comma.", next_step="For example: --mean 0,110."
        ) from None
    return lower, upper


def estimate(
    task_file: TaskFile,
    reports: Annotated[list[Path] | None, typer.Argument(help="Files of messages, one per line.")] = None,
    *,
    config: Annotated[
        Path | None, typer.Option("--config", help="Catalog: use what its service has collected instead.")
    ] = None,
    invited: Annotated[int | None, typer.Option("--invited", help="Number of people who were invited.")] = None,
    confidence: Confidence = _CONFIDENCE,
    as_json: JsonOption = False,
) -> None:
    """Estimate results from messages, with ±. Messages that cannot be counted are listed with the reason."""
    task = read_task(task_file)
    if config is not None:
        with closing(ReportStore.from_catalog(load_catalog(config))) as store:
            collector = store.collector(store.task(task.id))
    else:
        collector = Collector(task, invited=invited)
        for path in reports or []:
            for line in path.read_text().split():
                _add(collector, line)
    estimates = collector.estimate()
    if as_json:
        print_json(_result_fields(estimates, confidence, collector))
        return
    screen = open_screen()
    screen.print()
    _show(screen, estimates, confidence)
    for code, count in collector.refused.items():
        screen.print(f"  refused: {count:,} × {code}")
    screen.print()


def simulate(
    task_file: TaskFile,
    *,
    people: Annotated[int, typer.Option("--people", min=1, help="Number of simulated people.")] = 1_000_000,
    exponent: Annotated[float, typer.Option("--zipf", help="Skew of the values; 0 is uniform.")] = 1.1,
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the simulated people. The randomness of reports is always fresh.")
    ] = 0,
    confidence: Confidence = _CONFIDENCE,
    as_json: JsonOption = False,
) -> None:
    """Simulate a collection, and compare its estimates with the true values of the simulated people."""
    task = read_task(task_file)
    truth = _crowd(task, people, exponent, seed)
    screen = open_screen(on_stderr=as_json)
    began = time.perf_counter()
    with Progress(
        TextColumn("  people report"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    ) as progress:
        bar = progress.add_task("", total=people)
        collector = collect(task, truth, on_progress=lambda done: progress.advance(bar, done))
    reported = time.perf_counter() - began
    estimates = collector.estimate()
    took = time.perf_counter() - began
    if as_json:
        print_json({**_result_fields(estimates, confidence, collector), "seconds": took})
        return
    screen.print()
    _show(screen, estimates, confidence, truth=_true_counts(task, truth, estimates))
    screen.print(
        f"  {people:,} people reported in {amount(reported)} s ({people / reported:,.0f} a second), "
        f"estimated in {amount(took - reported)} s\n"
    )


def compare_models(
    *,
    epsilon: Epsilon,
    output: Annotated[Path | None, typer.Option("--output", help="Write the plot to this file (.svg).")] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Number of trials.")] = 400,
    as_json: JsonOption = False,
) -> None:
    """Compare local with central privacy: the error of the same query through devices and through a curator."""
    comparison = compare(epsilon=epsilon, trials=trials)
    if output is not None:
        comparison.plot().save(output)
    if as_json:
        print_json({"people": comparison.people, "central": comparison.central, "local": comparison.local})
        return
    headings = ("people", "central error", "local error", "local / central")
    table = plain_table(*headings, right=headings)
    for n, central, local in zip(comparison.people, comparison.central, comparison.local, strict=True):
        add_row(table, f"{n:,}", amount(central), amount(local), _ratio(local, central))
    open_screen().print("", table, "", sep="\n")
    if output is not None:
        typer.echo(f"  wrote {output}")


def _ratio(local: float, central: float) -> str:
    """The error of local over central privacy; few trials at a large epsilon may have no central error at all."""
    return f"{local / central:,.0f}" if central else "—"


def _add(collector: Collector, line: str) -> None:
    """A refused message is counted by the collector, and the others go on."""
    try:
        collector.add(base64.b64decode(line))
    except (ReportRefused, ValueError):
        return


def _crowd(task: Task, people: int, exponent: float, seed: int) -> Any:
    domain = task.spec["domain"]
    if "lower" in domain:
        return bell_numbers(float(Fraction(domain["lower"])), float(Fraction(domain["upper"])), people, seed=seed)
    if "length" in domain:
        words = [f"w{number:x}"[: domain["length"]] for number in range(1000)]
        return np.array(words)[zipf_numbers(len(words), people, exponent=exponent, seed=seed)].tolist()
    numbers = zipf_numbers(len(task.values), people, exponent=exponent, seed=seed)
    return numbers if "range" in domain else np.array(task.values, object)[numbers]


def _true_counts(task: Task, truth: Any, estimates: Any) -> dict[Any, float]:
    if isinstance(estimates, MeanEstimate):
        return {"mean": float(np.mean(truth))}
    if task.kind == "distribution":
        places = np.array(list(estimates.values))
        nearest = np.clip(np.rint((truth - places[0]) / (places[1] - places[0])), 0, places.size - 1).astype(int)
        return dict(zip(estimates.values, np.bincount(nearest, minlength=places.size).tolist(), strict=True))
    values, counts = np.unique(np.asarray(truth).astype(str), return_counts=True)
    known = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return {value: known.get(str(value), 0) for value in estimates.values}


def _result_fields(estimates: Any, confidence: float, collector: Collector) -> dict[str, Any]:
    fields = {"reports": estimates.reports, "confidence": confidence, "refused": dict(collector.refused)}
    fields["response_rate"] = estimates.response_rate
    if isinstance(estimates, MeanEstimate):
        return {**fields, "mean": estimates.raw, "interval": estimates.interval(confidence)}
    best = estimates.top(_MOST_ROWS, confidence)
    rows = [{"value": row.value, "estimate": row.estimate, "low": row.low, "high": row.high} for row in best]
    return {**fields, "top": rows}


def _show(
    screen: Console, estimates: Estimate | MeanEstimate, confidence: float, *, truth: dict[Any, float] | None = None
) -> None:
    table = plain_table("value", "estimate", "±", *(["truth"] if truth else []), right=("estimate", "truth"))
    if isinstance(estimates, MeanEstimate):
        rows: list[tuple[Any, float, float, float]] = [("mean", estimates.raw, *estimates.interval(confidence))]
    else:
        rows = [(row.value, row.estimate, row.low, row.high) for row in estimates.top(_MOST_ROWS, confidence)]
    for value, number, low, high in rows:
        width = (high - low) / 2
        true = [figure(truth[value], width)] if truth else []
        add_row(table, figure(value), figure(number, width), Text(plus_minus(number, width), style="dim"), *true)
    screen.print(table)
    screen.print()
    rate = "" if estimates.response_rate is None else f", {100 * estimates.response_rate:.1f} % of those invited"
    together = "" if isinstance(estimates, MeanEstimate) else ", for all rows at once"
    often = f"in {100 * confidence:g} of 100 collections, ± contains the truth{together}"
    screen.print(indented(f"{estimates.reports:,} reports{rate}; {often}", style="dim"))
