"""Tables of all regions of a tree that are whole numbers, not negative, and add up: least squares up and down the tree, then counts level by level.

Non-negativity comes last and from the top: clipped blocks that are added up overstate everything above them. Invariants are totals that are published as they are; they are outside of
any price, so that the promise holds between people of the same region only.

Citation: Hay, Rastogi, Miklau, Suciu 2010 (arXiv:0904.0942), least squares in a tree; Abowd et al. 2022, "The 2020 Census Disclosure Avoidance System TopDown Algorithm".
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
from discreet.workloads.releases.integer_rounding import allot, counts_of
from discreet.workloads.strategies.workload_budget import Price


@dataclass(frozen=True, slots=True, eq=False)
class TopDown:
    """What is measured of every level of a tree, and the tables that follow from it.

    `cells` are those of one region's table. `invariant` names the last level whose regions' totals are published as they are.
    """

    tree: Tree
    cells: int
    price: Price
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
        **price: Any,
    ) -> TopDown:
        """A plan for all levels.

        Args:
            tree: Of regions.
            cells: How many cells the table of a region has.
            shares: How the price is divided among the levels, from the whole down; evenly, if nothing is said.
            invariant: The level whose regions' totals are published exactly; an owner declares it.
            **price: `rho` or `epsilon`; `rows_per_person`; `neighbours`.
        """
        cost, each = Price(**price), read_count(cells, name="cells")
        if invariant is not None:
            tree.level(invariant)
            if cost.neighbours is Neighbours.ADD_REMOVE:
                raise BadInput(
                    "Invariants under add-remove leave no two neighbours, and so promise nothing.",
                    next_step="Declare replace-one in the catalog, or publish no invariant.",
                )
        parts = np.ones(len(tree.names)) if shares is None else np.array(shares, np.float64)
        if parts.shape != (len(tree.names),) or not np.all(np.isfinite(parts) & (parts >= 0)) or not parts[-1] > 0:
            raise BadInput("Shares are a number for each level, the last above 0.", next_step="Give one a level.")
        combinations = [Regions(tree, level, each) for level in range(len(tree.names))]
        return cls(tree, each, cost, cost.measurements(combinations, parts), invariant)

    def estimates(self, noisy: Sequence[Integers | None]) -> list[Floats]:
        """For each level the most likely tables, a row a region: they add up, and may be negative.

        Args:
            noisy: What was measured of each level; None for what was not.
        """
        expected = [m.combination.kept if m else None for m in self.measurements]
        if [None if numbers is None else np.size(numbers) for numbers in noisy] != expected:
            raise BadData("These are not the numbers that the plan measures.", next_step="Give one array a level.")
        tables, variances = self._upwards(noisy)
        for level in range(1, len(tables)):
            parent, starts = self.tree.parents(level), self.tree.starts[level - 1]
            missing = tables[level - 1] - np.add.reduceat(tables[level], starts, axis=0)
            parts = variances[level] / np.add.reduceat(variances[level], starts)[parent]
            tables[level] = tables[level] + parts[:, None] * missing[parent]
        return tables

    def _upwards(self, noisy: Sequence[Integers | None]) -> tuple[list[Floats], list[Floats]]:
        """From the blocks up: what each region's own table and those below it say together, and the variance of that."""
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
        """For each level, of a cell of the least exact of its regions, at most: what itself and those below it say together."""
        nothing = [np.zeros(m.combination.kept, np.int64) if m else None for m in self.measurements]
        return [float(np.sqrt(variances.max())) for variances in self._upwards(nothing)[1]]

    def counts(self, noisy: Sequence[Integers | None], totals: Integers | None = None) -> list[Integers]:
        """For each level tables of whole numbers, none below 0, that add up through all levels and to the invariants.

        Args:
            noisy: What was measured of each level; None for what was not.
            totals: The exact totals of the regions of the invariant level.
        """
        known = self._known(totals)
        estimates = self.estimates(noisy)
        tables = [counts_of(estimates[0]) if known[0] is None else self._whole(estimates[0], known[0])]
        for level in range(1, len(estimates)):
            starts, exact = self.tree.starts[level - 1], known[level]
            if exact is None:
                tables.append(parts_adding_up(estimates[level], tables[-1], starts))
            else:
                tables.append(parts_with_totals(estimates[level], tables[-1], starts, exact))
        return tables

    def _known(self, totals: Integers | None) -> list[Integers | None]:
        """The exact totals of every level down to the invariant one."""
        if (totals is None) != (self.invariant is None):
            raise BadInput("Totals belong to an invariant.", next_step="Give both, or neither.")
        known: list[Integers | None] = [None] * len(self.tree.names)
        if totals is None or self.invariant is None:
            return known
        last = self.tree.level(self.invariant)
        exact = as_int64(totals, size=self.tree.sizes[last]).reshape(-1, 1)
        for level in range(last + 1):
            known[level] = self.tree.added_up(exact, start=last, end=level).reshape(-1)
        return known

    def _whole(self, estimates: Floats, total: Integers) -> Integers:
        return allot(estimates.reshape(-1), totals=total, starts=np.array([0])).reshape(1, -1)


def parts_adding_up(estimates: Floats, above: Integers, starts: Integers) -> Integers:
    """Tables of parts that add up to those above, cell by cell.

    Args:
        estimates: Of the parts, a row a region.
        above: The counts of the regions that they are parts of.
        starts: Where the parts of each region begin.
    """
    regions, cells = estimates.shape
    each = (np.arange(cells)[:, None] * regions + starts).reshape(-1)
    counts = allot(estimates.T.reshape(-1), totals=above.T.reshape(-1), starts=each)
    return np.ascontiguousarray(counts.reshape(cells, regions).T)


def parts_with_totals(estimates: Floats, above: Integers, starts: Integers, totals: Integers) -> Integers:
    """The same where each part's own total is known too: cells are halved again and again, and the left half's sum decides the right one's.

    Args:
        estimates: Of the parts, a row a region.
        above: The counts of the regions that they are parts of.
        starts: Where the parts of each region begin.
        totals: Of the parts, exactly.
    """
    cells = estimates.shape[1]
    if cells == 1:
        return totals[:, None]
    half = cells // 2
    missing = (totals - estimates.sum(axis=1)) * (half / cells)
    left = allot(
        estimates[:, :half].sum(axis=1) + missing, totals=above[:, :half].sum(axis=1), starts=starts, caps=totals
    )
    return np.concatenate(
        [
            parts_with_totals(estimates[:, :half], above[:, :half], starts, left),
            parts_with_totals(estimates[:, half:], above[:, half:], starts, totals - left),
        ],
        axis=1,
    )
