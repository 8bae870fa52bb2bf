"""`discreet graph`: query a network of the catalog."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from discreet.api.graph_api import graph_request
from discreet.api.opening import open_curator
from discreet.api.plans import GraphPlan
from discreet.api.requests.graph import GRAPH_REQUESTS
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import INDENT, print_json
from discreet.cli.terminal.read_progress import print_read_progress
from discreet.cli.terminal.request_options import with_options_of
from discreet.cli.terminal.run_commands import DryRun
from discreet.cli.terminal.terminal_tables import indented, labelled, open_screen
from discreet.core.json_codec import to_json
from discreet.core.number_format import CONFIDENCE, amount
from discreet.graphs.degrees import Degrees
from discreet.graphs.mixing import Mixing
from discreet.graphs.network_verbs import Outcome

_SHOWN = 12
"""Degrees that the terminal shows."""
_NOISE = {
    "PureAdaptive": "the bound is chosen privately, then Laplace noise is added",
    "GeneralizedExponential": "chosen by the exponential mechanism",
    "Ladder": "the ladder mechanism",
}
"""Mechanisms in words, if their class names are not known to users."""
Verb = Annotated[
    str,
    typer.Argument(
        help=" ".join(f"{name}: {inspect.cleandoc(str(kind.__doc__))}" for name, kind in GRAPH_REQUESTS.items()),
        autocompletion=lambda: list(GRAPH_REQUESTS),
    ),
]


@with_options_of(*GRAPH_REQUESTS.values())
def graph(
    options: Mapping[str, Any],
    *,
    verb: Verb,
    dry_run: DryRun = False,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Answer a query about a network, with noise and its ±. It is charged once, and free when it is repeated."""
    settings = dict(options)
    request = graph_request(settings.pop("graph"), verb, **settings)
    with open_curator(config, tell=print_read_progress) as curator:
        caller = curator.as_analyst(analyst)
        if dry_run:
            _show(caller.plan(request), as_json=as_json)
            return
        answer = caller.execute(request)
    if as_json:
        print_json(answer.summary)
        return
    typer.echo(repr(answer))
    for line in _numbers(answer.outcome):
        typer.echo(f"{INDENT}{line}")


def _numbers(outcome: Outcome) -> Iterator[str]:
    """The numbers behind the one value, a line each."""
    if isinstance(outcome, Degrees):
        within = outcome.error(CONFIDENCE)
        for degree, count in enumerate(outcome.at_most.tolist()[:_SHOWN]):
            yield f"{count:,} ± {within:,} have at most {degree}"
    if isinstance(outcome, Mixing):
        for row in outcome.rows:
            yield f"{row['edges']:,} ± {row['error']:,} between {row['one']} and {row['other']}"


def _show(plan: GraphPlan, *, as_json: bool) -> None:
    if as_json:
        print_json(to_json(plan))
        return
    beyond = [account for account, allowed in plan.charged.items() if not allowed]
    price = f"ε {amount(plan.epsilon)} for one {plan.unit}"
    if plan.asked_before:
        price += "; free: asked before"
    elif beyond:
        price += f"; would be refused now: {', '.join(beyond)} cannot pay it"
    else:
        price += f"; paid by {', '.join(plan.charged)}"
    lines = {
        "protects": [plan.protects],
        "noise": [", ".join(_NOISE.get(name, name) for name in plan.mechanisms)],
        "95 %": [] if plan.within is None else [f"± {amount(plan.within)}"],
        "note": list(plan.notes),
        "price": [price],
    }
    screen = open_screen()
    screen.print("", labelled({label: shown for label, shown in lines.items() if shown}), sep="\n")
    screen.print(indented("nothing was spent", style="dim"))
    screen.print()
