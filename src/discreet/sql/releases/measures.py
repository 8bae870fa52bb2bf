"""Translate aggregates across people to measures (exact integers per group) and estimates from them after the noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from discreet.algebra.expressions import Expression, Field, call, conjunction
from discreet.algebra.grids import Grid, grid_for
from discreet.algebra.query import Measure, MeasureKind
from discreet.algebra.relations import Relation
from discreet.algebra.released_expressions import Estimate
from discreet.catalog import Type
from discreet.errors import BadProbability, NotAllowed, TooLarge
from discreet.sql.expressions.postprocessing_expressions import Computed
from discreet.sql.expressions.row_expressions import spoken

EXTREME = Fraction(1, 100)
"""MIN and MAX are answered as the quantiles at this distance from the ends."""
_SPREADS: dict[type[exp.Expr], str] = {
    exp.Variance: "var_samp", exp.VariancePop: "var_pop", exp.Stddev: "std_samp", exp.StddevSamp: "std_samp",
    exp.StddevPop: "std_pop",
}  # fmt: skip
_PAIRED: dict[type[exp.Expr], str] = {
    exp.Corr: "corr", exp.CovarSamp: "covar_samp", exp.CovarPop: "covar_pop", exp.RegrSlope: "slope",
    exp.RegrIntercept: "intercept",
}  # fmt: skip
_QUANTILES = exp.PercentileCont | exp.PercentileDisc | exp.Quantile | exp.ApproxQuantile
_SQUARE_BITS = 20
_KNOWN = "COUNT, SUM, AVG, VARIANCE, STDDEV, CORR, COVAR_SAMP, REGR_SLOPE, MEDIAN, QUANTILE_CONT, MIN or MAX"


@dataclass(slots=True)
class MeasureCollector:
    """Collects the measures of one SELECT. Equal measures are measured and charged once."""

    read: Callable[[exp.Expr], Expression]
    """Translates an expression over the rows of the SELECT."""
    rows: Callable[[], Relation]
    """Returns the current relation: reading expressions may add columns to it."""
    measures: list[Measure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def aggregate(self, node: exp.Expr) -> Computed:
        """Add the measures of an aggregate, and return its estimate after the noise."""
        where = None
        if isinstance(node, exp.Filter):
            where, node = self._condition(node.expression.this), node.this
        if isinstance(node, exp.WithinGroup):
            return self._within_group(node, where)
        if isinstance(node, exp.CountIf):
            return self._measured(
                Measure(kind=MeasureKind.ROWS, where=conjunction([*_some(where), self._condition(node.this)]))
            )
        if isinstance(node, exp.Count):
            return self._measured(self._count(node.this, where))
        if isinstance(node, exp.Sum):
            return self._sum(node.this, where)
        if isinstance(node, exp.Avg):
            return Computed(Estimate("average", self._centred_sum(node.this, where)), Type.REAL)
        if type(node) in _SPREADS:
            total, count = self._centred_sum(node.this, where)
            squares = self._squares(self.measures[total])
            return Computed(Estimate(_SPREADS[type(node)], (total, count, squares)), Type.REAL)
        return self._paired(node, where) if type(node) in _PAIRED else self._ranked(node, where)

    def _sum(self, argument: exp.Expr, where: Expression | None) -> Computed:
        value, steps = self._number(argument)
        total = Measure(kind=MeasureKind.TOTAL, values=(value,), where=where, steps=(steps,), centres=(0,))
        return replace(self._measured(total), type=Type.INTEGER if steps.step == 1 else Type.REAL)

    def _ranked(self, node: exp.Expr, where: Expression | None) -> Computed:
        """Read MIN, MAX, medians and other quantiles."""
        if isinstance(node, exp.Min | exp.Max):
            return self._extreme(node, where)
        if isinstance(node, exp.Median):
            return self._quantile(node.this, Fraction(1, 2), where)
        if isinstance(node, _QUANTILES):
            return self._quantile(node.this, _fraction(node.args.get("quantile") or node.args.get("expression")), where)
        raise NotAllowed(
            f"The aggregate {spoken(node)} is not supported.",
            next_step=f"Use {_KNOWN}.",
        )

    def _condition(self, node: exp.Expr) -> Expression:
        condition = self.read(node)
        if condition.properties.type is not Type.BOOLEAN:
            raise NotAllowed("A condition must be a BOOLEAN.", next_step="Write a comparison, for example x > 0.")
        return condition

    def _number(self, node: exp.Expr) -> tuple[Expression, Grid]:
        """Return a value to be summed, and its grid. A BOOLEAN counts as 0 or 1."""
        if isinstance(node, exp.Distinct):
            raise NotAllowed(
                "SUM(DISTINCT …) and AVG(DISTINCT …) are not supported: equal values of different people would be merged.",
                next_step="Remove DISTINCT.",
            )
        value = self.read(node)
        if value.properties.type is Type.BOOLEAN:
            value = call("to_int", value)
        if value.properties.type is Type.DATE:
            raise NotAllowed(
                "SUM and AVG of dates are not supported.",
                next_step="Use MIN, MAX or MEDIAN of the dates, or sum a DATE_DIFF.",
            )
        return value, self._steps(value, node)

    def _steps(self, value: Expression, node: exp.Expr) -> Grid:
        stored = self.rows().columns[value.at].step if isinstance(value, Field) else None
        return grid_for(value.properties, stored, name=node.name if isinstance(node, exp.Column) else None)

    def _count(self, argument: exp.Expr, where: Expression | None) -> Measure:
        if isinstance(argument, exp.Star) or argument is None:
            return Measure(kind=MeasureKind.ROWS, where=where)
        if not isinstance(argument, exp.Distinct):
            return self._present(self.read(argument), where)
        values = tuple(self.read(part) for part in argument.expressions)
        if len(values) == 1 and isinstance(argument.expressions[0], exp.Tuple):
            raise NotAllowed("COUNT(DISTINCT …) takes columns, not a tuple.", next_step="Write COUNT(DISTINCT a, b).")
        if len(values) == 1 and values[0].properties.person:
            present = [call("not_null", values[0])] if values[0].properties.nullable else []
            return Measure(kind=MeasureKind.PEOPLE, where=conjunction([*_some(where), *present]))
        return Measure(kind=MeasureKind.DISTINCT, values=values, where=where)

    def _present(self, value: Expression, where: Expression | None) -> Measure:
        if not value.properties.nullable:
            return Measure(kind=MeasureKind.ROWS, where=where)
        return Measure(kind=MeasureKind.PRESENT, values=(value,), where=where)

    def _centred_sum(self, node: exp.Expr, where: Expression | None) -> tuple[int, int]:
        """Return the sum of deviations from the middle of the range (least noise), and the number of values."""
        value, steps = self._number(node)
        middle = (steps.low + steps.high) // 2
        total = Measure(kind=MeasureKind.TOTAL, values=(value,), where=where, steps=(steps,), centres=(middle,))
        return self._index(total), self._index(self._present(value, where))

    def _squares(self, total: Measure) -> int:
        return self._index(_coarsened(replace(total, kind=MeasureKind.SQUARES)))

    def _paired(self, node: exp.Expr, where: Expression | None) -> Computed:
        """Read sums, squares and products of two numbers where both are not NULL, relative to the middles of their ranges.

        REGR_SLOPE and REGR_INTERCEPT take the dependent variable first.
        """
        (x, first), (y, second) = self._number(node.this), self._number(node.expression)
        if isinstance(node, exp.RegrSlope | exp.RegrIntercept):
            x, first, y, second = y, second, x, first
        present = [call("not_null", value) for value in (x, y) if value.properties.nullable]
        kept = conjunction([*_some(where), *present])
        totals = [
            Measure(
                kind=MeasureKind.TOTAL,
                values=(value,),
                where=kept,
                steps=(steps,),
                centres=((steps.low + steps.high) // 2,),
            )
            for value, steps in ((x, first), (y, second))
        ]
        product = Measure(
            kind=MeasureKind.PRODUCTS, values=(x, y), where=kept, steps=(first, second),
            centres=(totals[0].centres[0], totals[1].centres[0]),
        )  # fmt: skip
        rows = self._index(Measure(kind=MeasureKind.ROWS, where=kept))
        sums = [self._index(total) for total in totals]
        squared = {"corr": totals, "slope": totals[:1], "intercept": totals[:1]}.get(_PAIRED[type(node)], [])
        squares = [self._squares(total) for total in squared]
        measures = (*sums, rows, *squares, self._index(_coarsened(product)))
        return Computed(Estimate(_PAIRED[type(node)], measures), Type.REAL)

    def _extreme(self, node: exp.Expr, where: Expression | None) -> Computed:
        low = isinstance(node, exp.Min)
        ends = ("1", "least") if low else ("99", "largest")
        note = (
            f"{node.key.upper()} is the {ends[0]} % quantile, because the {ends[1]} value itself belongs to one person"
        )
        if note not in self.notes:
            self.notes.append(note)
        return self._quantile(node.this, EXTREME if low else 1 - EXTREME, where)

    def _within_group(self, node: exp.WithinGroup, where: Expression | None) -> Computed:
        inner, order = node.this, node.expression.expressions
        if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc) or len(order) != 1:
            raise NotAllowed(
                "WITHIN GROUP is supported only for PERCENTILE_CONT and PERCENTILE_DISC, with one ORDER BY column.",
                next_step="Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x).",
            )
        fraction = _fraction(inner.this)
        return self._quantile(order[0].this, 1 - fraction if order[0].args.get("desc") else fraction, where)

    def _quantile(self, node: exp.Expr, q: Fraction, where: Expression | None) -> Computed:
        value = self.read(node)
        if isinstance(node, exp.Distinct) or value.properties.type is Type.BOOLEAN:
            raise NotAllowed(
                "Quantiles are supported only for numbers and dates, without DISTINCT.",
                next_step="For a BOOLEAN, use COUNT(*) FILTER (WHERE x).",
            )
        measure = Measure(
            kind=MeasureKind.QUANTILE, values=(value,), where=where, steps=(self._steps(value, node),), q=q
        )
        kind = Type.DATE if value.properties.type is Type.DATE else Type.REAL
        return Computed(Estimate("quantile", (self._index(measure),)), kind)

    def _measured(self, measure: Measure) -> Computed:
        return Computed(Estimate("measure", (self._index(measure),)), Type.INTEGER)

    def _index(self, measure: Measure) -> int:
        if measure not in self.measures:
            self.measures.append(measure)
        return self.measures.index(measure)


def _coarsened(measure: Measure) -> Measure:
    """Divide and round squares and products, so that they keep about as many bits as a column has."""
    largest = replace(measure, coarser=0).largest
    if largest >= 2**62:
        raise TooLarge(
            "The sum of squares could overflow 64 bits.",
            next_step="Ask the data owner for narrower bounds or a coarser granularity.",
        )
    return replace(measure, coarser=max(0, largest.bit_length() - _SQUARE_BITS))


def _some(where: Expression | None) -> Sequence[Expression]:
    return () if where is None else (where,)


def _fraction(node: exp.Expr | None) -> Fraction:
    if not isinstance(node, exp.Literal) or node.is_string or not 0 <= Fraction(node.name) <= 1:
        raise BadProbability(
            "The fraction of a quantile must be a constant from 0 to 1.",
            next_step="Write for example QUANTILE_CONT(x, 0.5).",
        )
    return Fraction(node.name)
