"""Consistent tables of all regions of a tree: least squares up and down the tree, then non-negative integers by level.

The integers are made last and from the top, because sums of clipped blocks would overstate every level above them.
Invariants are totals that are published exactly, outside of any budget. With invariants the guarantee holds only
between people of the same region.

Citation: Hay, Rastogi, Miklau, Suciu 2010 (arXiv:0904.0942), least squares in a tree; Abowd et al. 2022, "The 2020
Census Disclosure Avoidance System TopDown Algorithm".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.exact import read_count
from discreet.core.loss import Neighbours
from discreet.errors import BadData, BadInput
from discreet.mechanisms.additive.combinations import Integers, Measurement
from discreet.mechanisms.additive.integer_addition import as_int64
from discreet.workloads.queries.families import Floats
from discreet.workloads.queries.geography import Regions, Tree
from discreet.workloads.releases.integer_rounding import round_to_counts, round_to_totals
from discreet.workloads.strategies.workload_budget import WorkloadBudget


@dataclass(frozen=True, slots=True, eq=False)
class TopDown:
    """A plan of the measurements of every level of a tree.

    `cells` is the number of cells of one region's table. `invariant` is the last level whose totals are published
    exactly.
    """

    tree: Tree
    cells: int
    budget: WorkloadBudget
    measurements: tuple[Measurement | None, ...]
    invariant: str | None

    @classmethod
    def of(
        cls,
        tree: Tree,
        *,
        cells: int,
        shares: Sequence[float] | None = None,
        invariant: str | None = None,
        **budget: Any,
    ) -> TopDown:
        """Plan the measurements of all levels.

        Args:
            tree: Tree of regions.
            cells: Number of cells of the table of a region.
            shares: How the budget is divided among the levels, from the whole down. The default is evenly.
            invariant: The level whose totals are published exactly. Only the data owner declares it.
            **budget: `rho` or `epsilon`; `rows_per_person`; `neighbours`.
        """
        cost, each = WorkloadBudget(**budget), read_count(cells, name="cells")
        if invariant is not None:
            tree.level(invariant)
            if cost.neighbours is Neighbours.ADD_REMOVE:
                raise BadInput(
                    "With invariants no two datasets are neighbours under add-remove, so there is no guarantee.",
                    next_step="Declare replace-one in the catalog, or publish no invariant.",
                )
        parts = np.ones(len(tree.names)) if shares is None else np.array(shares, np.float64)
        if parts.shape != (len(tree.names),) or not np.all(np.isfinite(parts) & (parts >= 0)) or not parts[-1] > 0:
            raise BadInput("Shares must be a number for each level, the last above 0.", next_step="Give one per level.")
        combinations = [Regions(tree, level, each) for level in range(len(tree.names))]
        return cls(tree, each, cost, cost.measurements(combinations, parts), invariant)

    def estimates(self, noisy: Sequence[Integers | None]) -> list[Floats]:
        """Return the least-squares tables of each level, a row per region: consistent, perhaps negative.

        Args:
            noisy: The measurement of each level; None if it was not measured.
        """
        expected = [m.combination.kept if m else None for m in self.measurements]
        if [None if numbers is None else np.size(numbers) for numbers in noisy] != expected:
            raise BadData("These are not the numbers that the plan measures.", next_step="Give one array per level.")
        tables, variances = self._upwards(noisy)
        for level in range(1, len(tables)):
            parent, starts = self.tree.parents(level), self.tree.starts[level - 1]
            missing = tables[level - 1] - np.add.reduceat(tables[level], starts, axis=0)
            parts = variances[level] / np.add.reduceat(variances[level], starts)[parent]
            tables[level] = tables[level] + parts[:, None] * missing[parent]
        return tables

    def _upwards(self, noisy: Sequence[Integers | None]) -> tuple[list[Floats], list[Floats]]:
        """Combine each region's own table with those below it, from the blocks up; return tables and variances."""
        below, spread = np.zeros(0), np.zeros(0)
        tables: list[Floats] = []
        variances: list[Floats] = []
        for level in reversed(range(len(noisy))):
            measurement, numbers = self.measurements[level], noisy[level]
            own = np.zeros((self.tree.sizes[level], self.cells)) if numbers is None else numbers.reshape(-1, self.cells)
            precision = np.full(len(own), 1 / measurement.variance if measurement else 0.0)
            table: Floats = own.astype(np.float64)
            if level < len(noisy) - 1:
                summed = np.add.reduceat(below, self.tree.starts[level], axis=0)
                other = 1 / np.add.reduceat(spread, self.tree.starts[level])
                share = (precision / (precision + other))[:, None]
                table, precision = share * table + (1 - share) * summed, precision + other
            below, spread = table, 1 / precision
            tables.insert(0, below)
            variances.insert(0, spread)
        return tables, variances

    def standard_errors(self) -> list[float]:
        """Return, for each level, an upper bound on the standard error of a cell in the least exact region."""
        nothing = [np.zeros(m.combination.kept, np.int64) if m else None for m in self.measurements]
        return [float(np.sqrt(variances.max())) for variances in self._upwards(nothing)[1]]

    def counts(self, noisy: Sequence[Integers | None], totals: Integers | None = None) -> list[Integers]:
        """Return the tables of each level as non-negative integers, consistent with each other and the invariants.

        Args:
            noisy: The measurement of each level; None if it was not measured.
            totals: The exact totals of the regions of the invariant level.
        """
        known = self._known(totals)
        estimates = self.estimates(noisy)
        tables = [round_to_counts(estimates[0]) if known[0] is None else self._whole(estimates[0], known[0])]
        for level in range(1, len(estimates)):
            starts, exact = self.tree.starts[level - 1], known[level]
            if exact is None:
                tables.append(split_counts(estimates[level], tables[-1], starts))
            else:
                tables.append(split_counts_with_totals(estimates[level], tables[-1], starts, exact))
        return tables

    def _known(self, totals: Integers | None) -> list[Integers | None]:
        """Return the exact totals of every level down to the invariant one."""
        if (totals is None) != (self.invariant is None):
            raise BadInput("Exact totals are used only with an invariant.", next_step="Give both, or neither.")
        known: list[Integers | None] = [None] * len(self.tree.names)
        if totals is None or self.invariant is None:
            return known
        last = self.tree.level(self.invariant)
        exact = as_int64(totals, size=self.tree.sizes[last]).reshape(-1, 1)
        for level in range(last + 1):
            known[level] = self.tree.sum_regions(exact, start=last, end=level).reshape(-1)
        return known

    def _whole(self, estimates: Floats, total: Integers) -> Integers:
        return round_to_totals(estimates.reshape(-1), totals=total, starts=np.array([0])).reshape(1, -1)


def split_counts(estimates: Floats, above: Integers, starts: Integers) -> Integers:
    """Split the counts of regions into counts of their parts, cell by cell.

    Args:
        estimates: Estimates of the parts, a row for each part.
        above: Counts of the regions, a row for each region.
        starts: Position of the first part of each region.
    """
    regions, cells = estimates.shape
    each = (np.arange(cells)[:, None] * regions + starts).reshape(-1)
    counts = round_to_totals(estimates.T.reshape(-1), totals=above.T.reshape(-1), starts=each)
    return np.ascontiguousarray(counts.reshape(cells, regions).T)


def split_counts_with_totals(estimates: Floats, above: Integers, starts: Integers, totals: Integers) -> Integers:
    """Split the counts of regions into counts of parts whose totals are known, too.

    The cells are halved recursively: the sum of the left half determines that of the right half.

    Args:
        estimates: Estimates of the parts, a row for each part.
        above: Counts of the regions, a row for each region.
        starts: Position of the first part of each region.
        totals: Exact total of each part.
    """
    cells = estimates.shape[1]
    if cells == 1:
        return totals[:, None]
    half = cells // 2
    missing = (totals - estimates.sum(axis=1)) * (half / cells)
    left = round_to_totals(
        estimates[:, :half].sum(axis=1) + missing, totals=above[:, :half].sum(axis=1), starts=starts, caps=totals
    )
    return np.concatenate(
        [
            split_counts_with_totals(estimates[:, :half], above[:, :half], starts, left),
            split_counts_with_totals(estimates[:, half:], above[:, half:], starts, totals - left),
        ],
        axis=1,
    )
