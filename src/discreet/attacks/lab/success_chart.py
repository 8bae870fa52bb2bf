"""Charts of attack success as SVG: a bar with its interval, guessing, and the bound."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from discreet.accounting.loss_plots import Picture

if TYPE_CHECKING:
    from discreet.attacks.lab.attack import Series
    from discreet.attacks.lab.result import Result

_LEFT, _WIDTH, _TOP, _ROW, _BAR = 150, 420, 34, 40, 18
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:currentColor}.tick{font-variant-numeric:tabular-nums;opacity:.75}"
    ".grid{stroke:currentColor;opacity:.12}.weak{fill:#be123c}.kept{fill:#0f766e}.whisker{stroke:currentColor;stroke-width:1.5}"
    ".coin{stroke:currentColor;opacity:.5;stroke-dasharray:3 3}.bound{stroke:#b45309;stroke-width:2.5}"
    ".line{fill:none;stroke:#0f766e;stroke-width:2.25;stroke-linejoin:round}"
)


def draw(results: Mapping[str, Result]) -> Picture:
    """Draw one row for each named result."""
    bottom = _TOP + _ROW * len(results)
    parts = [*_scale(bottom)]
    for row, (name, result) in enumerate(results.items()):
        parts += _row(name, result, _TOP + _ROW * row)
    parts += _legend(bottom + 40, bounded=any(one.bound is not None for one in results.values()))
    return _svg(_LEFT + _WIDTH + 60, bottom + 52, "success of the attack", parts)


def draw_series(series: Series) -> Picture:
    """Draw a curve on its own axes."""
    left, size, top = 64, 260, 24
    x_end, y_end = max(series.x) or 1, max(series.y) or 1
    points = "L".join(
        f"{left + size * x / x_end:.1f},{top + size * (1 - y / y_end):.1f}"
        for x, y in zip(series.x, series.y, strict=True)
    )
    parts = [
        f'<text x="{left}" y="14">{escape(series.title)}</text>',
        f'<line x1="{left}" x2="{left + size}" y1="{top + size}" y2="{top + size}" class="grid"/>',
        f'<line x1="{left}" x2="{left}" y1="{top}" y2="{top + size}" class="grid"/>',
        f'<path d="M{points}" class="line"/>',
        f'<text x="{left - 8}" y="{top + 4}" text-anchor="end" class="tick">{y_end:.3g}</text>',
        f'<text x="{left + size}" y="{top + size + 18}" text-anchor="end" class="tick">{x_end:.3g}</text>',
    ]
    return _svg(left + size + 24, top + size + 30, series.title, parts)


def _scale(bottom: int) -> list[str]:
    parts = []
    for percent in (0, 25, 50, 75, 100):
        x = _at(percent / 100)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 8}" y2="{bottom}" class="grid"/>')
        parts.append(f'<text x="{x:.1f}" y="{_TOP - 14}" text-anchor="middle" class="tick">{percent} %</text>')
    return parts


def _row(name: str, result: Result, top: int) -> list[str]:
    low, high = result.interval()
    middle, end = top + _BAR / 2, top + _BAR
    length = _at(result.success) - _LEFT
    kind = "weak" if result.bound is None or not result.holds() else "kept"
    parts = [
        f'<text x="{_LEFT - 10}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>',
        f'<rect x="{_LEFT}" y="{top}" width="{length:.1f}" height="{_BAR}" rx="3" class="{kind}"/>',
        f'<line x1="{_at(low):.1f}" x2="{_at(high):.1f}" y1="{middle}" y2="{middle}" class="whisker"/>',
        _upright(result.baseline, top - 4, end + 4, "coin"),
        f'<text x="{_LEFT + _WIDTH + 10}" y="{middle + 4}" class="tick">{100 * result.success:.1f} %</text>',
    ]
    if result.bound is not None:
        parts.append(_upright(result.bound, top - 4, end + 4, "bound"))
    return parts


def _legend(y: int, *, bounded: bool) -> list[str]:
    parts = [
        f'<line x1="{_LEFT}" x2="{_LEFT}" y1="{y - 12}" y2="{y + 2}" class="coin"/>',
        f'<text x="{_LEFT + 8}" y="{y}">guessing</text>',
    ]
    if bounded:
        parts += [
            f'<line x1="{_LEFT + 90}" x2="{_LEFT + 90}" y1="{y - 12}" y2="{y + 2}" class="bound"/>',
            f'<text x="{_LEFT + 98}" y="{y}">bound of the guarantee</text>',
        ]
    return parts


def _upright(value: float, top: float, bottom: float, kind: str) -> str:
    return f'<line x1="{_at(value):.1f}" x2="{_at(value):.1f}" y1="{top}" y2="{bottom}" class="{kind}"/>'


def _at(share: float) -> float:
    return _LEFT + _WIDTH * share


def _svg(width: float, height: float, label: str, parts: list[str]) -> Picture:
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(label)}" color="#334155"><style>{_STYLE}</style>{"".join(parts)}</svg>'
    )
