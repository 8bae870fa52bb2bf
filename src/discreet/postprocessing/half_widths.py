"""How wide ± will be, before a query is asked: known for counts and sums, whose noise does not depend on data."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from discreet.algebra.query import Kind
from discreet.algebra.released_expressions import (
    After,
    ColumnOf,
    Estimate,
    Folded,
    Pairs,
    Release,
    Select,
    Sorted,
    Stacked,
    View,
    parts_of,
)
from discreet.core.exact import Number, exact
from discreet.errors import NotAllowed
from discreet.postprocessing.expression_checks import names_of
from discreet.postprocessing.plan import Plan


def width_of(plan: Plan, confidence: Number) -> Fraction:
    """The widest ± of any column, where it does not depend on data: counts and sums."""
    widths = [_width(plan, at, confidence) for at in range(len(plan.columns))]
    return max((width for width in widths if width is not None), default=Fraction(0))


def expected_width(plan: Plan, column: str, confidence: Number) -> float | None:
    """The same for one column; None where it depends on the data, or where nothing is noisy."""
    try:
        width = _width(plan, plan.columns.index(column), confidence)
    except NotAllowed:
        return None
    return None if width is None else float(width)


def _width(plan: Plan, at: int, confidence: Number) -> Fraction | None:
    """None where nothing is noisy."""
    widths = []
    for number, after in _origins(plan.view, at):
        if after is not None and not any(isinstance(part, Estimate) for part in parts_of(after)):
            continue
        if not isinstance(after, Estimate) or after.kind != "measure":
            raise NotAllowed(
                "How exact an average, a ratio or a quantile is depends on the data, so it cannot be asked for beforehand.",
                next_step="Ask for its sum and count within some error, or give an epsilon.",
            )
        (index,) = after.measures
        measure = plan.queries[number].measures[index]
        step = measure.steps[0].step if measure.kind is Kind.TOTAL else Fraction(1)
        for priced in plan.priced[number]:
            widths += [exact(mechanism.error(confidence)) * step for mechanism in priced.mechanisms[index][:1]]
    return max(widths, default=None)


def _origins(view: View, at: int) -> Iterator[tuple[int, After | None]]:
    """What a column shows of which query; None for something computed from released rows."""
    match view:
        case Release():
            yield view.query, view.columns[at][1]
        case Select():
            yield from _seen_through(view.table, view.columns[at][1])
        case Sorted():
            yield from _origins(view.table, at)
        case Stacked():
            for table in view.tables:
                yield from _origins(table, at)
        case Pairs():
            width = len(names_of(view.left))
            yield from _origins(view.left, at) if at < width else _origins(view.right, at - width)
        case Folded():
            key = view.keys[at][1] if at < len(view.keys) else None
            yield from iter([(0, None)]) if key is None else _seen_through(view.table, key)


def _seen_through(table: View, after: After) -> Iterator[tuple[int, After | None]]:
    """A column as it stands below; what is computed from noisy ones depends on them."""
    if isinstance(after, ColumnOf):
        yield from _origins(table, after.at)
        return
    for part in parts_of(after):
        if isinstance(part, ColumnOf):
            for number, origin in _origins(table, part.at):
                is_noisy = origin is None or any(isinstance(inner, Estimate) for inner in parts_of(origin))
                yield (number, None) if is_noisy else (number, origin)
