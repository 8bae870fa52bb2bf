"""Plans, exact rows and answers made by hand: no SQL, no engine, no books."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa

from discreet.algebra.grids import Grid
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind, Query, quantile_of
from discreet.algebra.relations import Scan
from discreet.algebra.released_expressions import Apply, ColumnOf, Constant, Estimate, KeyOf, Over, Release
from discreet.algebra.value_properties import ValueProperties
from discreet.catalog import Type, parse_catalog
from discreet.core.loss import Loss
from discreet.engines.exact_rows import ExactRows
from discreet.mechanisms import Gaussian, Laplace, PartitionSelection
from discreet.pipeline.release import release
from discreet.postprocessing.grouping_sets import QUANTILE_LEVEL, GroupingSet
from discreet.postprocessing.noisy_groups import Noisy
from discreet.postprocessing.plan import Plan
from discreet.results.answer import Answer, stored_form

CATALOG = """
[source]
path = "."
[budget]
epsilon = 1000
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.i = { type = "integer", lower = -100, upper = 100 }
columns.x = { type = "real", lower = 0, upper = 100, granularity = 0.5 }
columns.y = { type = "real", lower = -50, upper = 50, granularity = 0.5 }
columns.s = { type = "text" }
columns.d = { type = "date" }
columns.b = { type = "boolean" }
"""
_TABLE = parse_catalog(CATALOG).tables["t"]
ROWS = Scan(_TABLE, ValueProperties(type=Type.INTEGER, person=True), 1, frozenset(), 0)
COLUMNS = {name: ROWS.field(at) for at, name in enumerate(_TABLE.columns)}
STEPS = Grid(Fraction(1, 2), 0, 200)
Y_STEPS = Grid(Fraction(1, 2), -100, 100)
DAY = date(2024, 1, 1).toordinal()

COUNT = Measure(kind=MeasureKind.ROWS)
INTEGERS = Measure(kind=MeasureKind.TOTAL, values=(COLUMNS["i"],), steps=(Grid(Fraction(1), -100, 100),), centres=(0,))
SUM = Measure(kind=MeasureKind.TOTAL, values=(COLUMNS["x"],), steps=(STEPS,), centres=(0,))
TOTAL = Measure(kind=MeasureKind.TOTAL, values=(COLUMNS["x"],), steps=(STEPS,), centres=(100,))
SQUARES = Measure(kind=MeasureKind.SQUARES, values=(COLUMNS["x"],), steps=(STEPS,), centres=(100,), coarser=2)
Y_TOTAL = Measure(kind=MeasureKind.TOTAL, values=(COLUMNS["y"],), steps=(Y_STEPS,), centres=(0,))
Y_SQUARES = Measure(kind=MeasureKind.SQUARES, values=(COLUMNS["y"],), steps=(Y_STEPS,), centres=(0,), coarser=1)
PRODUCTS = Measure(
    kind=MeasureKind.PRODUCTS, values=(COLUMNS["x"], COLUMNS["y"]), steps=(STEPS, Y_STEPS), centres=(100, 0), coarser=1
)
MEDIAN = Measure(kind=MeasureKind.QUANTILE, values=(COLUMNS["x"],), steps=(STEPS,), q=Fraction(1, 2))
MEDIAN_DAY = Measure(
    kind=MeasureKind.QUANTILE, values=(COLUMNS["d"],), steps=(Grid(Fraction(1), DAY, DAY + 365),), q=Fraction(1, 2)
)


def query(keys=(), measures=(COUNT,), sets=None, rows=1):
    """`keys` are (column's name, its values or None)."""
    made = tuple(Key(COLUMNS[name], None if values is None else tuple(values)) for name, values in keys)
    return Query(
        rows=ROWS,
        keys=made,
        measures=tuple(measures),
        limits=ContributionBounds(rows=rows),
        sets=sets or (tuple(range(len(made))),),
    )


def mechanisms(measure, epsilon, *, gaussian=False):
    if measure.kind is MeasureKind.QUANTILE:
        middle, *ends = (quantile_of(measure, epsilon=Fraction(epsilon) / part) for part in (2, 4, 4))
        far = Fraction(ends[0].error(1 - (1 - QUANTILE_LEVEL) / 2))
        shifted = [
            quantile_of(measure, epsilon=end.epsilon, shift=side * far) for side, end in zip((-1, 1), ends, strict=True)
        ]
        return (middle, *shifted)
    if gaussian:
        return (Gaussian(sensitivity=measure.largest, variance=(measure.largest / Fraction(epsilon)) ** 2, size=2),)
    return (Laplace(sensitivity=measure.largest, epsilon=Fraction(epsilon), size=2),)


SELECTION = PartitionSelection(epsilon=1, delta=Fraction(1, 1000))


def plan_of(queries, view, *, epsilon=1, gaussian=False, selection=SELECTION, **more):
    """Every measure at the same epsilon."""
    several = queries if isinstance(queries, Sequence) else (queries,)
    grouping_sets = tuple(
        tuple(
            GroupingSet(
                keys,
                tuple(mechanisms(measure, epsilon, gaussian=gaussian) for measure in one.measures),
                *((selection, 1) if any(one.keys[key].values is None for key in keys) else ()),
            )
            for keys in one.sets
        )
        for one in several
    )
    return Plan(queries=tuple(several), grouping_sets=grouping_sets, view=view, **more)


def exact_rows(keys, measures, people=None, histograms=None):
    return ExactRows(
        tuple(keys),
        tuple(np.asarray(measure) for measure in measures),
        None if people is None else np.asarray(people, np.int64),
        histograms or {},
    )


def noisy(keys, *measures):
    """As if it had left: each measure is a list of integers, or of draws."""
    shaped = [np.array(measure, dtype=object if _is_wide(measure) else np.int64) for measure in measures]
    return Noisy(tuple(keys), tuple(values.reshape(len(values), -1 if len(values) else 1) for values in shaped))


def _is_wide(values):
    return any(abs(value) >= 2**63 for value in np.array(values, object).reshape(-1))


def shown(plan, *sets_of_queries):
    """The answer to a plan, over what left of each question."""
    return Answer(plan, stored_form(list(sets_of_queries)), loss=Loss(1), replayed=False, receipt="")


def drawn(plan, exact, bits):
    return Answer(plan, stored_form(release(plan, exact, bits)), loss=Loss(1), replayed=False, receipt="")


def column(op, *args):
    return Apply(op, tuple(args))


def number(value):
    return Constant(value)


def measured(index=0):
    return Estimate("measure", (index,))


def released(*columns, having=None, query=0):
    """A Release whose columns are named c0, c1, …"""
    return Release(query, tuple((f"c{at}", after) for at, after in enumerate(columns)), having)


def texts(*values):
    return pa.array(values, pa.string())


__all__ = ["ColumnOf", "KeyOf", "Over"]
