"""Quality report of a synthetic release, from the release alone: as JSON, and as a self-contained HTML page."""

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
"""Labels shown of merged values; the rest are only counted."""
_CELL = 44
_INTRODUCTION = (
    "<p>Synthetic rows, made from noisy counts. This report uses the noisy counts only; it does not read the data again. "
    "A bound limits the difference between the synthetic and the exact counts, summed over a table. "
    "All bounds hold together in {level} of all releases.</p>"
)


def summary(release: SyntheticRelease, level: Number) -> dict[str, Any]:
    """Return the release's description, the counts and error bound of every column, and the error bound of every pair.

    Values that the run merged are one value here, because bounds hold for the merged values.

    Args:
        release: A release; its method may or may not give bounds.
        level: Probability that all bounds hold, such as 0.95.
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
    """Return the report as an HTML page: bars with bounds, and a heat map of pairs.

    Args:
        release: A release; its method may or may not give bounds.
        level: Probability that all bounds hold, such as 0.95.
    """
    report = summary(release, level)
    parts = [_INTRODUCTION.format(level=f"{100 * report['level']:g} %"), _description_list(report), "<h2>Columns</h2>"]
    parts += [_bars(column) for column in report["bars"]]
    if report["pairs"] and report["pairs"][0]["share"] is not None:
        parts += ["<h2>Pairs of columns</h2>", _heat_map(list(release.domain.names), report["pairs"])]
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
    """Return the counts of a column's values, merged values as one."""
    column, counts = release.domain.column(name), release.table(name)
    groups = np.arange(column.size)
    if isinstance(release.model, TreeModel):
        groups = release.model.codings[release.domain.names.index(name)].groups
    members: dict[int, list[int]] = {}
    for code, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(code)
    sums = np.bincount(groups, weights=counts)
    values = [{"label": _group_label(column, codes), "count": float(sums[group])} for group, codes in members.items()]
    return {"column": name, "values": values}


def _group_label(column: Column, codes: list[int]) -> str:
    """Return the label of a group: a range for numbers and days, else a list of values."""
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if column.is_ordered and ranges and code == ranges[-1][1] + 1 and column.labels[code] is not None:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    labels = [range_text(column.labels[first], column.labels[last]) for first, last in ranges]
    more = len(labels) - _MOST_LABELS
    return ", ".join(labels[:_MOST_LABELS]) + (f" and {more:,} more" if more > 0 else "")


def _description_list(report: dict[str, Any]) -> str:
    rows, cost = report["rows_per_person"], f"ρ {amount(report['rho'])}"
    entries = {
        "method": f"{report['method']}, {report['measurements']} measurements",
        "reused releases": ", ".join(report["reused"]) or "none",
        "rows used": f"about {amount(report['total'])}: those whose values are public in every column",
        "price": cost if report["epsilon"] is None else f"ε {amount(report['epsilon'])}",
        "one person": "one row is used" if rows == 1 else f"at most {rows:,} rows are used",
        "receipt": report["receipt"] or "held by the charged account",
    }
    return f"<dl>{''.join(f'<dt>{key}</dt><dd>{escape(text)}</dd>' for key, text in entries.items())}</dl>"


def _bars(column: dict[str, Any]) -> str:
    within = column["within"]
    cells = [
        Cell(
            value["count"],
            within,
            None if within is None else (max(0.0, value["count"] - within), value["count"] + within),
        )
        for value in column["values"]
    ]
    picture = bars([value["label"] for value in column["values"]], {column["column"]: cells})
    note = "this method gives no error bounds"
    if within is not None:
        note = f"total error at most {amount(within)} rows, {100 * column['share']:.1f} % of all rows"
    return f'<div class="side">{picture.svg}<p class="soft">{note}</p></div>'


def _heat_map(names: list[str], pairs: list[dict[str, Any]]) -> str:
    """Draw each pair's bound as a share of all rows; darker is less accurate."""
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
        'aria-label="largest errors of pairs of columns"><style>text{font:12px system-ui,sans-serif;fill:currentColor}</style>'
        f'{"".join(parts)}</svg><p class="soft">Largest total error of the table of a pair, in percent of all rows; 200 is the maximum. '
        "A frame marks a measured pair.</p>"
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
