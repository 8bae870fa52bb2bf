"""`discreet attack`: run the attacks of the lab on unprotected releases and on Discreet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from discreet.attacks import Result, find, list_attacks, run
from discreet.attacks.lab.lab import EPSILONS, not_run
from discreet.attacks.lab.lab_report import html_report, markdown_table, run_all
from discreet.attacks.lab.scene import scene_of
from discreet.catalog import load_catalog
from discreet.cli.terminal.exit_codes import ExitCode
from discreet.cli.terminal.options import JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.terminal_tables import open_screen
from discreet.errors import BadInput

_BEGIN, _END = "<!-- the lab's table begins -->", "<!-- the lab's table ends -->"

Small = Annotated[bool, typer.Option("--small", help="Use small sizes for a quick run.")]
Seed = Annotated[
    int | None, typer.Option("--seed", help="Seed of worlds and attackers. Discreet's noise is always fresh.")
]


def list_all(*, as_json: JsonOption = False) -> None:
    """List the attacks, with the goal and the targets of each."""
    if as_json:
        print_json([attack.as_dict() for attack in list_attacks()])
        return
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for heading, share in ((" attack", None), ("goal", 3), ("vulnerable targets", 2)):
        table.add_column(heading, ratio=share, no_wrap=share is None)
    for attack in list_attacks():
        table.add_row(f" {attack.name}", Text(attack.wants), Text(", ".join((*attack.releases, *attack.peers))))
    open_screen().print("", table, "", sep="\n")


def run_one(
    name: Annotated[str, typer.Argument(help="Name of an attack: see `discreet attack list`.")],
    *,
    against: Annotated[
        str, typer.Option("--against", help="Targets: weak, a release, a peer or discreet; separated by commas.")
    ] = "weak",
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", help="Total budget of the attacker, for targets that have one. Default: 0.1, 1 and 10."
        ),
    ] = None,
    delta: Annotated[float | None, typer.Option("--delta", help="Delta of that budget. Default: pure epsilon.")] = None,
    people: Annotated[int | None, typer.Option("--people", help="Number of people.")] = None,
    trials: Annotated[int | None, typer.Option("--trials", help="Number of trials.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="Further option of the attack, name=value. Repeatable.")
    ] = None,
    catalog: Annotated[
        Path | None,
        typer.Option("--catalog", help="Use people generated in the shape of this catalog. Its data is not read."),
    ] = None,
    seed: Seed = None,
    small: Small = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Write the plot to this file (.svg).")] = None,
    as_json: JsonOption = False,
) -> None:
    """Run one attack. Shows the queries, the answers, the guess, and the success rate."""
    console = open_screen(on_stderr=as_json)
    results = []
    duels = [
        (target.strip(), price) for target in against.split(",") for price in _prices(name, target.strip(), epsilon)
    ]
    for target, price in duels:
        with _progress(console, f"{name} against {target}") as advance:
            results.append(
                run(
                    name,
                    against=target,
                    epsilon=price,
                    delta=None if price is None else delta,
                    people=people,
                    trials=trials,
                    size="small" if small else "full",
                    seed=seed,
                    on_progress=advance,
                    scene=None if catalog is None else scene_of(load_catalog(catalog)),
                    **_options(option),
                )
            )
    if plot is not None:
        results[-1].plot().save(plot)
    if as_json:
        outputs = [result.as_dict() for result in results]
        print_json(outputs if len(outputs) > 1 else outputs[0])
        _end(results)
        return
    attack = find(name)
    console.print(f"\n  {attack.title}: {attack.wants}\n", soft_wrap=True)
    for result in _one_of_each(results):
        for step in result.transcript:
            console.print(Text(f"  {step}", style="dim" if step.kind in ("known", "note") else ""), soft_wrap=True)
        console.print()
    console.print(_table(results, several=False))
    played = ", ".join(sorted({f"{result.trials:,}" for result in results}))
    console.print(f"\n  {played} trials each. {attack.lesson}\n", soft_wrap=True)
    _end(results)


def run_everything(
    *,
    report: Annotated[Path | None, typer.Option("--report", help="Write a report to this file (.html).")] = None,
    table: Annotated[
        Path | None,
        typer.Option("--table", help="Write the table into this Markdown page, between its marks."),
    ] = None,
    only: Annotated[str | None, typer.Option("--only", help="Names of attacks, separated by commas.")] = None,
    seed: Seed = None,
    small: Small = False,
    as_json: JsonOption = False,
) -> None:
    """Run every attack against weak releases and against Discreet at epsilon 0.1, 1 and 10."""
    console = open_screen(on_stderr=as_json)
    names = [name.strip() for name in only.split(",")] if only else None
    with _progress(console, "attacks") as advance:
        results = run_all(names=names, size="small" if small else "full", seed=seed, on_progress=advance)
    if report is not None:
        report.write_text(html_report(results))
    if table is not None:
        _write_table(table, markdown_table(results))
    if as_json:
        print_json([result.as_dict() for result in results])
        _end(results)
        return
    console.print("", _table(results, several=True), "", sep="\n")
    for name, packages in not_run(names).items():
        console.print(f"  skipped: {name} needs {packages}. Run: pip install {packages}")
    for place in (report, table):
        if place is not None:
            typer.echo(f"  wrote {place}")
    _end(results)


def _write_table(path: Path, table: str) -> None:
    """A file of its own, or the part of a page between two marks."""
    page = path.read_text() if path.exists() else ""
    before, begins, rest = page.partition(_BEGIN)
    _, ends, after = rest.partition(_END)
    path.write_text(f"{before}{_BEGIN}\n{table}{_END}{after}" if begins and ends else table)


@contextmanager
def _progress(console: Console, title: str) -> Iterator[Callable[[int, int], None]]:
    bar = Progress(
        TextColumn(f"  {title}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _prices(name: str, target: str, given: float | None) -> list[float | None]:
    """What to play at: nothing against releases that promise nothing; else what was given, or all of the lab's."""
    attack = find(name)
    meant = attack.weak if target == "weak" else target
    if meant in attack.releases and meant not in attack.priced:
        return [None]
    return [given] if given is not None else list(EPSILONS)


def _options(given: list[str] | None) -> dict[str, float]:
    options = {}
    for text in given or ():
        name, _, value = text.partition("=")
        try:
            options[name] = float(value)
        except ValueError:
            raise BadInput("An option must be name=number.", next_step="For example: --option noise=0.1.") from None
    return options


def _one_of_each(results: list[Result]) -> list[Result]:
    """One transcript for each opponent is enough."""
    return list({result.against: result for result in reversed(results)}.values())[::-1]


def _table(results: list[Result], *, several: bool) -> Table:
    """One row per duel, with the attack's name if several attacks ran."""
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for heading in ([" attack"] if several else []) + [" against"]:
        table.add_column(heading, overflow="fold")
    for heading in ("ε", "right", "95 of 100", "guess", "allowed", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        low, high = result.interval()
        verdict = _verdict(result, comparisons=_comparisons(results))
        table.add_row(
            *([f" {result.attack}"] if several else []),
            f" {result.against}",
            "" if result.epsilon is None else f"{result.epsilon:g}",
            f"{100 * result.success:.1f} %",
            f"{100 * low:.0f}–{100 * high:.0f} %",
            f"{100 * result.baseline:.3g} %",
            "—" if result.bound is None else f"{100 * result.bound:.3g} %",
            verdict,
        )
    return table


def _verdict(result: Result, *, comparisons: int) -> Text:
    """An estimate above the bound at 95 % happens by chance: then run more trials. At 99.99 % it is a violation."""
    if result.bound is None:
        return Text("falls")
    if result.holds(comparisons=comparisons):
        return Text("holds")
    if _is_violated(result, comparisons=comparisons):
        return Text("VIOLATED", style="bold red")
    return Text("play more", style="yellow")


def _is_violated(result: Result, *, comparisons: int) -> bool:
    return result.holds(0.9999, comparisons=comparisons) is False


def _comparisons(results: list[Result]) -> int:
    return sum(result.bound is not None for result in results)


def _end(results: list[Result]) -> None:
    """Exit with a failure if a guarantee is violated."""
    if any(_is_violated(result, comparisons=_comparisons(results)) for result in results):
        raise typer.Exit(ExitCode.VIOLATED)
