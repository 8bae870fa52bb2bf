"""`discreet collect`: ask people who trust nobody, and add up what their devices say."""

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
from rich.table import Table
from rich.text import Text

from discreet.catalog import load_catalog
from discreet.cli.devices import TaskFile, read_task
from discreet.cli.options import JsonOption
from discreet.cli.printing import print_json
from discreet.errors import BadTask, ReportRefused
from discreet.local import Collector, Estimate, MeanEstimate, Task, collect
from discreet.local.books import CollectorBooks
from discreet.local.compare import compare
from discreet.samples.crowd import bell_numbers, zipf_numbers

_CONFIDENCE = 0.95
_MOST_ROWS = 20

Epsilon = Annotated[float, typer.Option("--epsilon", help="What one report may cost; there is no default.")]
Confidence = Annotated[float, typer.Option("--confidence", help="In which share of all collections ± holds.")]


def new(
    name: Annotated[str, typer.Argument(help="What to call it.")],
    *,
    epsilon: Epsilon,
    values: Annotated[str | None, typer.Option("--values", help="The values, with commas between them.")] = None,
    values_file: Annotated[Path | None, typer.Option("--values-file", help="The same, a line each.")] = None,
    numbers: Annotated[int | None, typer.Option("--numbers", help="Or the numbers below this one.")] = None,
    mean: Annotated[
        tuple[float, float] | None, typer.Option("--mean", help="Or the mean of a number between two bounds.")
    ] = None,
    distribution: Annotated[
        tuple[float, float] | None, typer.Option("--distribution", help="Or its distribution, between two bounds.")
    ] = None,
    words: Annotated[int | None, typer.Option("--words", help="Or the most frequent texts of so many bytes.")] = None,
    protocol: Annotated[str, typer.Option("--protocol", help="How to randomize; auto takes the best.")] = "auto",
    lifetime: Annotated[
        int | None, typer.Option("--lifetime", help="Reports that one device ever makes; else what ε 20 pays for.")
    ] = None,
    per_epoch: Annotated[int | None, typer.Option("--per-epoch", help="Reports of one device in an epoch.")] = None,
    epoch_seconds: Annotated[int, typer.Option("--epoch-seconds", help="How long an epoch is; 0 is for ever.")] = 0,
    min_batch: Annotated[int, typer.Option("--min-batch", help="Estimate nothing from fewer reports.")] = 1,
    output: Annotated[Path, typer.Option("--output", help="Where to write it.")] = Path("task.json"),
    publish: Annotated[
        Path | None, typer.Option("--publish", help="A catalog: collect at the service that serves it.")
    ] = None,
    retention_days: Annotated[
        int | None, typer.Option("--retention-days", help="There, delete all that was collected after so many days.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a task: what is asked, how it is randomized, what it costs, and how often one device answers."""
    caps = {"lifetime": lifetime, "per_epoch": per_epoch}
    rules: dict[str, Any] = {name: cap for name, cap in caps.items() if cap is not None}
    rules |= {"epoch_seconds": epoch_seconds, "min_batch": min_batch}
    listed = values_file.read_text().split("\n") if values_file else values.split(",") if values else None
    if listed is not None:
        domain = [value.strip() for value in listed if value.strip()]
        task = Task.frequency(name, domain=domain, epsilon=epsilon, protocol=protocol, **rules)
    elif numbers is not None:
        task = Task.frequency(name, domain=range(numbers), epsilon=epsilon, protocol=protocol, **rules)
    elif mean is not None:
        task = Task.mean(name, lower=mean[0], upper=mean[1], epsilon=epsilon, protocol=protocol, **rules)
    elif distribution is not None:
        task = Task.distribution(name, lower=distribution[0], upper=distribution[1], epsilon=epsilon, **rules)
    elif words is not None:
        task = Task.heavy_hitters(name, length=words, epsilon=epsilon, protocol=protocol, **rules)
    else:
        raise BadTask("Nothing is asked.", next_step="Give --values, --numbers, --mean, --distribution or --words.")
    output.write_text(task.to_json())
    if publish is not None:
        with closing(CollectorBooks.of(load_catalog(publish))) as books:
            books.publish(task, retention_days=retention_days)
    if as_json:
        print_json({"id": task.id, "spec": task.spec})
        return
    typer.echo("\n" + "\n".join(f"  {line}" for line in task.explain().splitlines()))
    typer.echo(f"\n  wrote {output}; its name in every message is {task.id}\n")


def estimate(
    task_file: TaskFile,
    reports: Annotated[list[Path] | None, typer.Argument(help="Files of messages, a line each.")] = None,
    *,
    config: Annotated[
        Path | None, typer.Option("--config", help="A catalog: what its service has collected instead.")
    ] = None,
    invited: Annotated[int | None, typer.Option("--invited", help="How many people were asked.")] = None,
    confidence: Confidence = _CONFIDENCE,
    as_json: JsonOption = False,
) -> None:
    """Add up messages and say what they tell, with ±; what cannot be counted is refused by name."""
    task = read_task(task_file)
    if config is not None:
        with closing(CollectorBooks.of(load_catalog(config))) as books:
            collector = books.collector(books.task(task.id))
    else:
        collector = Collector(task, invited=invited)
        for path in reports or []:
            for line in path.read_text().split():
                _add(collector, line)
    estimates = collector.estimate()
    if as_json:
        print_json(_facts(estimates, confidence, collector))
        return
    console = Console(highlight=False)
    console.print()
    _show(console, estimates, confidence)
    for code, count in collector.refused.items():
        console.print(f"  refused: {count:,} × {code}")
    console.print()


def simulate(
    task_file: TaskFile,
    *,
    people: Annotated[int, typer.Option("--people", min=1, help="How many made-up people report.")] = 1_000_000,
    exponent: Annotated[float, typer.Option("--zipf", help="How unequal values are: 0 is not at all.")] = 1.1,
    seed: Annotated[int, typer.Option("--seed", help="Of the crowd; the randomness of reports is fresh.")] = 0,
    confidence: Confidence = _CONFIDENCE,
    as_json: JsonOption = False,
) -> None:
    """Let a made-up crowd report, and hold the estimate against the truth that only a simulation knows."""
    task = read_task(task_file)
    truth = _crowd(task, people, exponent, seed)
    console = Console(highlight=False, stderr=as_json)
    began = time.perf_counter()
    with Progress(
        TextColumn("  people report"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        bar = progress.add_task("", total=people)
        collector = collect(task, truth, on_progress=lambda done: progress.advance(bar, done))
    reported = time.perf_counter() - began
    estimates = collector.estimate()
    took = time.perf_counter() - began
    if as_json:
        print_json({**_facts(estimates, confidence, collector), "seconds": took})
        return
    console.print()
    _show(console, estimates, confidence, truth=_true_counts(task, truth, estimates))
    rate = people / reported
    console.print(
        f"  {people:,} people reported in {reported:.1f} s ({rate:,.0f} a second), "
        f"estimated in {took - reported:.1f} s\n"
    )


def compare_models(
    *,
    epsilon: Epsilon,
    output: Annotated[Path | None, typer.Option("--output", help="Write the plot here, as SVG.")] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="How often to ask each crowd.")] = 400,
    as_json: JsonOption = False,
) -> None:
    """Show what trusting nobody costs: the same question asked through a curator and through devices."""
    comparison = compare(epsilon=epsilon, trials=trials)
    if output is not None:
        comparison.plot().save(output)
    if as_json:
        print_json({"people": comparison.people, "central": comparison.central, "local": comparison.local})
        return
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for heading in ("people", "central error", "local error", "local / central"):
        table.add_column(heading, justify="right")
    for n, central, local in zip(comparison.people, comparison.central, comparison.local, strict=True):
        table.add_row(f"{n:,}", f"{central:.2g}", f"{local:.2g}", f"{local / central:,.0f}")
    Console(highlight=False).print("", table, "", sep="\n")
    if output is not None:
        typer.echo(f"  wrote {output}")


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


def _facts(estimates: Any, confidence: float, collector: Collector) -> dict[str, Any]:
    facts = {"reports": estimates.reports, "confidence": confidence, "refused": dict(collector.refused)}
    facts["response_rate"] = estimates.response_rate
    if isinstance(estimates, MeanEstimate):
        return {**facts, "mean": estimates.raw, "interval": estimates.interval(confidence)}
    best = estimates.top(_MOST_ROWS, confidence)
    rows = [{"value": row.value, "estimate": row.estimate, "low": row.low, "high": row.high} for row in best]
    return {**facts, "top": rows}


def _show(
    console: Console, estimates: Estimate | MeanEstimate, confidence: float, *, truth: dict[Any, float] | None = None
) -> None:
    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("value")
    for heading in ("estimate", "", *(["truth"] if truth else [])):
        table.add_column(heading, justify="right")
    if isinstance(estimates, MeanEstimate):
        low, high = estimates.interval(confidence)
        cells = [Text("mean"), Text(f"{estimates.raw:,.4g}"), Text(f"± {(high - low) / 2:,.2g}", style="dim")]
        table.add_row(*cells, *([f"{truth['mean']:,.4g}"] if truth else []))
    else:
        for row in estimates.top(_MOST_ROWS, confidence):
            width = Text(f"± {(row.high - row.low) / 2:,.0f}", style="dim")
            shown = [f"{truth[row.value]:,.0f}"] if truth else []
            table.add_row(Text(str(row.value)), f"{round(row.estimate):,}", width, *shown)
    console.print(table)
    console.print()
    rate = "" if estimates.response_rate is None else f", {100 * estimates.response_rate:.1f} % of those invited"
    together = "" if isinstance(estimates, MeanEstimate) else ", for all rows at once"
    said = (
        f"  {estimates.reports:,} reports{rate}; "
        f"in {100 * confidence:g} of 100 collections the truth is inside ±{together}"
    )
    console.print(Text(said, style="dim"))
