"""The run that measures tables of all regions of a tree, and its release of consistent counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.catalog import Regions as DeclaredTree
from discreet.catalog import Table, Type
from discreet.catalog.region_trees import WHOLE
from discreet.core.exact import Number, read_level
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadInput, TooLarge
from discreet.measurement.domain import MOST_CELLS, Columns, Domain, label_text
from discreet.measurement.measurer import Measurer
from discreet.measurement.run_release import RunRelease
from discreet.measurement.runs import Basis, Invariant, TableRun
from discreet.measurement.transcript import about
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.mechanisms.additive.combinations import Integers
from discreet.sql.coded_rows import CodedSource
from discreet.sql.reader.public_lookup import PublicLookup
from discreet.workloads.queries.geography import Regions, Tree
from discreet.workloads.releases.tabulation import budget_arguments, unique_names
from discreet.workloads.releases.topdown import TopDown
from discreet.workloads.strategies.strategy_choice import half_width_factor

PURPOSE = "regions"


@dataclass(frozen=True, slots=True, eq=False)
class Geography:
    """A tree with the names of its regions: by level, a name for each region of the last level, in tree order."""

    names: Mapping[str, Sequence[Any]]
    tree: Tree

    @classmethod
    def in_table(cls, declared: DeclaredTree, table: Table, lookup: PublicLookup) -> Geography:
        """Read the geography that a catalog declares from its public table.

        Args:
            declared: The declaration, which names the columns of the levels.
            table: The public table.
            lookup: Reader of public tables.
        """
        for level in declared.levels:
            if level not in table.columns or table.columns[level].type not in (Type.INTEGER, Type.TEXT):
                raise BadInput(
                    f"{table.name} has no column {level} of integers or text, which the tree {declared.name} needs.",
                    next_step="Ask the owner to name its columns in the catalog.",
                )
        rows = lookup.listed(table, declared.levels)
        if len(rows) > MOST_CELLS:
            raise TooLarge(
                f"The tree {declared.name} has more than {MOST_CELLS:,} regions.",
                next_step="Ask the owner to leave out its last level.",
            )
        if not rows or any(None in row for row in rows) or len({row[-1] for row in rows}) < len(rows):
            raise BadInput(
                f"A row of the table of {declared.name} lacks a name, or shares its name with another row.",
                next_step=f"Ask the owner to give each row of {table.name} a different {declared.levels[-1]}.",
            )
        columns = {level: [row[at] for row in rows] for at, level in enumerate(declared.levels)}
        order = np.argsort(Tree.of(columns).leaves)
        return cls.of({level: [values[row] for row in order] for level, values in columns.items()})

    @classmethod
    def of(cls, names: Mapping[str, Sequence[Any]]) -> Geography:
        """Build the tree of names that are already in its order, by level."""
        return cls(names, Tree.of(names, whole=WHOLE))

    @property
    def smallest(self) -> str:
        """Name of the last level: the column of the protected rows that says in which region they are."""
        return self.tree.names[-1]

    def regions(self, level: int) -> list[tuple[Any, ...]]:
        """Return the names of a level's regions, each with the names of the regions that contain it.

        Args:
            level: Number of the level; 0 is the whole.
        """
        first = np.arange(self.tree.sizes[level])
        for starts in self.tree.starts[level:]:
            first = starts[first]
        above = list(self.names.values())[:level]
        return [tuple(values[leaf] for values in above) for leaf in first.tolist()]


def plan_regions(domain: Domain, budget: AdaptiveBudget, geography: Geography, invariant: str | None) -> TopDown:
    """Plan the measurements of every level, or refuse tables that are too large or invariants without a guarantee.

    Args:
        domain: Domain of the protected rows, whose first column is the region.
        budget: Budget of the run.
        geography: Geography of that column.
        invariant: The level whose exact totals the owner publishes.
    """
    cells = math.prod(domain.shape(domain.check(domain.names)[1:]))
    return TopDown.of(geography.tree, cells=cells, invariant=invariant, **budget_arguments(domain, budget))


def regional_run(
    basis: Basis, plan: TopDown, geography: Geography, *, tree: str, counted: CodedSource | None = None
) -> TableRun:
    """Prepare the run that measures tables of all regions. Reads no protected row.

    Args:
        basis: The rows, whose first column is the region, and the budget.
        plan: Plan over the domain of the rows.
        geography: Geography of the regions.
        tree: Name of the tree in the catalog.
        counted: The rows that the owner named in the catalog, by region. Invariants are their exact totals.
    """
    names = [[level, list(values)] for level, values in geography.names.items()]
    sizes = [list(level) for level in zip(plan.tree.names, plan.tree.sizes, strict=True)]
    purpose = {"kind": PURPOSE, "tree": tree, "levels": sizes, "regions": names, "invariant": plan.invariant}
    what = f"tables by {tree}" if plan.invariant is None else f"tables by {tree}, totals of {plan.invariant} exact,"
    region, totals = basis.domain.names[:1], _totals(plan)
    declared = None
    if totals is not None and counted is not None:
        declared = Invariant(about("invariant", paid=None, columns=region, combination=totals.described), counted)
    return basis.run(
        what, purpose=purpose, measure=partial(_measure, plan=plan, columns=basis.domain.names), invariant=declared
    )


def _totals(plan: TopDown) -> Regions | None:
    return None if plan.invariant is None else Regions(plan.tree, plan.tree.level(plan.invariant), 1)


def _measure(measurer: Measurer, plan: TopDown, columns: Columns) -> None:
    for measurement in plan.measurements:
        if measurement:
            measurer.combined(columns, measurement.combination, measurement.noise)
    totals = _totals(plan)
    if totals is not None:
        measurer.invariant(columns[:1], totals)


def half_widths(plan: TopDown, confidence: Number) -> list[float]:
    """Return the largest half-width of a count of each level, before counts are rounded to integers.

    Args:
        plan: Plan of all levels.
        confidence: Probability with which a count is no further off.
    """
    width = half_width_factor(float(read_level(confidence)), gaussian=plan.budget.gaussian)
    return [width * error for error in plan.standard_errors()]


class RegionalRelease(RunRelease, kind=PURPOSE):
    """Counts for every region of a tree: non-negative integers, consistent through all levels."""

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {size:,}" for name, size in self.summary["levels"].items())
        return f"RegionalRelease(name={self.name!r}, tree={self.purpose['tree']!r}, {sizes})"

    @property
    def summary(self) -> dict[str, Any]:
        """A summary as JSON."""
        return {
            **super().summary,
            "tree": self.purpose["tree"],
            "levels": dict(self.purpose["levels"]),
            "invariant": self.purpose["invariant"],
            "strategy": "top-down",
        }

    @cached_property
    def geography(self) -> Geography:
        """The regions of the tree."""
        return Geography.of(dict(self.purpose["regions"]))

    @cached_property
    def plan(self) -> TopDown:
        """The measurements and their noise."""
        return plan_regions(self.domain, self.budget, self.geography, self.purpose["invariant"])

    @cached_property
    def counts(self) -> list[Integers]:
        """The counts of each level: a row for each region, a column for each cell."""
        steps = iter(self.transcript.steps)
        noisy = [next(steps).outcome if measurement else None for measurement in self.plan.measurements]
        return self.plan.counts(noisy, None if self.plan.invariant is None else next(steps).outcome)

    def table(self, level: str) -> Integers:
        """Return the counts of a level's regions: an axis for the regions, then one for each further column.

        Args:
            level: Name of the level; "all" is the whole.
        """
        shape = self.domain.shape(self.domain.names[1:])
        return self.counts[self.geography.tree.level(level)].reshape(-1, *shape)

    def regions(self, level: str) -> list[tuple[Any, ...]]:
        """Return the names of a level's regions, each with the names of the regions that contain it.

        Args:
            level: Name of the level.
        """
        return self.geography.regions(self.geography.tree.level(level))

    def errors(self, confidence: Number) -> dict[str, float]:
        """Return the largest half-width of a count of each level, before counts are rounded to integers.

        Args:
            confidence: Probability with which a count is no further off.
        """
        return dict(zip(self.geography.tree.names, half_widths(self.plan, confidence), strict=True))

    def to_arrow(self) -> pa.Table:
        """Return a row per count: level, region (empty below its level), further columns, count, half-width at 95 %."""
        others = [self.domain.column(name) for name in self.domain.names[1:]]
        cells = list(itertools.product(*([label_text(label) for label in column.labels] for column in others)))
        parts = [self._rows(level, cells) for level in self.geography.tree.names]
        return pa.concat_tables(parts)

    def _rows(self, level: str, cells: Sequence[tuple[str, ...]]) -> pa.Table:
        levels, others, names = self.geography.tree.names[1:], self.domain.names[1:], self.regions(level)
        arrays = [pa.array([level] * (len(names) * len(cells)))]
        for at in range(len(levels)):
            texts = [str(name[at]) if at < len(name) else None for name in names]
            arrays.append(pa.array([text for text in texts for _ in cells], pa.string()))
        arrays += [
            *(pa.array([cell[at] for cell in cells] * len(names), pa.string()) for at in range(len(others))),
            pa.array(self.table(level).reshape(-1)),
            pa.array(np.full(len(arrays[0]), self.errors(CONFIDENCE)[level])),
        ]
        return pa.table(arrays, names=unique_names(["level", *levels, *others, "count", "within"]))
