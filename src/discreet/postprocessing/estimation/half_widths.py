"""Half-widths before a query is run: known for counts and sums, whose noise does not depend on data."""

from __future__ import annotations

from fractions import Fraction

from discreet.algebra.query import MeasureKind
from discreet.core.exact import Number, exact
from discreet.errors import NotAllowed
from discreet.postprocessing.plan import Plan
from discreet.postprocessing.table_shape import ColumnShape


def widest_half_width(plan: Plan, confidence: Number) -> Fraction:
    """Return the largest half-width of any column. Refuse a plan with a column whose half-width depends on the data."""
    if any(column.measures is None for column in plan.shape.columns):
        raise NotAllowed(
            "The half-width of an average, a ratio or a quantile depends on the data, so it cannot be requested.",
            next_step="Request the sum and the count within some error, or give an epsilon.",
        )
    widths = [_half_width(plan, column, confidence) for column in plan.shape.columns]
    return max((width for width in widths if width is not None), default=Fraction(0))


def expected_half_widths(plan: Plan, confidence: Number) -> dict[str, float | None]:
    """Return the half-width of each column; None if it depends on the data, or if the column is exact."""
    widths = [(column.name, _half_width(plan, column, confidence)) for column in plan.shape.columns]
    return {name: None if width is None else float(width) for name, width in widths}


def _half_width(plan: Plan, column: ColumnShape, confidence: Number) -> Fraction | None:
    widths = []
    for number, index in column.measures or ():
        measure = plan.queries[number].measures[index]
        step = measure.steps[0].step if measure.kind is MeasureKind.TOTAL else Fraction(1)
        for grouping in plan.grouping_sets[number]:
            widths += [exact(mechanism.error(confidence)) * step for mechanism in grouping.mechanisms[index][:1]]
    return max(widths, default=None)
