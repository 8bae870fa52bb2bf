"""Render an answer, an explanation and their price for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.catalog import EACH_ROW
from discreet.cli.terminal.printing import INDENT
from discreet.cli.terminal.terminal_tables import GAP, bar, beside, indented, labelled, printable
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE, amount, figure, plus_minus
from discreet.results.answer_base import AnswerBase
from discreet.results.models import Balance, Explanation, GroupFacts, MeasureFacts

_Row: TypeAlias = Mapping[str, Any]
_OFTEN = f"in {100 * CONFIDENCE:g} of 100 answers"


def show_answer(screen: Console, answer: AnswerBase, explanation: Explanation, analyst: str | None) -> None:
    """The table with its ±, what a person is, and what it cost."""
    show_table(screen, answer)
    covers = f"{_OFTEN} ± contains the bounded value; ± covers the noise, not rows dropped by contribution bounds"
    screen.print(indented(covers, style="dim"))
    screen.print()
    screen.print(beside([Text(_person(explanation)), Text(_mechanisms(explanation))], screen.width))
    for note in answer.notes:
        screen.print(indented(printable(note)))
    price = "free: asked before" if answer.replayed else f"paid {_written(answer.loss)}"
    accounts = _spent(_binding(explanation.accounts, analyst))
    screen.print(beside([Text(price), *accounts], screen.width))
    screen.print()


def show_table(screen: Console, answer: AnswerBase) -> None:
    """The rows with their ±."""
    show_rows(screen, answer.columns, answer.rows, answer.half_widths(CONFIDENCE))


def show_rows(screen: Console, columns: Sequence[str], rows: Sequence[_Row], widths: Sequence[_Row]) -> None:
    """Rows by column, each noisy number with its ± from the same place of `widths`."""
    noisy = {name: any(row[name] is not None for row in widths) for name in columns}
    table = Table(box=None, padding=0, header_style="dim")
    table.add_column("", width=len(INDENT))
    for name in columns:
        table.add_column(printable(name), justify="right" if noisy[name] else "left")
        table.add_column("", min_width=len(GAP))
    for row, width in zip(rows, widths, strict=True):
        cells = [Text("")]
        for name in columns:
            beside = f" {plus_minus(row[name], width[name])}{GAP}" if noisy[name] else ""
            cells += [Text(figure(row[name], width[name])), Text(beside, style="dim")]
        table.add_row(*cells)
    screen.print(table)
    screen.print()


def show_explanation(screen: Console, explanation: Explanation, analyst: str | None) -> None:
    """Print the explanation of a query."""
    screen.print("", labelled(_explanation_lines(explanation, analyst)), sep="\n")
    screen.print(indented("nothing was spent", style="dim"))
    screen.print()


def _explanation_lines(explanation: Explanation, analyst: str | None) -> dict[str, list[str]]:
    """What there is to say, by what it is about."""
    tables = ", ".join(explanation.tables)
    return {
        "reads": [f"{tables}; {explanation.bounding}; data version {explanation.data_version}"],
        "groups": [_group(key) for key in explanation.keys] or ["one"],
        "measure": [_measure(measure) for measure in explanation.measures],
        "error": [_error(explanation)],
        "note": list(explanation.notes),
        "price": [_price(explanation, analyst)],
        "in words": [explanation.in_words],
    }


def _group(key: GroupFacts) -> str:
    return f"{key.name}: " + ("selected privately" if key.values is None else f"{key.values} known values, all appear")


def _measure(measure: MeasureFacts) -> str:
    """One person moves it by so much, so noise of such a scale is added."""
    by = f" by {', '.join(measure.by)}" if measure.by else ""
    moved = f"{measure.measure}{by}: one person moves it by {amount(measure.sensitivity)}"
    if measure.ranks is not None:
        ranks = plus_minus(0, measure.ranks)
        return f"{moved} ranks; {measure.mechanism}, {ranks} ranks, and two more draws for its interval"
    if measure.scale is None:
        best = amount(measure.half_width or 0)
        return f"{moved}; {measure.mechanism}, within {best} of the best {_OFTEN}"
    return f"{moved}; {measure.mechanism}, scale {amount(measure.scale)}, {plus_minus(0, measure.half_width)}"


def _error(explanation: Explanation) -> str:
    """The ± of every column whose ± is known before anything is read."""
    known = {name: width for name, width in explanation.half_widths.items() if width is not None}
    shown = ", ".join(f"{name} {plus_minus(0, width)}" for name, width in known.items())
    return f"{shown} {_OFTEN}" if known else "depends on the data; shown with the answer"


def _price(explanation: Explanation, analyst: str | None) -> str:
    loss, price = explanation.loss, _written(explanation.loss)
    if explanation.asked_before:
        return f"{price}; free: asked before"
    if explanation.beyond:
        return f"{price}; would be refused now: {', '.join(explanation.beyond)} cannot pay it"
    left = (f"{account.account} {amount(account.after(loss))}" for account in _binding(explanation.accounts, analyst))
    return f"{price}; leaves {', '.join(left)}"


def _written(loss: Loss) -> str:
    return f"ε {amount(loss.epsilon)}" + (f", δ {amount(loss.delta)}" if loss.delta else "")


def _person(explanation: Explanation) -> str:
    person, rows = explanation.person, explanation.rows_per_person
    unit = "one row" if person == EACH_ROW.column else f"all rows of one {person} (at most {rows:,})"
    return f"one person = {unit}"


def _mechanisms(explanation: Explanation) -> str:
    kinds, count = sorted({measure.mechanism for measure in explanation.measures}), len(explanation.measures)
    return f"{', '.join(kinds)}, {count} measure{'' if count == 1 else 's'}" if kinds else "public, no noise"


def _spent(accounts: Sequence[Balance]) -> list[Text]:
    """What each account has spent of its cap, names as wide as each other."""
    longest = max((len(account.account) for account in accounts), default=0)
    return [
        Text(f"{account.account:{longest}} ")
        + bar(account.spent.epsilon, account.cap.epsilon)
        + Text(f" {amount(account.spent.epsilon)} of {amount(account.cap.epsilon)}")
        for account in accounts
    ]


def _binding(accounts: Sequence[Balance], analyst: str | None) -> list[Balance]:
    """The accounts that a query binds, the analyst's own first."""
    return [account for name in (analyst, "dataset") for account in accounts if account.account == name]
