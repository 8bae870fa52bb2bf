"""`discreet bounds`: lower bounds on the error of any mechanism, beside the error of the mechanisms here."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from discreet.accounting.lower_bounds import Limit, limits
from discreet.cli.terminal.options import JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.terminal_tables import indented, open_screen
from discreet.core.number_format import CONFIDENCE, amount


def bounds(
    *,
    people: Annotated[int, typer.Option("--people", help="Number of people.")],
    columns: Annotated[int, typer.Option("--columns", help="Number of means, or of candidates to choose from.")] = 100,
    queries: Annotated[int, typer.Option("--queries", help="Number of counting queries.")] = 100,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Epsilon of the guarantee.")] = None,
    delta: Annotated[
        float, typer.Option("--delta", help="Delta of the guarantee; 0 is pure differential privacy.")
    ] = 0.0,
    rho: Annotated[float | None, typer.Option("--rho", help="Rho (zCDP), instead of epsilon and delta.")] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence of the error bounds.")] = CONFIDENCE,
    as_json: JsonOption = False,
) -> None:
    """Show lower bounds on the error of any mechanism with this guarantee. Reads no data; free."""
    found = limits(
        people=people,
        columns=columns,
        queries=queries,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        confidence=confidence,
    )
    if as_json:
        print_json([limit.as_dict() for limit in found])
        return
    screen = open_screen()
    screen.print()
    for limit in found:
        _show(screen, limit)


def _show(screen: Console, limit: Limit) -> None:
    kind = f"proved for {limit.neighbours}" if limit.proved else "order of magnitude"
    here = "; ".join(f"{each.mechanism} {amount(each.error)}" for each in limit.achieved)
    screen.print(indented(limit.task, style="bold"))
    screen.print(indented(f"{'nobody below' if limit.proved else 'about'} {amount(limit.least)}   {limit.unit}", by=4))
    if here:
        screen.print(indented(f"here {here}", by=4))
    screen.print(indented(f"{kind}: {limit.formula} ({limit.source})", by=4, style="dim"))
    screen.print()
