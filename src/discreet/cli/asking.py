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

from discreet.answering.answer import Answer
from discreet.cli.books import AnalystOption, bar
from discreet.curator import Curator, open_curator
from discreet.errors import BadInput
from discreet.exact import exact
from discreet.mechanisms import Quantile
from discreet.sql import Plan
from discreet.sql.plan import GroupSet, Kind

_CONFIDENCE = 0.95

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
    curator = open_curator(config)
    answer = curator.ask(
        sql,
        epsilon=epsilon,
        within=within,
        confidence=confidence,
        delta=delta,
        mechanism=mechanism,
        parameters=_parameters(parameter),
        analyst=analyst,
    )
    widths = answer.half_widths(_CONFIDENCE)
    if as_json:
        known = [{name: None if w is None or math.isinf(w) else w for name, w in row.items()} for row in widths]
        facts = {
            "columns": answer.columns,
            "rows": answer.rows,
            "half_widths": known,
            "confidence": _CONFIDENCE,
            "loss": {"epsilon": answer.loss.epsilon, "delta": answer.loss.delta},
            "replayed": answer.replayed,
            "receipt": answer.receipt,
        }
        typer.echo(json.dumps(facts))
        return
    console = Console(highlight=False)
    console.print()
    show_answer(console, curator, answer, analyst)


def show_table(console: Console, answer: Answer) -> None:
    """The rows with their ±."""
    console.print(_table(answer.columns, answer.rows, answer.half_widths(_CONFIDENCE)))
    console.print()


def show_answer(console: Console, curator: Curator, answer: Answer, analyst: str | None) -> None:
    """The table with its ±, what a person is, and what it cost."""
    show_table(console, answer)
    says = (
        f"  in {100 * _CONFIDENCE:g} of 100 answers the bounded value is inside ±, "
        "which covers noise, not rows cut by limits"
    )
    console.print(Text(says, style="dim"))
    console.print()
    console.print(_read(answer.plan))
    price = "free: asked before" if answer.replayed else f"paid ε {answer.loss.epsilon:.4g}"
    console.print(Text(f"  {price}    ") + _balance(curator, analyst))
    console.print()


def explain(
    sql: Question,
    *,
    epsilon: MaybeEpsilon = None,
    delta: Delta = None,
    mechanism: Mechanism = None,
    parameter: Parameter = None,
    analyst: AnalystOption = None,
    config: Config = Path("discreet.toml"),
    as_json: AsJson = False,
) -> None:
    """Say what a question would read, measure and cost. Spends nothing and looks at no protected row."""
    with open_curator(config) as curator:
        plan = curator.plan(sql, epsilon=epsilon, delta=delta, mechanism=mechanism, parameters=_parameters(parameter))
        facts = _facts(curator, plan, analyst)
    if as_json:
        typer.echo(json.dumps(facts))
        return
    grid = Table.grid(padding=(0, 2))
    for style in ("", "dim", ""):
        grid.add_column(style=style)
    for label, fact in facts.items():
        for line in fact if isinstance(fact, list) else [fact]:
            grid.add_row("", label, Text(str(line)))
    Console(highlight=False).print("", grid, Text("  nothing was spent", style="dim"), "", sep="\n")


def _parameters(given: list[str] | None) -> dict[str, Any]:
    """name=value: a number where it reads as one, text otherwise."""
    found: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput("A parameter is name=value.", next_step="Write --param limit=100.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _facts(curator: Curator, plan: Plan, analyst: str | None) -> dict[str, Any]:
    relation, loss = plan.relation, curator.loss(plan)
    cut = relation.cut
    how = "bounded once, in the snapshot" if cut is None else "cut by this question, after its WHERE"
    rows = f"at most {relation.rows_per_person} rows of a {relation.unit}"
    if cut is not None and cut.groups is not None:
        rows += f", in {cut.groups} groups of {cut.rows_per_group}"
    return {
        "reads": f"{', '.join(relation.tables)}; {rows}: {how}; data version {curator.version}",
        "groups": [_groups(key.name, key.domain) for key in plan.keys] or "one",
        "measure": [line for one in plan.sets for line in _measures(plan, one)],
        **({"note": list(plan.notes)} if plan.notes else {}),
        "price": f"ε {loss.epsilon:.4g}"
        + (f", δ {loss.delta:g}" if loss.delta else "")
        + "; leaves "
        + ", ".join(
            f"{name} {max(cap - spent - loss.epsilon, 0):.2f}" for name, spent, cap in _accounts(curator, analyst)
        ),
        "in words": loss.in_words(),
    }


def _groups(name: str, domain: tuple[Any, ...] | None) -> str:
    return f"{name}: selected privately" if domain is None else f"{name}: {len(domain)} known values, all appear"


def _measures(plan: Plan, one: GroupSet) -> list[str]:
    grouped = "" if len(plan.sets) == 1 else f"by {', '.join(plan.keys[i].name for i in one.keys) or 'nothing'}: "
    lines = []
    for measure, mechanisms in zip(plan.measures, one.mechanisms, strict=True):
        mechanism = mechanisms[0]
        kind = f"{type(mechanism).__name__}"
        if isinstance(mechanism, Quantile):
            about = f"± {mechanism.error(_CONFIDENCE):,.0f} ranks; two more draws for its interval"
        else:
            step = measure.step if measure.kind is Kind.TOTAL else 1
            about = f"± {float(exact(mechanism.error(_CONFIDENCE)) * step):,g}"
        lines.append(f"{grouped}{measure.kind.value}: {kind}, {about} in 95 of 100 answers")
    return lines


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
    """As many digits as the uncertainty is worth; keys, which have none, as they are."""
    if not isinstance(value, int | float) or isinstance(value, bool) or width is None:
        return "—" if value is None else str(value)
    whole = width >= 10 or (float(value).is_integer() and float(width).is_integer())
    return f"{value:,.0f}" if whole else f"{value:,.2f}"


def _read(plan: Plan) -> Text:
    unit, rows = plan.relation.unit, plan.relation.rows_per_person
    kinds = sorted({type(m).__name__ for one in plan.sets for several in one.mechanisms for m in several})
    count = sum(len(one.mechanisms) for one in plan.sets)
    measures = f"{count} measure" + ("" if count == 1 else "s")
    said = f"  one person = all rows of one {unit} (at most {rows})    {', '.join(kinds)}, {measures}"
    return Text("\n".join([said, *(f"  {note}" for note in plan.notes)]))


def _balance(curator: Curator, analyst: str | None) -> Text:
    line = Text()
    for name, spent, cap in _accounts(curator, analyst):
        line += Text(f"{name} ") + bar(spent, cap) + Text(f" {spent:.2f} of {cap:.2f}    ")
    return line


def _accounts(curator: Curator, analyst: str | None) -> list[tuple[str, float, float]]:
    """Name, spent and cap of the accounts that a question binds."""
    found = [(account.name.removeprefix("analyst:"), account) for account in curator.ledger.accounts()]
    return [(n, a.spent.epsilon, a.cap.epsilon) for n, a in found if n in ("dataset", analyst)]
