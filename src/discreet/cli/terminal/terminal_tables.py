"""Tables and bars in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from discreet.cli.terminal.printing import INDENT, width_of

_BAR = 16
GAP = "    "
"""Between what stands in one line and is not one thing."""


def open_screen(*, on_stderr: bool = False) -> Console:
    """Where things are shown; as wide as the terminal, or as they need where there is none."""
    return Console(highlight=False, stderr=on_stderr, width=width_of(sys.stderr if on_stderr else sys.stdout))


def plain_table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """A table without lines, whose headings are dim; the columns in `right` hold numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", width=0)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left")
    return table


def add_row(table: Table, *cells: str | Text) -> None:
    """Cells as plain text: what an analyst wrote must not be read as markup, nor move the cursor."""
    table.add_row("", *(cell if isinstance(cell, Text) else printable(cell) for cell in cells))


def printable(text: str) -> Text:
    """A text that cannot move the cursor."""
    return Text("".join(sign if sign.isprintable() else " " for sign in text))


def indented(text: str | Text, *, by: int = len(INDENT), style: str = "") -> Padding:
    """A paragraph whose lines begin below each other."""
    return Padding(text if isinstance(text, Text) else Text(text), (0, 0, 0, by), style=style, expand=False)


@dataclass(frozen=True, slots=True)
class _WithoutBlanks:
    """The same without blanks at the ends of its lines: cells of a table are filled up to the widest."""

    inside: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self.inside, options, pad=False):
            while line and not line[-1].text.strip():
                line.pop()
            if line:
                line[-1] = Segment(line[-1].text.rstrip(), line[-1].style)
            yield from line
            yield Segment.line()


def labelled(fields: dict[str, list[str]]) -> RenderableType:
    """What is said about something: the label once, dim, and its lines beside it."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=0)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for label, lines in fields.items():
        for number, line in enumerate(lines):
            grid.add_row("", "" if number else label, Text(line))
    return _WithoutBlanks(grid)


def beside(parts: Sequence[Text], width: int) -> Text:
    """Parts in one line if there is room, else the others below each other, where the second would begin."""
    together = Text(INDENT) + Text(GAP).join(parts)
    if together.cell_len <= width:
        return together
    indent = len(INDENT) + (parts[0].cell_len + len(GAP) if _fits(parts, width) else 0)
    first = Text(INDENT) + parts[0] + Text(GAP if indent > len(INDENT) else f"\n{INDENT}")
    return first + Text("\n" + " " * indent).join(parts[1:])


def _fits(parts: Sequence[Text], width: int) -> bool:
    widest = max(part.cell_len for part in parts[1:])
    return len(INDENT) + parts[0].cell_len + len(GAP) + widest <= width


def bar(spent: float, cap: float) -> Text:
    """How much of a cap is gone: ████░░░░."""
    full = min(_BAR, round(_BAR * spent / cap))
    return Text("█" * full, style="cyan") + Text("░" * (_BAR - full), style="dim")
