"""`discreet graph`: a network of the catalog, asked by its verbs, with ± and what is protected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from discreet.api.faces.networks import GraphPlan
from discreet.api.opening import open_curator
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import INDENT, print_json
from discreet.cli.terminal.read_progress import tell_reading
from discreet.cli.terminal.run_commands import DryRun
from discreet.cli.terminal.terminal_tables import indented, labelled, open_screen
from discreet.core.json_codec import to_json
from discreet.core.number_format import CONFIDENCE, amount
from discreet.graphs.degrees import Degrees
from discreet.graphs.mixing import Mixing
from discreet.graphs.network_verbs import VERBS, Outcome

_SHOWN = 12
"""Degrees that are told on a terminal."""
_NOISE = {
    "PureAdaptive": "a bound is chosen privately, then Laplace noise for it",
    "GeneralizedExponential": "chosen by the exponential mechanism",
    "Ladder": "the ladder mechanism",
}
"""Mechanisms whose names say nothing to who asks."""
Graph = Annotated[str, typer.Argument(help="A network of the catalog: [graphs.friends] is called friends.")]
VerbName = Annotated[
    str,
    typer.Argument(
        help="; ".join(f"{name}: {verb.summary}" for name, verb in VERBS.items()) + ".",
        autocompletion=lambda: list(VERBS),
    ),
]
Epsilon = Annotated[float | None, typer.Option("--epsilon", help="What the answer may cost; there is no default.")]
MaxDegree = Annotated[
    int | None, typer.Option("--max-degree", min=1, help="The most edges of a person that count, unless as declared.")
]
PerNode = Annotated[
    int | None, typer.Option("--per-node", min=1, help="For triangles: the most of a person that count.")
]
Attribute = Annotated[
    str | None, typer.Option("--attribute", help="For assortativity: a column of the nodes with declared values.")
]
Rays = Annotated[int | None, typer.Option("--k", min=1, help="For stars: how many edges meet.")]
Transmission = Annotated[
    float | None, typer.Option("--transmission", help="For rumour: the chance that an edge passes it on.")
]
Then = Annotated[float | None, typer.Option("--then", help="For bound: the epsilon of the answer that it is for.")]


def graph(
    name: Graph,
    verb: VerbName,
    *,
    epsilon: Epsilon = None,
    max_degree: MaxDegree = None,
    per_node: PerNode = None,
    attribute: Attribute = None,
    k: Rays = None,
    transmission: Transmission = None,
    then: Then = None,
    dry_run: DryRun = False,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Ask about a network: pays, answers with ± and says what is protected, and never pays twice for the same query."""
    said: dict[str, Any] = {"max_degree": max_degree, "per_node": per_node, "attribute": attribute, "k": k}
    said |= {"transmission": transmission, "then": then, "epsilon": epsilon, "analyst": analyst}
    with open_curator(config, tell=tell_reading) as curator:
        network = curator.graph(name)
        if dry_run:
            _show(network.explain(verb, **said), as_json=as_json)
            return
        answer = network.ask(verb, **said)
    if as_json:
        print_json(answer.facts)
        return
    typer.echo(repr(answer))
    for line in _numbers(answer.outcome):
        typer.echo(f"{INDENT}{line}")


def _numbers(outcome: Outcome) -> Iterator[str]:
    """What is behind the one number that was told, a line each."""
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
    screen.print("", labelled({label: told for label, told in lines.items() if told}), sep="\n")
    screen.print(indented("nothing was spent", style="dim"))
    screen.print()
