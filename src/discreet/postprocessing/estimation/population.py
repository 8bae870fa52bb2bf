"""Population intervals: the people in the data are assumed to be independent draws from a large population. Computed from noisy numbers only.

A cell covers what its count would be in expectation over such samples; a share or mean, the expected total of one person over the expected
number of their rows. Half of the allowed error goes to the noise, half to the sampling, and the worst case within the noise is taken. A person's
rows are one draw, of at most m rows. With L = ln(2 / sampling error):

*Counts.* A person adds C in [0, m]. By convexity E exp(sC) <= exp((E C / m)(exp(sm) - 1)), the moments of m times a Poisson number, whether
the number of people is fixed or Poisson; so (N ln(N / μ) - N + μ) / m <= L on either side (Chernoff).

*Means and shares*, scaled to [0, 1]. Of one row a person, given how many rows there are: n KL(mean || p) <= L (Hoeffding 1963, theorem 1). Of up
to m rows, a person adds y to the total and c to what it lacks, y + c <= m, and by convexity E (q / p)^(y / m) ((1 - q) / (1 - p))^(c / m) <= 1 for
every q. Averaged over q by Krichevsky and Trofimov's prior, and by Markov, (n / m) KL(mean || p) <= L + ln(n / m) / 2, for any number of rows
(their bound on the prior's price, which the tests look at for fractions of rows too).

*Means whose squares are measured too* (VARIANCE or STDDEV beside AVG): exp(λξ - ψ(λ)ξ²) <= 1 + λξ for ξ >= -1 and ψ(λ) = -λ - ln(1 - λ) (Fan,
Grama, Liu 2015), with ξ a person's sum of differences to p, over m; and ξ² is at most the sum of their squares over m. So, with d the distance of
mean and p, λd - ψ(λ)(variance + d²) <= (L + ln(k (k + 1))) m / n for all λ = 2^-k at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.expressions import conjuncts
from discreet.algebra.query import Measure, MeasureKind, Query
from discreet.algebra.released_expressions import (
    After,
    Apply,
    ColumnOf,
    Constant,
    Estimate,
    Release,
    Select,
    Sorted,
    View,
)
from discreet.core.exact import Number, read_level
from discreet.postprocessing.boolean_logic import joint_events
from discreet.postprocessing.noisy_columns import Column, Sides
from discreet.postprocessing.noisy_groups import Noisy
from discreet.postprocessing.plan import Plan
from discreet.postprocessing.view import table_of

Floats: TypeAlias = NDArray[np.float64]
_COUNTS = (MeasureKind.ROWS, MeasureKind.PRESENT, MeasureKind.PEOPLE)
_HALVINGS = 60
_LARGEST = Fraction(2) ** 100
"""A share times more than this may overflow a double."""
_FINEST = 30
"""λ goes down to 2**-30: a smaller λ would help only with more people than there are."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A count to which one person adds at most `most`."""

    most: int
    beside = ()

    def sides(self, noise: Sides, _: Sequence[Sides], error: float) -> Sides:
        """Return the interval of the expected count."""
        fewest, largest = (np.maximum(end, 0.0) / self.most for end in noise)
        sure = math.log(2) - math.log(error)
        low = _furthest(_poisson(fewest), fewest, np.maximum(fewest - np.sqrt(2 * sure * fewest), 0.0), sure)
        high = _furthest(_poisson(largest), largest, largest + sure + np.sqrt(sure**2 + 2 * sure * largest), sure)
        return low * self.most, high * self.most


@dataclass(frozen=True, slots=True)
class Averaged:
    """A mean or share between `low` and `high`, with at most `most` rows of a person. `beside`: its count, and its variance if measured."""

    most: int
    low: float
    high: float
    beside: tuple[Estimate, ...]

    def sides(self, noise: Sides, beside: Sequence[Sides], error: float) -> Sides:
        """Return the interval of the expected mean; the whole range if the group may be empty."""
        width = self.high - self.low
        if not width:
            return noise
        (fewest, largest), *spread = beside
        people = np.maximum(fewest, 1.0) / self.most
        part = error / (1 + len(spread))
        sure = math.log(2) - math.log(part) + (np.log(np.maximum(largest / self.most, 1.0)) / 2 if self.most > 1 else 0)
        least, most = (np.clip((end - self.low) / width, 0.0, 1.0) for end in noise)
        low, high = 1 - _share_above(1 - least, sure / people), _share_above(most, sure / people)
        for _, variance in spread:
            far = _bernstein(variance / width**2, people, part)
            low, high = np.maximum(low, least - far), np.minimum(high, most + far)
        tiny = ~(fewest >= 1)
        return self.low + width * np.where(tiny, 0.0, low), self.low + width * np.where(tiny, 1.0, high)


Sampled: TypeAlias = Counted | Averaged


def population_sides(
    plan: Plan, noisy: Sequence[Sequence[Noisy]], level: Number
) -> list[list[tuple[float, float] | None]]:
    """Return the intervals of each column; None if undefined. They contain the noise intervals of the same level."""
    error = (1 - read_level(level)) / 2
    sampled = _sampled(plan)
    beside = tuple(dict.fromkeys(part for rule in sampled if rule is not None for part in rule.beside))
    table = table_of(replace(plan, view=_with(plan.view, beside)[0]) if beside else plan, noisy)
    place = {part: table.columns[len(sampled) + at] for at, part in enumerate(beside)}
    return [
        _cells(rule, column, [] if rule is None else [place[part] for part in rule.beside], error)
        for rule, column in zip(sampled, table.columns[: len(sampled)], strict=True)
    ]


def _cells(
    rule: Sampled | None, column: Column, beside: Sequence[Column], error: Fraction
) -> list[tuple[float, float] | None]:
    """Half of the allowed error is for all draws behind a cell together, the other half for the sampling."""
    arounds = [part.around for part in (column, *beside) if part.around is not None]
    if rule is None or not column.is_noisy or len(arounds) <= len(beside):
        return [None] * len(column)
    each = 1 - error / sum(joint_events([column, *beside]).values())
    noise, *others = (around(each) for around in arounds)
    with np.errstate(all="ignore"):
        low, high = rule.sides(noise, others, float(error))
    ends = np.minimum(low, noise[0]), np.maximum(high, noise[1])
    cells = zip(ends[0].tolist(), ends[1].tolist(), strict=True)
    return [None if math.isnan(low) or math.isnan(high) else (low, high) for low, high in cells]


# What a column samples, by the plan alone


def _sampled(plan: Plan) -> list[Sampled | None]:
    """Return the sampling rule of each column."""
    shown = _shown(plan.view)
    if shown is None:
        return [None] * len(plan.columns)
    number, columns = shown
    return [_rule(plan.queries[number], after) for after in columns]


def _rule(query: Query, after: After) -> Sampled | None:
    if not isinstance(after, Estimate):
        return _share(query, after)
    if after.kind == "average":
        return _mean(query, *after.measures)
    measure = query.measures[after.measures[0]]
    is_count = after.kind == "measure" and measure.kind in _COUNTS
    return Counted(_most_rows(query, measure)) if is_count else None


def _mean(query: Query, total: int, count: int) -> Averaged:
    measure = query.measures[total]
    (steps,) = measure.steps
    low, high = float(steps.low * steps.step), float(steps.high * steps.step)
    beside = [Estimate("measure", (count,))]
    squared = [
        index
        for index, other in enumerate(query.measures)
        if other.kind is MeasureKind.SQUARES and replace(other, kind=MeasureKind.TOTAL, coarser=0) == measure
    ]
    beside += [Estimate("var_pop", (total, count, squares)) for squares in squared[:1]]
    return Averaged(_most_rows(query, measure), low, high, tuple(beside))


def _share(query: Query, after: After) -> Averaged | None:
    """Return the rule of a share: a count divided by a count of the same rows or more, times a constant."""
    factor, quotient = _factored(after)
    if not (isinstance(quotient, Apply) and quotient.op == "/"):
        return None
    (above, part), (below, whole) = (_factored(arg) for arg in quotient.args)
    if not (isinstance(part, Estimate) and isinstance(whole, Estimate)) or {part.kind, whole.kind} != {"measure"}:
        return None
    some, every = query.measures[part.measures[0]], query.measures[whole.measures[0]]
    scale = factor * above / below
    if not _is_part(some, every) or not 1 / _LARGEST < scale < _LARGEST:
        return None
    return Averaged(_most_rows(query, every), 0.0, float(scale), (whole,))


def _is_part(some: Measure, every: Measure) -> bool:
    """Return whether every row (or person) counted by the first is counted by the second."""
    if not {some.kind, every.kind} <= set(_COUNTS) or (some.kind is MeasureKind.PEOPLE) != (
        every.kind is MeasureKind.PEOPLE
    ):
        return False
    if every.kind is MeasureKind.PRESENT and (some.kind, some.values) != (every.kind, every.values):
        return False
    conditions = [] if some.where is None else conjuncts(some.where)
    return every.where is None or all(part in conditions for part in conjuncts(every.where))


def _factored(after: After) -> tuple[Fraction, After]:
    """Split off a positive constant factor. Casts to reals and NULLIF(x, 0) are ignored."""
    match after:
        case Apply("cast_real", (inner,)) | Apply("nullif", (inner, Constant(0))):
            return _factored(inner)
        case Apply("*", (Constant(int() | float() as value), inner) | (inner, Constant(int() | float() as value))):
            factor, rest = _factored(inner)
            return (factor * Fraction(value), rest) if value > 0 and math.isfinite(value) else (Fraction(1), after)
    return Fraction(1), after


def _most_rows(query: Query, measure: Measure) -> int:
    """Return the most rows of one person in one cell."""
    limits = query.limits
    if measure.kind is MeasureKind.PEOPLE:
        return 1
    by_all_keys = all(len(keys) == len(query.keys) for keys in query.sets)
    return min(limits.rows, limits.rows_per_group or limits.rows) if by_all_keys else limits.rows


# Views of one release: what a column shows of it, and the same view with more columns


def _shown(view: View) -> tuple[int, list[After]] | None:
    """Return the query and each column as an expression over its measures; None if several rows or releases are combined."""
    match view:
        case Release():
            return view.query, [after for _, after in view.columns]
        case Sorted():
            return _shown(view.table)
        case Select():
            below = _shown(view.table)
            return below and (below[0], [_inlined(after, below[1]) for _, after in view.columns])
    return None


def _inlined(after: After, columns: Sequence[After]) -> After:
    match after:
        case ColumnOf():
            return columns[after.at]
        case Apply():
            return Apply(after.op, tuple(_inlined(arg, columns) for arg in after.args))
    return after


def _with(view: View, more: Sequence[After]) -> tuple[View, int]:
    """The same rows with further columns at the end, and the position of the first of these."""
    match view:
        case Release():
            return replace(view, columns=(*view.columns, *(("", after) for after in more))), len(view.columns)
        case Select():
            table, first = _with(view.table, more)
            columns = (*view.columns, *(("", ColumnOf(first + at)) for at in range(len(more))))
            return replace(view, table=table, columns=columns), len(view.columns)
        case Sorted():
            table, first = _with(view.table, more)
            return replace(view, table=table), first
    message = "only views of one release have a population interval"
    raise ValueError(message)


# Tails


def _furthest(distance: Callable[[Floats], Floats], near: Floats, far: Floats, most: Floats | float) -> Floats:
    """Return how far one can go from `near` towards `far` until the increasing `distance` exceeds `most`; rounded outwards."""
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        within = distance(middle) <= most
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    return far


def _poisson(count: Floats) -> Callable[[Floats], Floats]:
    """N ln(N / μ) - N + μ."""
    return lambda mean: _relative(count, mean) - count + mean


def _share_above(share: Floats, most: Floats) -> Floats:
    """The largest p with KL(share || p) <= most; by Pinsker it is not beyond share + sqrt(most / 2)."""

    def divergence(p: Floats) -> Floats:
        return _relative(share, p) + _relative(1 - share, 1 - p)

    return _furthest(divergence, share, np.minimum(share + np.sqrt(most / 2), 1.0), most)


def _relative(a: Floats, b: Floats) -> Floats:
    """Relative entropy: a ln(a / b), 0 where a is."""
    return np.where(a > 0, a * np.log(a / b), 0.0)


def _bernstein(variance: Floats, people: Floats, error: float) -> Floats:
    """Return a bound on |mean - expectation| relative to the range: the smallest over all λ, each of which is valid."""
    far = np.full(len(people), np.inf)
    for k in range(1, _FINEST + 1):
        slope = 2.0**-k
        cumulant = -slope - math.log1p(-slope)
        sure = math.log(2 * k * (k + 1)) - math.log(error)
        left = cumulant * variance + sure / people
        root = np.sqrt(slope**2 - 4 * cumulant * left)  # NaN: this λ gives no bound; the other root is beyond the range
        far = np.fmin(far, 2 * left / (slope + root))
    return far
