"""Draw values and their intervals as bars, in SVG. No value is drawn without its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from discreet.accounting.loss_plots import Picture
from discreet.core.number_format import figure, plus_minus

if TYPE_CHECKING:
    from discreet.results.answer_base import AnswerBase

_MOST_ROWS = 60
_LEFT, _WIDTH, _TOP, _ROW, _BAR = 170, 360, 30, 24, 14
_WHOLE, _LONGEST = _LEFT + _WIDTH + 150, 24
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:currentColor}.n{font-variant-numeric:tabular-nums;opacity:.75}"
    ".bar{fill:#0f766e;opacity:.45}.whisker,.zero{stroke:currentColor;stroke-width:1.5}.zero{opacity:.25}"
)


def is_number(value: Any) -> bool:
    """Return whether a cell can be drawn."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a column: from its lowest to its highest end, including 0."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[Any], intervals: Sequence[Any]) -> Self:
        """Return the scale for values and the finite ends of intervals."""
        ends = [end for interval in intervals if interval is not None for end in interval]
        seen = [float(number) for number in (0, *values, *ends) if is_number(number)]
        return cls(min(seen), max(seen))

    def at(self, value: float) -> float:
        """Return the position of a value from 0 to 1, clamped to the scale."""
        if self.high == self.low:
            return 0.0
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


class Cell(NamedTuple):
    """A noisy number of an answer: value, ± and ends of the interval."""

    value: Any
    width: float | None
    ends: Any


def picture_of(
    answer: AnswerBase, widths: Sequence[Mapping[str, Any]], intervals: Sequence[Mapping[str, Any]]
) -> Picture:
    """Draw a panel for every measure with a row for every group: the bar is the value, the line its interval."""
    keys = [name for name in answer.columns if all(row[name] is None for row in widths)]
    labels = [" · ".join(figure(row[key]) for key in keys) for row in answer.rows]
    panels = {}
    for name in answer.columns:
        cells = [
            Cell(row[name], width[name], ends[name])
            for row, width, ends in zip(answer.rows, widths, intervals, strict=True)
        ]
        if any(cell.ends is not None and is_number(cell.value) for cell in cells):
            panels[name] = cells
    return bars(labels, panels)


def bars(labels: Sequence[str], panels: Mapping[str, Sequence[Cell]]) -> Picture:
    """Draw panels that have the same rows."""
    shown, parts, top = labels[:_MOST_ROWS], [], 0
    for name, cells in panels.items():
        parts += _panel(name, shown, cells, top)
        top += _TOP + _ROW * len(shown) + 14
    if len(labels) > len(shown):
        parts.append(f'<text x="8" y="{top + 14}">{len(labels) - len(shown):,} more rows are not drawn</text>')
        top += 24
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WHOLE} {top}" width="{_WHOLE}" height="{top}" role="img" '
        f'aria-label="values with their intervals" color="#334155"><style>{_STYLE}</style>{"".join(parts)}</svg>'
    )


def _panel(name: str, labels: Sequence[str], cells: Sequence[Cell], top: int) -> list[str]:
    scale = Scale.of([cell.value for cell in cells], [cell.ends for cell in cells])
    first, zero = top + _TOP, _LEFT + _WIDTH * scale.at(0)
    parts = [
        f'<text x="{_LEFT}" y="{top + 20}" font-weight="600">{escape(name)}</text>',
        f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="{first}" y2="{first + _ROW * len(labels)}" class="zero"/>',
    ]
    for at, (label, cell) in enumerate(zip(labels, cells, strict=False)):
        y = first + _ROW * at
        parts.append(f'<text x="{_LEFT - 10}" y="{y + 12}" text-anchor="end">{escape(label[:_LONGEST])}</text>')
        said = f"{figure(cell.value, cell.width)} {plus_minus(cell.value, cell.width)}"
        parts.append(f'<text x="{_LEFT + _WIDTH + 10}" y="{y + 12}" class="n">{escape(said)}</text>')
        if is_number(cell.value) and cell.ends is not None:
            end, low, high = (_LEFT + _WIDTH * scale.at(number) for number in (cell.value, *cell.ends))
            parts.append(
                f'<rect x="{min(zero, end):.1f}" y="{y}" width="{abs(end - zero):.1f}" height="{_BAR}" class="bar"/>'
            )
            middle = y + _BAR / 2
            parts.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" class="whisker"/>')
    return parts
