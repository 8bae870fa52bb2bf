"""Shared parts of the commands that start a run: options, progress, printed plan and result, check of output files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.api.plans import RunPlan
from discreet.cli.terminal.printing import INDENT
from discreet.cli.terminal.terminal_tables import indented, labelled, open_screen
from discreet.core.number_format import amount
from discreet.errors import BadInput
from discreet.measurement.run_release import RunRelease

Source = Annotated[str, typer.Argument(help="A table, or a SELECT that yields people's rows.")]
Epsilon = Annotated[
    float | None,
    typer.Option("--epsilon", help="Cost as epsilon, with --delta; without it if the account has no delta."),
]
Delta = Annotated[float | None, typer.Option("--delta", help="Delta at which --epsilon is converted; it is not spent.")]
Rho = Annotated[float | None, typer.Option("--rho", help="Or the cost as rho (zCDP).")]
Name = Annotated[str | None, typer.Option("--name", help="Name of the release, to find it later.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the cost, without a charge.")]


@contextmanager
def show_measurement_progress() -> Iterator[Any]:
    """Show in a terminal how many measurements are stored. Those not stored yet may be drawn again after a failure."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with open_screen(on_stderr=True).status(f"{INDENT}reading …") as status:
        yield lambda stored: status.update(f"{INDENT}{stored} measurements so far …")


def show_plan(plan: RunPlan, details: Mapping[str, list[str]]) -> None:
    """Print what a run would measure and what it would cost."""
    screen, rows = open_screen(), plan.rows_per_person
    beyond = [name for name, allowed in plan.charged.items() if not allowed]
    price = _price(plan.rho, plan.epsilon)
    if plan.asked_before:
        price += "; free: asked before"
    elif beyond:
        price += f"; would be refused now: {', '.join(beyond)} cannot pay it"
    else:
        price += f"; paid by {', '.join(plan.charged)}"
    lines = {
        "columns": [f"{name}: {size:,}" for name, size in plan.columns.items()],
        **details,
        "person": ["one row per person counts" if rows == 1 else f"at most {rows:,} rows per person count"],
        "reused": list(plan.reused),
        "note": list(plan.notes),
        "price": [price],
    }
    screen.print("", labelled(lines), sep="\n")
    screen.print(indented("nothing was spent", style="dim"))
    screen.print()


def print_release(release: RunRelease, how: str) -> None:
    """Print the name of a release and what it cost."""
    summary = release.summary
    typer.echo(f"{release.name or 'a release without a name'}: {how}")
    if release.reused:
        typer.echo(f"with tables of {', '.join(release.reused)}")
    typer.echo("free: asked before" if release.replayed else f"paid {_price(summary['rho'], summary['epsilon'])}")


def _price(rho: float, epsilon: float | None) -> str:
    """The cost in the unit of its account: epsilon for a pure guarantee, otherwise rho."""
    return f"ρ {amount(rho)}" if epsilon is None else f"ε {amount(epsilon)}"


def check_file(out: Path | None, *, option: str, kinds: tuple[str, ...]) -> None:
    """Check before the charge that `out` can be written: a known file type, a new file, an existing folder."""
    if out is None:
        return
    if out.suffix[1:] not in kinds:
        raise BadInput(
            f"{option} must be written as {' or '.join(f'.{kind}' for kind in kinds)}.",
            next_step=f"Give {option} a name that ends so.",
        )
    if out.exists():
        raise BadInput(f"There is already a file {out} already.", next_step=f"Give {option} the name of a new file.")
    if not out.parent.is_dir():
        raise BadInput(f"There is no folder {out.parent}.", next_step=f"Make it, or give {option} another name.")
