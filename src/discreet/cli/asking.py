"""`discreet ask` and `discreet explain`: a private answer with its ±, and a price before it is paid."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.accounting import Composed
from discreet.answering.answer import Answer
from discreet.cli.books import bar
from discreet.curator import Curator, open_curator
from discreet.exact import exact
from discreet.loss import Loss
from discreet.sql import Plan

_CONFIDENCE = 0.95

Question = Annotated[str, typer.Argument(help="One SELECT statement.")]
Epsilon = Annotated[float, typer.Option("--epsilon", help="What the answer may cost; there is no default.")]
MaybeEpsilon = Annotated[float | None, typer.Option("--epsilon", help="What the answer may cost; there is no default.")]
Within = Annotated[float | None, typer.Option("--within", help="Or how exact: ± this much, with --confidence.")]
Confidence = Annotated[float | None, typer.Option("--confidence", help="In which share of all answers, such as 0.95.")]
Delta = Annotated[float | None, typer.Option("--delta", help="For groups whose values are not declared.")]
Analyst = Annotated[
    str | None, typer.Option("--analyst", envvar="DISCREET_ANALYST", help="Who asks; without, the owner.")
]
Config = Annotated[Path, typer.Option("--config", help="The catalog.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def ask(
    sql: Question,
    *,
    epsilon: MaybeEpsilon = None,
    within: Within = None,
    confidence: Confidence = None,
    delta: Delta = None,
    analyst: Analyst = None,
    config: Config = Path("discreet.toml"),
    as_json: AsJson = False,
) -> None:
    """Ask a question: pays, answers with ±, and never pays twice for the same question."""
    curator = open_curator(config)
    answer = curator.ask(sql, epsilon=epsilon, within=within, confidence=confidence, delta=delta, analyst=analyst)
    widths = answer.half_widths(_CONFIDENCE)
    if as_json:
        known = [{name: None if w is None or math.isinf(w) else w for name, w in row.items()} for row in widths]
        facts = {"columns": answer.columns, "rows": answer.rows, "half_widths": known, "confidence": _CONFIDENCE,
                 "loss": {"epsilon": answer.loss.epsilon, "delta": answer.loss.delta}, "replayed": answer.replayed,
                 "receipt": answer.receipt}  # fmt: skip
        typer.echo(json.dumps(facts))
        return
    console = Console(highlight=False)
    console.print()
    show_answer(console, curator, answer, analyst)


def show_answer(console: Console, curator: Curator, answer: Answer, analyst: str | None) -> None:
    """The table with its ±, what a person is, and what it cost."""
    console.print(_table(answer.columns, answer.rows, answer.half_widths(_CONFIDENCE)))
    console.print(Text(f"  in {100 * _CONFIDENCE:g} of 100 answers the bounded value is inside ±", style="dim"))
    console.print()
    console.print(_read(answer.plan))
    price = "free: asked before" if answer.replayed else f"paid ε {answer.loss.epsilon:.4g}"
    console.print(Text(f"  {price}    ") + _balance(curator, analyst))
    console.print()


def explain(
    sql: Question,
    *,
    epsilon: Epsilon,
    delta: Delta = None,
    analyst: Analyst = None,
    config: Config = Path("discreet.toml"),
    as_json: AsJson = False,
) -> None:
    """Say what a question would read, measure and cost. Spends nothing and looks at no protected row."""
    curator = open_curator(config)
    plan = curator.plan(sql, epsilon=epsilon, delta=delta)
    cost = Composed.of(plan.releases)
    facts = _facts(plan, cost)
    if as_json:
        typer.echo(json.dumps(facts))
        return
    grid = Table.grid(padding=(0, 2))
    for style in ("", "dim", ""):
        grid.add_column(style=style)
    for label, fact in facts.items():
        for line in fact if isinstance(fact, list) else [fact]:
            grid.add_row("", label, Text(str(line)))
    console = Console(highlight=False)
    console.print("", grid, Text("  nothing was spent    ") + _balance(curator, analyst), "", sep="\n")


def _facts(plan: Plan, cost: Composed) -> dict[str, Any]:
    loss = Loss(cost.pure_epsilon, float(cost.delta))
    groups = "selected privately" if plan.groups is None else f"{plan.groups}, all appear"
    return {
        "reads": ", ".join(source.table.name for source in plan.relation.sources)
        + f"; at most {plan.relation.rows_per_person} rows of a person",
        "groups": groups if plan.keys else "one",
        "measure": [
            f"{measure.kind.value}: sensitivity {float(exact(measure.mechanism.sensitivity) * measure.step):,g}, "
            f"± {float(measure.mechanism.error(_CONFIDENCE) * measure.step):,g} in 95 of 100 answers"
            for measure in plan.measures
        ],
        "price": f"ε {loss.epsilon:.4g}" + (f", δ {loss.delta:g}" if loss.delta else ""),
        "in words": loss.in_words(),
    }


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
            cells.append(Text(_number(row[name], width[name])))
            if any(one[name] is not None for one in widths):
                cells.append(Text(f"± {_number(width[name], width[name])}", style="dim"))
        table.add_row(*cells)
    return table


def _number(value: Any, width: float | None) -> str:
    """As many digits as the uncertainty is worth."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "—" if value is None else str(value)
    digits = 0 if width is None or width >= 10 else 2
    return f"{value:,.{digits}f}" if isinstance(value, float) else f"{value:,}"


def _read(plan: Plan) -> Text:
    unit, rows, count = plan.relation.owner[1], plan.relation.rows_per_person, len(plan.measures)
    measures = f"{count} measure" + ("" if count == 1 else "s")
    return Text(f"  one person = all rows of one {unit} (at most {rows})    Laplace, {measures}")


def _balance(curator: Curator, analyst: str | None) -> Text:
    line = Text()
    for account in curator.ledger.accounts():
        name = account.name.removeprefix("analyst:")
        if account.name == "dataset" or name == analyst:
            line += Text(f"{name} ") + bar(account.spent.epsilon, account.cap.epsilon)
            line += Text(f" {account.spent.epsilon:.2f} of {account.cap.epsilon:.2f}    ")
    return line
