"""Two small pictures as SVG, drawn by hand so that no plotting library is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from discreet.accounting.tradeoff import true_positive_rates
from discreet.core.exact import read_delta, read_epsilon
from discreet.errors import BadInput
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import Guarantee, read_guarantee

_SIZE, _LEFT, _TOP = 320, 64, 24
_COLOURS = ("#0f766e", "#b45309", "#6d28d9", "#be123c", "#1d4ed8")


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """An SVG that notebooks show by themselves.

    Args:
        svg: Its text.
    """

    svg: str

    def __repr__(self) -> str:
        return 'Picture: a notebook shows it, .save("picture.svg") keeps it'

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write it to a file.

        Args:
            path: Where to.
        """
        Path(path).write_text(self.svg)


def plot_tradeoff(guarantees: Mapping[str, Guarantee]) -> Picture:
    """True positives against false positives for each named guarantee; the diagonal is a coin toss.

    Args:
        guarantees: Mechanisms by the names in the legend.
    """
    rates = np.concatenate([np.linspace(0, 0.05, 100), np.linspace(0.05, 1, 200)])
    lines = {name: (rates, true_positive_rates(guarantee, rates)) for name, guarantee in _read_named(guarantees)}
    ticks = [(value, f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)]
    chart = _Chart("false positive rate", "true positive rate, at most", ticks, ticks, _identity, _identity, 1.0)
    return Picture(chart.draw(lines, diagonal=True))


def plot_profile(
    guarantees: Mapping[str, Guarantee], *, largest_epsilon: float, smallest_delta: float = 1e-12
) -> Picture:
    """Delta against epsilon for each named guarantee, delta on a logarithmic scale.

    Args:
        guarantees: Mechanisms by the names in the legend.
        largest_epsilon: Where the axis ends.
        smallest_delta: Where the other one ends.
    """
    reach, floor = float(read_epsilon(largest_epsilon, name="largest_epsilon")), float(read_delta(smallest_delta))
    epsilons = np.linspace(0, reach, 300)
    decades = -math.log10(floor)
    lines = {name: (epsilons, guarantee.deltas(epsilons)) for name, guarantee in _read_named(guarantees)}
    x_ticks = [(reach * i / 4, f"{reach * i / 4:g}") for i in range(5)]
    y_ticks = [(10.0 ** -round(decades * i / 4), f"1e-{round(decades * i / 4)}" if i else "1") for i in range(5)]

    def height(deltas: Floats) -> Floats:
        return 1 + np.log10(np.maximum(deltas, floor)) / decades

    chart = _Chart("epsilon", "delta", x_ticks, y_ticks, lambda x: x / reach, height, reach)
    return Picture(chart.draw(lines, diagonal=False))


def _read_named(guarantees: object) -> list[tuple[str, Guarantee]]:
    if not isinstance(guarantees, Mapping):
        raise BadInput("A picture shows mechanisms by name.", next_step='Give {"count": Laplace(…)}.')
    return [(str(name), read_guarantee(guarantee)) for name, guarantee in guarantees.items()]


def plot_powers(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float]]], *, x_label: str, y_label: str
) -> Picture:
    """Lines, and dots that were measured, on logarithmic axes: x, the line's y, the dots' y for each name."""
    every_x = [value for x, _, _ in lines.values() for value in x]
    every_y = [value for _, y, dots in lines.values() for value in (*y, *dots) if value > 0]
    x_low, x_high = math.floor(math.log10(min(every_x))), math.ceil(math.log10(max(every_x)))
    y_low, y_high = math.floor(math.log10(min(every_y))), math.ceil(math.log10(max(every_y)))
    chart = _Chart(
        x_label,
        y_label,
        [(10.0**power, _decade(power)) for power in range(x_low, x_high + 1)],
        [(10.0**power, _decade(power)) for power in range(y_low, y_high + 1)],
        lambda x: (np.log10(x) - x_low) / (x_high - x_low),
        lambda y: (np.log10(y) - y_low) / (y_high - y_low),
        float(max(every_x)),
    )
    curves = {name: (np.asarray(x, np.float64), np.asarray(y, np.float64)) for name, (x, y, _) in lines.items()}
    dots = [(np.asarray(x, np.float64), np.asarray(y, np.float64)) for x, _, y in lines.values()]
    return Picture(chart.draw(curves, diagonal=False, dots=dots))


def _decade(power: int) -> str:
    return f"{10.0**power:,.10g}" if -3 <= power <= 6 else f"1e{power}"


def _identity(values: Floats) -> Floats:
    return values


@dataclass(frozen=True, slots=True)
class _Chart:
    x_label: str
    y_label: str
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    x_share: Callable[[Floats], Floats]
    y_share: Callable[[Floats], Floats]
    x_end: float

    def draw(
        self,
        lines: Mapping[str, tuple[Floats, Floats]],
        *,
        diagonal: bool,
        dots: Sequence[tuple[Floats, Floats]] = (),
    ) -> str:
        parts = [*self._axes(), *self._legend(list(lines))]
        if diagonal:
            parts.append(f'<path d="{self._path(np.array([0.0, 1.0]), np.array([0.0, 1.0]))}" class="coin"/>')
        for i, (x, y) in enumerate(lines.values()):
            parts.append(f'<path d="{self._path(x, y)}" stroke="{_COLOURS[i % len(_COLOURS)]}" class="line"/>')
        for i, (x, y) in enumerate(dots):
            for at, up in zip(self._x(x).tolist(), self._y(y).tolist(), strict=True):
                parts.append(f'<circle cx="{at:.1f}" cy="{up:.1f}" r="3.5" fill="{_COLOURS[i % len(_COLOURS)]}"/>')
        width, height = _LEFT + _SIZE + 24, _TOP + _SIZE + 64 + 18 * len(lines)
        style = (
            "text{font:12px system-ui,sans-serif;fill:currentColor}.tick{font-variant-numeric:tabular-nums;opacity:.75}"
            ".line{fill:none;stroke-width:2.25;stroke-linejoin:round}.coin{stroke:currentColor;opacity:.4;stroke-dasharray:4 4}"
            ".grid{stroke:currentColor;opacity:.12}"
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{escape(self.y_label)} against {escape(self.x_label)}" color="#334155">'
            f"<style>{style}</style>{''.join(parts)}</svg>"
        )

    def _x(self, values: Floats) -> Floats:
        return _LEFT + _SIZE * self.x_share(values)

    def _y(self, values: Floats) -> Floats:
        return _TOP + _SIZE * (1 - self.y_share(values))

    def _path(self, x: Floats, y: Floats) -> str:
        points = zip(self._x(x).tolist(), self._y(y).tolist(), strict=True)
        return "M" + "L".join(f"{px:.1f},{py:.1f}" for px, py in points)

    def _axes(self) -> list[str]:
        parts = []
        for value, label in self.x_ticks:
            x = float(self._x(np.array([value]))[0])
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + _SIZE}" class="grid"/>')
            parts.append(f'<text x="{x:.1f}" y="{_TOP + _SIZE + 18}" text-anchor="middle" class="tick">{label}</text>')
        for value, label in self.y_ticks:
            y = float(self._y(np.array([value]))[0])
            parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + _SIZE}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
            parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" class="tick">{label}</text>')
        middle = _TOP + _SIZE / 2
        parts.append(
            f'<text x="{_LEFT + _SIZE / 2}" y="{_TOP + _SIZE + 38}" text-anchor="middle">{escape(self.x_label)}</text>'
        )
        parts.append(
            f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">{escape(self.y_label)}</text>'
        )
        return parts

    def _legend(self, names: list[str]) -> list[str]:
        parts = []
        for i, name in enumerate(names):
            y = _TOP + _SIZE + 62 + 18 * i
            colour = _COLOURS[i % len(_COLOURS)]
            parts.append(
                f'<line x1="{_LEFT}" x2="{_LEFT + 20}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" class="line"/>'
            )
            parts.append(f'<text x="{_LEFT + 28}" y="{y}">{escape(name)}</text>')
        return parts
