"""`discreet demo`: one true count and ten private answers to it, then the longer demonstration."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from discreet.cli.demonstration.demo_story import print_story
from discreet.cli.terminal.terminal_tables import labelled, open_screen
from discreet.core.loss import Loss
from discreet.mechanisms import Laplace
from discreet.noise import RandomBits

_TRUE_COUNT = 412  # people with flu in a clinic that does not exist
_EPSILON = 0.5
_CONFIDENCE = 0.95
_HALF_BAR = 20


def show_demo() -> None:
    """Show private answers, an attack, and what happens when a budget runs out."""
    console = open_screen()
    mechanism = Laplace(sensitivity=1, epsilon=_EPSILON)
    low, high = mechanism.interval(_CONFIDENCE)
    bits = RandomBits()
    answers = [mechanism.release(_TRUE_COUNT, bits) for _ in range(10)]
    covered = sum(answer + low <= _TRUE_COUNT <= answer + high for answer in answers)

    ten = Loss(10 * _EPSILON)
    fields = {
        "error": f"± {high:g} in {100 * _CONFIDENCE:g} of 100 answers; {covered} of these 10 cover the true count",
        "noise": f"discrete Laplace, scale {float(mechanism.scale):g}: exact, from AES keyed by the system",
        "price": f"ε {_EPSILON:g} for each answer, {ten.epsilon:g} for the ten together",
        "in words": f"from one answer, {Loss(_EPSILON).in_words()}; "
        f"from all ten, {100 * ten.best_guess:.0f} % of the time: that is why there is a budget",
        "yours": "import discreet; discreet.laplace(42, sensitivity=1, epsilon=0.5)",
    }
    console.print()
    console.print(f"  A clinic counts [bold]{_TRUE_COUNT}[/] people with flu. Outside, nobody may know the exact")
    console.print("  number: it changes by one when you walk in. Ten private answers instead:")
    console.print()
    console.print(_table(answers, high))
    console.print()
    console.print(labelled({label: [fact] for label, fact in fields.items()}))
    console.print()
    print_story(console)


def _table(answers: list[int], width: float) -> Table:
    table = Table(box=None, padding=(0, 2), show_header=True, header_style="dim")
    table.add_column("answer", justify="right")
    table.add_column("±", justify="left")
    table.add_column(f"the interval, the true count at │  (one column is {_column_width(width):g})")
    for answer in answers:
        table.add_row(str(answer), f"± {width:g}", _bar(answer - _TRUE_COUNT, width))
    return table


def _column_width(width: float) -> float:
    return max(1.0, width / 6)


def _bar(offset: int, width: float) -> Text:
    """The interval as ├──●──┤ around the answer; a true count that it misses is marked red."""
    column = _column_width(width)
    cells = [" "] * (2 * _HALF_BAR + 1)
    first, middle, last = (
        min(2 * _HALF_BAR, max(0, _HALF_BAR + round(end / column))) for end in (offset - width, offset, offset + width)
    )
    cells[first : last + 1] = "─" * (last - first + 1)
    cells[first], cells[last], cells[middle] = "├", "┤", "●"
    missed = abs(offset) > width
    bar = Text("".join(cells))
    if cells[_HALF_BAR] in " ─":
        bar = Text("".join(cells[:_HALF_BAR]) + ("│" if missed else "┼") + "".join(cells[_HALF_BAR + 1 :]))
    bar.stylize("red" if missed else "green")
    return bar
