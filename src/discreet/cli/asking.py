"""`discreet ask` and `discreet explain`: a private answer with its ±, and a price before it is paid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.answering.face import CONFIDENCE, Balance, Explanation, GroupFacts, MeasureFacts, Shown
from discreet.answering.wire import answer_facts, facts_of
from discreet.catalog import EACH_ROW
from discreet.cli.books import AnalystOption, bar
from discreet.cli.progress import tell_reading
from discreet.curator import open_curator
from discreet.errors import BadInput
from discreet.figures import figure, plus_minus

Question = Annotated[str, typer.Argument(help="One SELECT statement.")]
Mechanism = Annotated[str | None, typer.Option("--mechanism", help="laplace, or gaussian.")]
Parameter = Annotated[list[str] | None, typer.Option("--param", help="name=value for :name in the question.")]
MaybeEpsilon = Annotated[float | None, typer.Option("--epsilon", help="What the answer may cost; there is no default.")]
Within = Annotated[float | None, typer.Option("--within", help="Or how exact: ± this much, with --confidence.")]
Confidence = Annotated[float | None, typer.Option("--confidence", help="In which share of all answers, such as 0.95.")]
Delta = Annotated[float | None, typer.Option("--delta", help="For groups whose values are not declared.")]
Config = Annotated[Path, typer.Option("--config", help="The catalog.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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
    config: Config = Path("discreet.toml"),
    as_json: AsJson = False,
) -> None:
    """Ask a question: pays, answers with ±, and never pays twice for the same question."""
    price: dict[str, Any] = {"epsilon": epsilon, "within": within, "confidence": confidence, "delta": delta}
    details = {**price, "mechanism": mechanism, "parameters": _parameters(parameter), "analyst": analyst}
    with open_curator(config, tell=tell_reading) as curator:
        answer = curator.ask(sql, **details)
        if as_json:
            typer.echo(json.dumps({**answer_facts(answer, CONFIDENCE), "replayed": answer.replayed}))
            return
        console = Console(highlight=False)
        console.print()
        show_answer(console, answer, curator.explain(sql, **details), analyst)


def show_table(console: Console, answer: Shown) -> None:
    """The rows with their ±."""
    console.print(_table(answer.columns, answer.rows, answer.half_widths(CONFIDENCE)))
    console.print()


def show_answer(console: Console, answer: Shown, explanation: Explanation, analyst: str | None) -> None:
    """The table with its ±, what a person is, and what it cost."""
    show_table(console, answer)
    says = (
        f"  in {100 * CONFIDENCE:g} of 100 answers the bounded value is inside ±, "
        "which covers noise, not rows cut by limits"
    )
    console.print(Text(says, style="dim"))
    console.print()
    console.print(_read(explanation))
    for note in answer.notes:
        console.print(Text(f"  {note}"))
    price = "free: asked before" if answer.replayed else f"paid ε {answer.loss.epsilon:.4g}"
    console.print(Text(f"  {price}    ") + _balance(explanation.accounts, analyst))
    console.print()


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
    config: Config = Path("discreet.toml"),
    as_json: AsJson = False,
) -> None:
    """Say what a question would read, measure and cost. Spends nothing and looks at no protected row."""
    with open_curator(config, tell=tell_reading) as curator:
        explanation = curator.explain(
            sql,
            epsilon=epsilon,
            within=within,
            confidence=confidence,
            delta=delta,
            mechanism=mechanism,
            parameters=_parameters(parameter),
            analyst=analyst,
        )
    if as_json:
        typer.echo(json.dumps(facts_of(explanation)))
        return
    grid = Table.grid(padding=(0, 2))
    for style in ("", "dim", ""):
        grid.add_column(style=style)
    for label, lines in _lines(explanation, analyst).items():
        for line in lines:
            grid.add_row("", label, Text(line))
    Console(highlight=False).print("", grid, Text("  nothing was spent", style="dim"), "", sep="\n")


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


def _lines(explanation: Explanation, analyst: str | None) -> dict[str, list[str]]:
    """What is told of a question, by what it is about."""
    loss = explanation.loss
    left = [f"{account.account} {account.after(loss):.2f}" for account in _bound(explanation.accounts, analyst)]
    price = f"ε {loss.epsilon:.4g}" + (f", δ {loss.delta:g}" if loss.delta else "")
    leaves = "free: asked before" if explanation.asked_before else f"leaves {', '.join(left)}"
    tables = ", ".join(explanation.tables)
    return {
        "reads": [f"{tables}; {explanation.bounding}; data version {explanation.data_version}"],
        "groups": [_group(key) for key in explanation.keys] or ["one"],
        "measure": [_measure(measure) for measure in explanation.measures],
        "note": list(explanation.notes),
        "price": [f"{price}; {leaves}"],
        "in words": [explanation.in_words],
    }


def _group(key: GroupFacts) -> str:
    return f"{key.name}: " + ("selected privately" if key.values is None else f"{key.values} known values, all appear")


def _measure(measure: MeasureFacts) -> str:
    """One person moves it by so much, so noise of such a scale is added, which gives such a ±."""
    by = f" by {', '.join(measure.by)}" if measure.by else ""
    moved = f"{measure.measure}{by}: one person moves it by {measure.sensitivity:,g}"
    if measure.ranks is not None:
        return f"{moved} ranks; {measure.mechanism}, ± {measure.ranks:,.0f} ranks, two more draws for its interval"
    if measure.scale is None:
        return f"{moved}; {measure.mechanism}, within {measure.half_width:,g} of the best in {100 * CONFIDENCE:g} of 100 answers"
    return (
        f"{moved}; {measure.mechanism}, scale {measure.scale:,g}, "
        f"± {measure.half_width:,g} in {100 * CONFIDENCE:g} of 100 answers"
    )


def _table(columns: list[str], rows: list[dict[str, Any]], widths: list[dict[str, float | None]]) -> Table:
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for name in columns:
        noisy = any(row[name] is not None for row in widths)
        table.add_column(Text(name), justify="right" if noisy else "left")
        if noisy:
            table.add_column("")
    for row, width in zip(rows, widths, strict=True):
        cells: list[Text] = []
        for name in columns:
            cells.append(Text(figure(row[name], width[name])))
            if any(other[name] is not None for other in widths):
                cells.append(Text(plus_minus(row[name], width[name]), style="dim"))
        table.add_row(*cells)
    return table


def _read(explanation: Explanation) -> Text:
    kinds = sorted({measure.mechanism for measure in explanation.measures})
    count = len(explanation.measures)
    measures = f"{count} measure" + ("" if count == 1 else "s")
    person, rows = explanation.person, explanation.rows_per_person
    how = f"{', '.join(kinds)}, {measures}" if kinds else "public, no noise"
    unit = "one row" if person == EACH_ROW.column else f"all rows of one {person} (at most {rows:,})"
    return Text(f"  one person = {unit}    {how}")


def _balance(accounts: Sequence[Balance], analyst: str | None) -> Text:
    line = Text()
    for account in _bound(accounts, analyst):
        spent, cap = account.spent.epsilon, account.cap.epsilon
        line += Text(f"{account.account} ") + bar(spent, cap) + Text(f" {spent:.2f} of {cap:.2f}    ")
    return line


def _bound(accounts: Sequence[Balance], analyst: str | None) -> list[Balance]:
    """The accounts that a question binds."""
    return [account for account in accounts if account.account in ("dataset", analyst)]
