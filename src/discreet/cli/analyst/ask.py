"""`discreet ask` and `discreet explain`: a private answer with its ±, and a price before it is paid."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from discreet.api.opening import open_curator
from discreet.cli.terminal.answer_text import show_answer, show_explanation
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.read_progress import tell_reading
from discreet.cli.terminal.terminal_tables import open_screen
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadInput
from discreet.results.answer_json import answer_facts
from discreet.results.models import facts_of

Question = Annotated[str, typer.Argument(help="One SELECT statement.")]
Mechanism = Annotated[
    str | None,
    typer.Option("--mechanism", help="laplace, or gaussian.", autocompletion=lambda: ["laplace", "gaussian"]),
]
Parameter = Annotated[list[str] | None, typer.Option("--param", help="name=value for :name in the question.")]
MaybeEpsilon = Annotated[float | None, typer.Option("--epsilon", help="What the answer may cost; there is no default.")]
Within = Annotated[float | None, typer.Option("--within", help="Or how exact: ± this much.")]
Confidence = Annotated[
    float | None,
    typer.Option("--confidence", help=f"In which share of all answers --within holds; {CONFIDENCE} unless said."),
]
Delta = Annotated[float | None, typer.Option("--delta", help="For groups whose values are not declared.")]


def ask(
    sql: Question,
    *,
    epsilon: MaybeEpsilon = None,
    within: Within = None,
    confidence: Confidence = None,
    delta: Delta = None,
    mechanism: Mechanism = None,
    parameter: Parameter = None,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Ask a question: pays, answers with ±, and never pays twice for the same question."""
    price = _price(epsilon, within, confidence, delta)
    details = {**price, "mechanism": mechanism, "parameters": _parameters(parameter), "analyst": analyst}
    with open_curator(config, tell=tell_reading) as curator:
        answer = curator.ask(sql, **details)
        if as_json:
            print_json({**answer_facts(answer, CONFIDENCE), "replayed": answer.replayed})
        else:
            typer.echo()
            show_answer(open_screen(), answer, curator.explain(sql, **details), analyst)


def explain(
    sql: Question,
    *,
    epsilon: MaybeEpsilon = None,
    within: Within = None,
    confidence: Confidence = None,
    delta: Delta = None,
    mechanism: Mechanism = None,
    parameter: Parameter = None,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Say what a question would read, measure and cost. Spends nothing and looks at no protected row."""
    price = _price(epsilon, within, confidence, delta)
    details = {**price, "mechanism": mechanism, "parameters": _parameters(parameter), "analyst": analyst}
    with open_curator(config, tell=tell_reading) as curator:
        explanation = curator.explain(sql, **details)
    if as_json:
        print_json(facts_of(explanation))
    else:
        show_explanation(open_screen(), explanation, analyst)


def _price(
    epsilon: float | None, within: float | None, confidence: float | None, delta: float | None
) -> dict[str, Any]:
    """What the answer may cost, or how exact it is to be: then as often as every ± that is shown."""
    often = CONFIDENCE if within is not None and confidence is None else confidence
    return {"epsilon": epsilon, "within": within, "confidence": often, "delta": delta}


def _parameters(given: list[str] | None) -> dict[str, Any]:
    """name=value: a number where it reads as one, text otherwise."""
    read: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput("A parameter is name=value.", next_step="Write --param limit=100.")
        try:
            read[name] = json.loads(value)
        except ValueError:
            read[name] = value
    return read
