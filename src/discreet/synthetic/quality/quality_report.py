"""How good a release of synthetic data is, from what was drawn for it alone: in JSON, and as a page of HTML without outside parts."""

from __future__ import annotations

from html import escape
from itertools import combinations
from typing import Any

import numpy as np

from discreet.core.exact import Number
from discreet.core.number_format import amount
from discreet.measurement.domain import Column, range_text
from discreet.results.interval_bars import Cell, bars
from discreet.synthetic.models.synthetic_model import TreeModel
from discreet.synthetic.quality.error_bounds import Bound
from discreet.synthetic.synthetic_release import SyntheticRelease
from discreet.viz.html_page import page

_MOST_LABELS = 3
"""Of values that a run put together: the others are counted."""
_CELL = 44
_INTRODUCTION = (
    "<p>Rows of nobody, made from noisy counts. All that is said here follows from what was drawn; none of it looked at the data a second time. "
    "A bound says how far counts of the synthetic data can be from the exact ones, added up over a table: all bounds hold together, in {level} of all releases.</p>"
)


def summary(release: SyntheticRelease, level: Number) -> dict[str, Any]:
    """What it was made of; every column's counts, with how far off all of them together are at most; and the same of every pair, without counts.

    Values that were put together by the run are one here: bounds are about them together.

    Args:
        release: With or without bounds.
        level: The chance that no bound is wrong, such as 0.95.
    """
    names = release.domain.names
    pairs = list(combinations(names, 2))
    bounds = iter(_bounds(release, level, [*((name,) for name in names), *pairs]))
    columns = [{**_column(release, name), **_bound(next(bounds))} for name in names]
    return {
        **release.summary,
        "total": release.total,
        "level": float(level),
        "bars": columns,
        "pairs": [{"columns": list(pair), **_bound(next(bounds))} for pair in pairs],
    }


def html_report(release: SyntheticRelease, level: Number) -> str:
    """The same as a page: bars with bounds, and a heat map of pairs.

    Args:
        release: With or without bounds.
        level: The chance that no bound is wrong, such as 0.95.
    """
    facts = summary(release, level)
    parts = [_INTRODUCTION.format(level=f"{100 * facts['level']:g} %"), _made_of(facts), "<h2>Columns</h2>"]
    parts += [_bars(column) for column in facts["bars"]]
    if facts["pairs"] and facts["pairs"][0]["share"] is not None:
        parts += ["<h2>Pairs of columns</h2>", _heat_map(list(release.domain.names), facts["pairs"])]
    return page(f"Synthetic data: {release.name or 'a release without a name'}", "".join(parts))


def _bounds(release: SyntheticRelease, level: Number, tables: list[tuple[str, ...]]) -> list[Bound | None]:
    if not isinstance(release.model, TreeModel):
        return [None] * len(tables)
    return list(release.bounds(level, *tables))


def _bound(bound: Bound | None) -> dict[str, Any]:
    if bound is None:
        return {"within": None, "share": None, "is_measured": False}
    return {"within": bound.rows, "share": bound.share, "is_measured": bound.is_measured}


def _column(release: SyntheticRelease, name: str) -> dict[str, Any]:
    """The counts of a column's values, those of a group together."""
    column, counts = release.domain.column(name), release.table(name)
    groups = np.arange(column.size)
    if isinstance(release.model, TreeModel):
        groups = release.model.codings[release.domain.names.index(name)].groups
    members: dict[int, list[int]] = {}
    for code, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(code)
    sums = np.bincount(groups, weights=counts)
    values = [{"label": _together(column, codes), "count": float(sums[group])} for group, codes in members.items()]
    return {"column": name, "values": values}


def _together(column: Column, codes: list[int]) -> str:
    """The values of a group: neighbours among numbers or days as a range, others one by one."""
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if column.is_ordered and ranges and code == ranges[-1][1] + 1 and column.labels[code] is not None:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    labels = [range_text(column.labels[first], column.labels[last]) for first, last in ranges]
    more = len(labels) - _MOST_LABELS
    return ", ".join(labels[:_MOST_LABELS]) + (f" and {more:,} more" if more > 0 else "")


def _made_of(facts: dict[str, Any]) -> str:
    rows, price = facts["rows_per_person"], f"ρ {amount(facts['rho'])}"
    told = {
        "made by": f"{facts['method']}, {facts['measurements']} measurements",
        "with tables of": ", ".join(facts["reused"]) or "no earlier release",
        "rows that count": f"about {amount(facts['total'])}: those with a value that is public in every column",
        "price": price if facts["epsilon"] is None else f"ε {amount(facts['epsilon'])}",
        "one person": "one row counts" if rows == 1 else f"at most {rows:,} rows count",
        "receipt": facts["receipt"] or "with who paid",
    }
    return f"<dl>{''.join(f'<dt>{key}</dt><dd>{escape(text)}</dd>' for key, text in told.items())}</dl>"


def _bars(facts: dict[str, Any]) -> str:
    within = facts["within"]
    cells = [
        Cell(
            value["count"],
            within,
            None if within is None else (max(0.0, value["count"] - within), value["count"] + within),
        )
        for value in facts["values"]
    ]
    picture = bars([value["label"] for value in facts["values"]], {facts["column"]: cells})
    said = "this method says nothing about its error"
    if within is not None:
        said = f"all of them together are off by at most {amount(within)} rows, {100 * facts['share']:.1f} % of all"
    return f'<div class="side">{picture.svg}<p class="soft">{said}</p></div>'


def _heat_map(names: list[str], pairs: list[dict[str, Any]]) -> str:
    """Each pair's bound as a share of all rows: the darker, the less is known."""
    left, size = 150, _CELL * len(names)
    parts = []
    for at, name in enumerate(names):
        middle = _CELL * at + _CELL / 2
        short = escape(name[:20])
        parts.append(f'<text x="{left - 8}" y="{left + middle + 4}" text-anchor="end">{short}</text>')
        parts.append(f'<text transform="translate({left + middle + 4},{left - 8}) rotate(-60)">{short}</text>')
    for pair in pairs:
        first, second = (names.index(name) for name in pair["columns"])
        parts += [_square(pair, *place, left) for place in ((first, second), (second, first))]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + size + 40} {left + size + 10}" width="{left + size + 40}" role="img" '
        'aria-label="how far off pairs of columns are at most"><style>text{font:12px system-ui,sans-serif;fill:currentColor}</style>'
        f'{"".join(parts)}</svg><p class="soft">Percent of all rows that the table of a pair is off by at most, added up over its cells; 200 is as wrong as can be. '
        "A frame says that the pair was measured.</p>"
    )


def _square(pair: dict[str, Any], across: int, down: int, left: int) -> str:
    x, y, share = left + _CELL * across, left + _CELL * down, min(2.0, pair["share"])
    frame = ' stroke="currentColor" stroke-width="1.5"' if pair["is_measured"] else ""
    title = f"{escape(' × '.join(pair['columns']))}: at most {amount(pair['within'])} rows"
    return (
        f'<rect x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" fill="#0f766e" fill-opacity="{0.08 + 0.42 * share:.2f}"{frame}>'
        f"<title>{title}</title></rect>"
        f'<text x="{x + _CELL / 2}" y="{y + _CELL / 2 + 4}" text-anchor="middle">{100 * share:.0f}</text>'
    )
