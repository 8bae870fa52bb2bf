"""Results of the lab as a table, and as one self-contained HTML page with descriptions and transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from discreet.attacks.lab.attack import DISCREET, Attack
from discreet.attacks.lab.attack_registry import find
from discreet.attacks.lab.lab import above_the_bound, run_all
from discreet.attacks.lab.result import Result
from discreet.attacks.lab.success_chart import draw, draw_series
from discreet.viz.html_page import page

__all__ = ["html_report", "markdown_table", "run_all"]


def html_report(results: Sequence[Result]) -> str:
    """Return the page."""
    sections = "".join(_section(find(name), results_of(results, name)) for name in _names(results))
    introduction = (
        "<p>Every attack of the lectures, against weak releases and against Discreet with an analyst's access. All "
        "people are generated.</p>"
    )
    return page("The attack lab", f"{introduction}{_verdict(results)}{_overview(results)}{sections}")


def markdown_table(results: Sequence[Result]) -> str:
    """Return a table with one row per attack: guessing, weak releases, and Discreet (± 95 %) with its bound."""
    epsilons = sorted({r.epsilon for r in results if r.against == DISCREET and r.epsilon is not None})
    head = ["attack", "guessing", "weak releases", *(f"Discreet, ε {epsilon:g}" for epsilon in epsilons)]
    lines = [_line(head), _line(["---"] + ["---:"] * (len(head) - 1))]
    for name in _names(results):
        own = results_of(results, name)
        ours = {r.epsilon: r for r in own if r.against == DISCREET}
        guessing = next(iter(ours.values()), own[0]).baseline
        weak = "<br>".join(f"{r.against}: **{_percent(r.success)}**" for r in own if r.against != DISCREET)
        lines.append(_line([name, _percent(guessing), weak, *(_ours(ours.get(epsilon)) for epsilon in epsilons)]))
    return "\n".join(lines) + "\n"


def results_of(results: Sequence[Result], attack: str) -> list[Result]:
    """Return all results of one attack."""
    return [result for result in results if result.attack == attack]


def _names(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(result.attack for result in results))


def _ours(result: Result | None) -> str:
    if result is None or result.bound is None:
        return "—"
    low, high = result.interval()
    return f"{100 * result.success:.1f} ± {50 * (high - low):.1f} % (≤ {_percent(result.bound)})"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _verdict(results: Sequence[Result]) -> str:
    ours = sum(result.against == DISCREET for result in results)
    broken = above_the_bound(results)
    if broken:
        names = ", ".join(f"{r.attack} at ε {r.epsilon:g}" for r in broken)
        return f"<p><strong>Above the bound: {escape(names)}.</strong> Either Discreet or the bound is wrong.</p>"
    allowed = "what differential privacy allows (95 % confidence for all together)"
    return f"<p>{ours} attacks on Discreet, none above {allowed}.</p>"


def _overview(results: Sequence[Result]) -> str:
    numbers = "".join(f'<th class="n">{name}</th>' for name in ("success", "95 % interval", "guessing", "allowed"))
    head = f"<tr><th>attack</th><th>against</th>{numbers}</tr>"
    return f"<table>{head}{''.join(map(_row, results))}</table>"


def _row(result: Result) -> str:
    low, high = result.interval()
    allowed = "no guarantee" if result.bound is None else _percent(result.bound)
    cells: list[tuple[str, str]] = [
        ("", f'<a href="#{escape(result.attack)}">{escape(result.attack)}</a>'),
        ("", escape(_name(result))),
        ("n", _percent(result.success)),
        ("n", f"{_percent(low)} to {_percent(high)}"),
        ("n", _percent(result.baseline)),
        ("n", allowed),
    ]
    return "<tr>" + "".join(f'<td class="{kind}">{text}</td>' for kind, text in cells) + "</tr>"


def _section(attack: Attack, results: list[Result]) -> str:
    story = {"goal": attack.wants, "sees": attack.sees, "lesson": attack.lesson, "source": attack.citation}
    described = "".join(f"<dt>{key}</dt><dd>{escape(text)}</dd>" for key, text in story.items())
    weak = next((r for r in results if r.against != DISCREET), None)
    ours = [r for r in results if r.against == DISCREET]
    middle = ours[len(ours) // 2] if ours else None
    sides = "".join(_side(result) for result in (weak, middle) if result is not None)
    curves = "".join(draw_series(one).svg for result in results for one in result.series)
    plot = draw({_name(result): result for result in results}).svg
    return (
        f'<h2 id="{escape(attack.name)}">{escape(attack.title)} <span class="soft">{escape(attack.name)}</span></h2>'
        f'<dl>{described}</dl>{plot}{curves}<div class="sides">{sides}</div>'
    )


def _side(result: Result) -> str:
    steps = "".join(f"<tr><th>{escape(s.kind)}</th><td>{escape(s.text)}</td></tr>" for s in result.transcript)
    details = "".join(
        f"<tr><th>{escape(key)}</th><td>{escape(_fact(value))}</td></tr>" for key, value in result.details.items()
    )
    return f'<div class="side"><h3>{escape(_name(result))}</h3><table>{steps}{details}</table></div>'


def _name(result: Result) -> str:
    return result.against if result.epsilon is None else f"{result.against}, ε {result.epsilon:g}"


def _fact(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.0005 or share == 0 else f"{100 * share:.1g} %"
