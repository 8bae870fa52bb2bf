"""Reuse of earlier tables in a new model: which of them fit, and what they are worth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import Measured, TableMeasurer
from discreet.measurement.reuse import only
from discreet.measurement.transcript import Earlier, Step
from discreet.mechanisms import Gaussian, Laplace, PureAdaptive
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.synthetic.methods.method import Method
from discreet.synthetic.models.junction_trees import Columns as Numbers
from discreet.synthetic.models.junction_trees import cells_of, neighbours_of
from discreet.synthetic.models.synthetic_model import numbers_of

MOST_CELLS = 125_000
"""Largest model of reused tables alone, in cells."""
LEAST_WORTH = 0.25
"""Least value of reused tables over merged codes, as a part of the budget. Below it the run merges codes itself."""


def fitting_tables(
    releases: Sequence[Earlier],
    method: Method,
    domain: Domain,
    marginals: Mapping[Columns, int],
    budget: AdaptiveBudget,
) -> tuple[Earlier, ...]:
    """Return the earlier tables that fit together in the model of a method, starting with the most valuable release."""
    noises = {id(step): step.noise for earlier in releases for step in earlier.steps if step.kind == "table"}

    def worth(steps: Iterable[Step]) -> float:
        own = (noises[id(step)] for step in steps if id(step) in noises)
        return worth_of(own, domain, is_pure=isinstance(budget, PureAdaptive))

    ordered = sorted(releases, key=lambda earlier: -worth(earlier.steps))
    best = only(ordered, _Fitting(method, domain, marginals).takes)
    merged = [step for earlier in best for step in earlier.steps if step.about["groups"]]
    if merged and worth(merged) < LEAST_WORTH * float(budget.amount):
        return only(ordered, _Fitting(method, domain, marginals, is_merging=False).takes)
    return best


@dataclass(slots=True)
class _Fitting:
    """The accepted tables: size of their model, and their groups of codes."""

    method: Method
    domain: Domain
    marginals: Mapping[Columns, int]
    is_merging: bool = True
    _kept: list[Numbers] = field(default_factory=list)
    _sizes: dict[int, int] = field(default_factory=dict)
    _groups: dict[str, list[int]] = field(default_factory=dict)

    def takes(self, step: Step) -> bool:
        """Return whether one more table fits, and if so accept it."""
        if step.kind != "table" or not self._agrees(step.about["groups"]):
            return False
        columns = tuple(step.about["columns"])
        numbers = numbers_of(self.domain, columns)
        shape = zip(numbers, step.about["shape"], strict=True)
        sizes = {**self._sizes, **{number: max(size, self._sizes.get(number, 1)) for number, size in shape}}
        count = len(self.domain.columns)
        around = neighbours_of([*self._kept, numbers], count)
        is_small = len(columns) <= 1 or cells_of(around, tuple(sizes.get(i, 1) for i in range(count))) <= MOST_CELLS
        if not is_small or not self.method.reuses(columns, self.marginals):
            return False
        self._kept.append(numbers)
        self._sizes = sizes
        self._groups.update(step.about["groups"])
        return True

    def _agrees(self, groups: Mapping[str, list[int]]) -> bool:
        """Return whether all tables that merge the codes of a column use the same groups."""
        if groups and not (self.is_merging and self.method.least_group):
            return False
        return all(self._groups.get(name, codes) == codes for name, codes in groups.items())


def worth_of(noises: Iterable[Gaussian | Laplace], domain: Domain, *, is_pure: bool) -> float:
    """Return the total cost of tables with such noise: an epsilon if `is_pure`, else a rho."""
    far = float(domain.l1) if is_pure else float(domain.l2)
    apart = [far / noise.sigma for noise in noises]
    return sum(math.sqrt(2) * each if is_pure else each**2 / 2 for each in apart)


@dataclass(frozen=True, slots=True)
class Known:
    """Value of the reused tables in units of the budget: of all, of single columns, and whether these cover every
    column.
    """

    amount: Fraction
    alone: Fraction
    has_every_column: bool

    @classmethod
    def of(cls, measurer: TableMeasurer) -> Known:
        """Compute it, in thousandths of the budget, before the first measurement of the run."""
        tables = [
            measurement
            for measurement in measurer.measurements
            if isinstance(measurement, Measured) and measurement.is_reused
        ]
        single = [measurement for measurement in tables if len(measurement.columns) == 1 and not measurement.groups]
        names = {measurement.columns[0] for measurement in single}
        amount, alone = (_in_thousandths(measurer, measurements) for measurements in (tables, single))
        return cls(amount, alone, has_every_column=names == set(measurer.domain.names))


def _in_thousandths(measurer: TableMeasurer, measurements: Iterable[Measured]) -> Fraction:
    worth = worth_of((measurement.mechanism for measurement in measurements), measurer.domain, is_pure=measurer.is_pure)
    return Fraction(round(1000 * worth / float(measurer.budget)), 1000) * measurer.budget
