"""Estimates from noisy measures with their intervals, for each group: from noisy integers and the errors of mechanisms only.

The measures of an estimate, in order:

    measure, quantile                       the measure
    average                                 total about the middle, count
    var_samp, var_pop, std_samp, std_pop    total about the middle, count, squares
    covar_samp, covar_pop                   total x, total y, count, [squares x, squares y,] products
    slope, intercept                        total x, total y, count, squares x, [squares y,] products; x is what y is explained by
    corr                                    total x, total y, count, squares x, squares y, products
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.query import Measure, MeasureKind, Query
from discreet.algebra.released_expressions import Estimate
from discreet.catalog import Type
from discreet.mechanisms import Mechanism, Quantile
from discreet.postprocessing import interval_arithmetic
from discreet.postprocessing.estimation import paired_estimates
from discreet.postprocessing.estimation.noise_tails import error_at
from discreet.postprocessing.grouping_sets import QUANTILE_LEVEL, GroupingSet
from discreet.postprocessing.noisy_columns import Column, Mask, Noises, Sides, Values, remembered
from discreet.postprocessing.noisy_groups import Noisy

Floats: TypeAlias = NDArray[np.float64]
_EPOCH = 719_163
"""1970-01-01, as `date.toordinal` counts days."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The groups of one grouping set: the query and its number, the mechanisms, and the released numbers."""

    number: int
    query: Query
    grouping: GroupingSet
    noisy: Noisy

    def __len__(self) -> int:
        return self.noisy.groups

    def measure(self, index: int) -> Measure:
        return self.query.measures[index]

    def draws(self, index: int, draw: int = 0) -> Values:
        return self.noisy.measures[index][:, draw]

    def floats(self, index: int) -> Floats:
        return self.draws(index).astype(np.float64)

    def width(self, index: int, level: Fraction) -> int:
        """Return the half-width of the noise of a measure; 0 for a public measure."""
        mechanisms = self.grouping.mechanisms[index]
        return error_at(mechanisms[0], level) if mechanisms else 0

    def around(self, index: int, level: Fraction) -> Sides:
        middle, width = self.floats(index), self.width(index, level)
        return middle - width, middle + width

    def products(self, index: int, level: Fraction, most: Floats) -> Sides:
        """Return the interval of a sum of squares or products. Rounding may have removed half a coarse unit for each row."""
        coarser = self.measure(index).coarser
        room = self.width(index, level) + (most / 2 if coarser else 0.0)
        middle, unit = self.floats(index), 2.0**coarser
        return (middle - room) * unit, (middle + room) * unit


Read: TypeAlias = tuple[Values, Mask, Callable[[Fraction], Sides]]


def estimated(estimate: Estimate, sets: Sequence[Cells]) -> Column:
    """Return the column of an estimate over all grouping sets of a query."""
    with np.errstate(all="ignore"):
        parts = [ESTIMATES[estimate.kind].read(cells, estimate) for cells in sets]

    def around(level: Fraction) -> Sides:
        with np.errstate(all="ignore"):
            ends = [part[2](level) for part in parts]
        return np.concatenate([low for low, _ in ends]), np.concatenate([high for _, high in ends])

    noisy = {index for index in estimate.measures if any(cells.grouping.mechanisms[index] for cells in sets)}
    values = [part[0] for part in parts]
    return Column(
        np.concatenate([value.astype(object) for value in values] if _is_mixed(values) else values),
        np.concatenate([part[1] for part in parts]),
        dict.fromkeys((("measure", index) for index in sorted(noisy)), 1),
        remembered(around),
        steady=estimate.kind not in ("corr", "slope", "intercept"),
        noises=_noises(estimate, sets) if estimate.kind == "measure" and noisy else None,
    )


def _is_mixed(values: Sequence[Values]) -> bool:
    return len({value.dtype.kind for value in values}) > 1


def _noises(estimate: Estimate, sets: Sequence[Cells]) -> Noises:
    """Return the noise of a measure: one draw for each group."""
    (index,) = estimate.measures
    kinds: list[tuple[Mechanism, float]] = []
    which = []
    for cells in sets:
        mechanisms = cells.grouping.mechanisms[index]
        which.append(np.full(len(cells), len(kinds) if mechanisms else -1, np.int64))
        kinds += [(mechanisms[0], float(_unit(cells.measure(index))))] if mechanisms else []
    return Noises(tuple(kinds), np.concatenate(which), frozenset({(sets[0].number, index)}))


def _unit(measure: Measure) -> Fraction:
    return measure.steps[0].step if measure.kind is MeasureKind.TOTAL else Fraction(1)


def _there(cells: Cells) -> Mask:
    return np.ones(len(cells), np.bool_)


def _measured(cells: Cells, estimate: Estimate) -> Read:
    """Read a count or a total; an integer if its unit is 1."""
    (index,) = estimate.measures
    unit = _unit(cells.measure(index))
    draws = cells.draws(index)
    values = draws if unit == 1 else draws.astype(np.float64) * float(unit)

    def around(level: Fraction) -> Sides:
        low, high = cells.around(index, level)
        return low * float(unit), high * float(unit)

    return values, _there(cells), around


def _quantile(cells: Cells, estimate: Estimate) -> Read:
    """Read a quantile. Its interval is between the two further draws, or the bounds at a level above that of the draws."""
    (index,) = estimate.measures
    measure = cells.measure(index)
    mechanism = cells.grouping.mechanisms[index][0]
    assert isinstance(mechanism, Quantile)  # noqa: S101  the plan has checked it
    step, (steps,) = float(mechanism.grid.step * measure.steps[0].step), measure.steps
    first = mechanism.candidates[0]
    is_date = measure.values[0].properties.type is Type.DATE
    offset = _EPOCH if is_date else 0
    least, most = (float(end * steps.step) - offset for end in (steps.low, steps.high))
    middle, low, high = (np.clip((cells.draws(index, draw) + first) * step - offset, least, most) for draw in range(3))

    def around(level: Fraction) -> Sides:
        half = step / 2 if level <= QUANTILE_LEVEL else np.inf  # values were rounded to the nearest candidate
        below = np.clip(np.minimum(low, middle) - half, least, most)
        above = np.clip(np.maximum(high, middle) + half, least, most)
        return (np.floor(below), np.ceil(above)) if is_date else (below, above)

    values = np.floor(middle).astype(np.int64).view("datetime64[D]") if is_date else middle
    return values, _there(cells), around


def _average(cells: Cells, estimate: Estimate) -> Read:
    """Read an average: centre + total / count, clamped to the bounds. A count below one counts as one."""
    total, count = estimate.measures
    measure = cells.measure(total)
    (steps,), (centre,) = measure.steps, measure.centres

    def allowed(mean: Floats) -> Floats:
        return np.clip(centre + mean, steps.low, steps.high) * float(steps.step)

    def around(level: Fraction) -> Sides:
        fewest, most = cells.around(count, level)
        people = np.maximum(fewest, 1.0), np.maximum(most, 1.0)
        low, high = interval_arithmetic.over(cells.around(total, level), people)
        half = 0.5 if measure.values[0].properties.type is Type.REAL or steps.step != 1 else 0.0  # values lie on a grid
        tiny = fewest < 1
        return allowed(np.where(tiny, -np.inf, low - half)), allowed(np.where(tiny, np.inf, high + half))

    mean = cells.floats(total) / np.maximum(cells.floats(count), 1.0)
    return allowed(mean), _there(cells), around


def _spread(cells: Cells, estimate: Estimate) -> Read:
    """Read a variance or standard deviation from three sums. It is at most a quarter of the squared range (half, for a sample of two)."""
    total, count, squares = estimate.measures
    sample, root = estimate.kind.endswith("samp"), estimate.kind.startswith("std")
    (steps,) = cells.measure(total).steps
    most_spread = (steps.high - steps.low) ** 2 / (2 if sample else 4)

    def allowed(variance: Floats) -> Floats:
        spread = np.clip(variance, 0.0, most_spread) * float(steps.step) ** 2
        return np.sqrt(spread) if root else spread

    def around(level: Fraction) -> Sides:
        sums = paired_estimates.Sums(*(cells.around(index, level) for index in (total, total, count)))
        fewest, most = sums.count
        found = sums.about(cells.products(squares, level, np.maximum(most, 0.0)), sample=sample, is_square=True)
        tiny = ~(fewest >= 2)
        low, high = np.where(tiny, 0.0, found[0]), np.where(tiny, np.inf, found[1])
        return allowed(low), allowed(high)

    people = np.maximum(cells.floats(count), 1.0)
    mean = cells.floats(total) / people
    variance = cells.floats(squares) * 2.0 ** cells.measure(squares).coarser / people - mean**2
    return allowed(variance * (people / np.maximum(people - 1, 1.0) if sample else 1.0)), _there(cells), around


def _paired(cells: Cells, estimate: Estimate) -> Read:
    """Read a covariance, correlation or regression from the sums of two numbers."""
    x, y, count, *squares, products = estimate.measures
    first, second = (paired_estimates.Axis.of(cells.measure(index)) for index in (x, y))
    rule = paired_estimates.Paired(estimate.kind, first, second)

    def at(level: Fraction | None) -> tuple[paired_estimates.Sums, Sides, list[Sides]]:
        """Return the box of all sums; without a level, its centre."""
        if level is None:
            sums = paired_estimates.Sums(*((part, part) for part in (cells.floats(index) for index in (x, y, count))))
            point = [
                (part, part)
                for part in (cells.floats(i) * 2.0 ** cells.measure(i).coarser for i in (products, *squares))
            ]
            return sums.floored(), point[0], point[1:]
        sums = paired_estimates.Sums(*(cells.around(index, level) for index in (x, y, count)))
        most = np.maximum(sums.count[1], 0.0)
        return sums, cells.products(products, level, most), [cells.products(index, level, most) for index in squares]

    values, valid = rule.value(*at(None))
    return values, valid, lambda level: rule.around(*at(level))


@dataclass(frozen=True, slots=True)
class EstimateKind:
    """How a kind of estimate is read, and from how many measures."""

    read: Callable[[Cells, Estimate], Read]
    least_measures: int
    most_measures: int


ESTIMATES: dict[str, EstimateKind] = {
    "measure": EstimateKind(_measured, 1, 1),
    "quantile": EstimateKind(_quantile, 1, 1),
    "average": EstimateKind(_average, 2, 2),
    **dict.fromkeys(("var_samp", "var_pop", "std_samp", "std_pop"), EstimateKind(_spread, 3, 3)),
    **dict.fromkeys(("covar_samp", "covar_pop"), EstimateKind(_paired, 4, 6)),
    **dict.fromkeys(("slope", "intercept"), EstimateKind(_paired, 5, 6)),
    "corr": EstimateKind(_paired, 6, 6),
}
"""Every kind of estimate, by the name that `Estimate.kind` has."""
