"""An answer in a terminal and in a notebook: rows with ±, bars with intervals, and the cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from discreet.core.number_format import figure, plus_minus
from discreet.results.interval_bars import Scale, is_number

if TYPE_CHECKING:
    from discreet.results.answer_base import AnswerBase

Widths = Sequence[Mapping[str, float | None]]
_MOST_ROWS = 40
_MOST_HTML_ROWS = 500
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"


def text_of(answer: AnswerBase, widths: Widths, *, level: float) -> str:
    """Return a table with aligned columns; below it the meaning of ±, the cost, and notes."""
    noisy = noisy_columns(answer.columns, widths)
    shown = list(zip(answer.rows, widths, strict=True))[:_MOST_ROWS]
    columns = []
    for name in answer.columns:
        columns.append(_aligned([name, *(figure(row[name], width[name]) for row, width in shown)], right=name in noisy))
        if name in noisy:
            columns.append(_aligned(["", *(plus_minus(row[name], width[name]) for row, width in shown)], right=False))
    lines = ["  " + "  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    return "\n".join([*lines, "", *(f"  {line}" for line in _words(answer, _MOST_ROWS, level=level))])


def html_of(answer: AnswerBase, widths: Widths, intervals: Sequence[Mapping[str, Any]], *, level: float) -> str:
    """Return the same for a notebook, with a bar and an interval for every number. The HTML loads nothing."""
    noisy = noisy_columns(answer.columns, widths)
    scales = {name: Scale.of([row[name] for row in answer.rows], [row[name] for row in intervals]) for name in noisy}
    head = "".join(f'<th colspan="{3 if name in noisy else 1}">{escape(name)}</th>' for name in answer.columns)
    body = []
    for row, width, ends in list(zip(answer.rows, widths, intervals, strict=True))[:_MOST_HTML_ROWS]:
        cells = []
        for name in answer.columns:
            style = f' style="{_NUMBER}"' if name in noisy else ' style="text-align:left"'
            cells.append(f"<td{style}>{escape(figure(row[name], width[name]))}</td>")
            if name in noisy:
                cells.append(f'<td style="{_NUMBER};opacity:.7">{escape(plus_minus(row[name], width[name]))}</td>')
                cells.append(f"<td>{_bar(scales[name], row[name], ends[name])}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    words = "".join(
        f'<div style="opacity:.7">{escape(line)}</div>' for line in _words(answer, _MOST_HTML_ROWS, level=level)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{words}"


def noisy_columns(columns: Sequence[str], widths: Widths) -> list[str]:
    """Return the columns with a ± in some row."""
    return [name for name in columns if any(row[name] is not None for row in widths)]


def _words(answer: AnswerBase, most: int, *, level: float) -> list[str]:
    more = [f"… {len(answer) - most:,} more rows"] if len(answer) > most else []
    price = "free: asked before" if answer.replayed else f"paid ε {answer.loss.epsilon:.4g}"
    delta = f", δ {answer.loss.delta:g}" if answer.loss.delta and not answer.replayed else ""
    inside = f"in {100 * level:g} of 100 answers the bounded value is inside ±"
    return [*more, f"{inside}; {price}{delta}", *answer.notes]


def _aligned(cells: Sequence[str], *, right: bool) -> list[str]:
    wide = max(cell_len(cell) for cell in cells)
    spaces = [" " * (wide - cell_len(cell)) for cell in cells]
    return [space + cell if right else cell + space for cell, space in zip(cells, spaces, strict=True)]


def _bar(scale: Scale, value: Any, ends: Any) -> str:
    """Return a bar of 120 by 14 points from 0 to the value, with a line for the interval."""
    if not is_number(value):
        return ""
    zero, end = 120 * scale.at(0), 120 * scale.at(value)
    low, high = (120 * scale.at(side) for side in ends) if ends is not None else (end, end)
    return (
        '<svg width="120" height="14" aria-hidden="true">'
        f'<rect x="{min(zero, end):.1f}" y="2" width="{abs(end - zero):.1f}" height="10" fill="#0f766e" opacity=".45"/>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="7" y2="7" stroke="currentColor" stroke-width="1.5"/></svg>'
    )
