"""From noisy tables to a model: the law that fits them and is else as near as can be to independent columns, by
iterative scaling along the tree.

The fit minimises  sum over tables of |counts - noisy|² / (2 variance)  +  prior · rows · (divergence from independent
columns).  Its dual has one potential a table; at the optimum a potential is (noisy - counts) / (prior · variance). Each
table's potential is set in turn, the others held, by solving that equation cell by cell (Lambert's W), and what changed
travels along the tree. The duality gap is half the sum of squares of what is left of the equations, each over its
variance, so it is known at every moment and stops the work.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.synthetic.models.beliefs import TINY, Beliefs, Table, added_up, calibrated, spread
from discreet.synthetic.models.junction_trees import Columns, Tree

PRIOR = 0.005
"""How strongly independent columns are preferred to what noise may have made: a cell of c expected rows has a prior
variance of c / PRIOR.
"""

GAP = 0.02
"""Of the duality gap, for each measured cell: where the work stops. Noise itself makes the loss about 1/2 a cell."""

MOST_SWEEPS = 60


@dataclass(frozen=True, slots=True)
class Evidence:
    """Noisy counts over some columns, and the variance of their noise, cell by cell."""

    columns: Columns
    counts: Table
    variance: Table

    def and_also(self, other: Evidence) -> Evidence:
        """Both about the same columns: the mean, weighted by precision.

        Args:
            other: About the same columns.
        """
        newer = self.variance / (self.variance + other.variance)
        return Evidence(self.columns, self.counts + newer * (other.counts - self.counts), newer * other.variance)

    def grouped(self, axis: int, groups: NDArray[np.int64]) -> Evidence:
        """The same with the cells of each group together along an axis: counts and variances add up.

        Args:
            axis: Of the table.
            groups: 0, 1, … without a gap, one for each cell along it.
        """
        size = int(groups.max()) + 1
        if size == groups.size:
            return self
        starts = np.argsort(groups, kind="stable")
        firsts = np.searchsorted(groups[starts], np.arange(size))
        counts, variance = (
            np.add.reduceat(np.take(table, starts, axis=axis), firsts, axis=axis)
            for table in (self.counts, self.variance)
        )
        return Evidence(self.columns, counts, variance)


@dataclass
class Fit:
    """A model being fitted. Tables may be added; the potentials of those before them are where the next fit begins."""

    alone: tuple[Table, ...]
    """Of each column, counts that are positive: what it is like as far as nothing else is known."""
    rows: float
    prior: float = PRIOR
    evidence: dict[Columns, Evidence] = field(default_factory=dict)
    potentials: dict[Columns, Table] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(counts.size for counts in self.alone)

    def add(self, evidence: Evidence) -> None:
        """Add a noisy table.

        Args:
            evidence: Its counts are first made to add up to the number of rows.
        """
        excess = (evidence.counts.sum() - self.rows) / evidence.variance.sum()
        evidence = Evidence(evidence.columns, evidence.counts - excess * evidence.variance, evidence.variance)
        before = self.evidence.get(evidence.columns)
        self.evidence[evidence.columns] = before.and_also(evidence) if before else evidence
        self.potentials.setdefault(evidence.columns, np.zeros_like(evidence.counts))

    def solved(self, *, gap: float = GAP, most: int = MOST_SWEEPS) -> Beliefs:
        """Sweep over the tree until the duality gap is small.

        Args:
            gap: Where to stop, for each measured cell.
            most: After how many sweeps to stop anyway.
        """
        tree = Tree.of(self.evidence, self.sizes)
        sweep = _Sweep(self, tree, self._shares(tree))
        cells = sum(evidence.counts.size for evidence in self.evidence.values())
        for _ in range(most):
            if sweep.visit(0) <= gap * cells:
                break
        return Beliefs(tree, self.sizes, self._shares(tree))

    def _shares(self, tree: Tree) -> list[Table]:
        alone = [((column,), np.log(counts)) for column, counts in enumerate(self.alone)]
        return calibrated(tree, self.sizes, [*alone, *self.potentials.items()])


class _Sweep:
    """One tree, its shares, and which tables each clique is in charge of."""

    def __init__(self, fit: Fit, tree: Tree, shares: list[Table]) -> None:
        self._fit, self._tree, self._shares = fit, tree, shares
        self._tables: list[list[Evidence]] = [[] for _ in tree.cliques]
        for columns, evidence in fit.evidence.items():
            homes = [i for i, clique in enumerate(tree.cliques) if set(columns) <= set(clique)]
            self._tables[min(homes, key=lambda i: shares[i].size)].append(evidence)
        self._between = [
            added_up(share, clique, separator)
            for share, clique, separator in zip(shares, tree.cliques, tree.separators, strict=True)
        ]

    def visit(self, i: int) -> float:
        """Set the tables of a clique and of those below it; the part of the duality gap that was met on the way.

        Args:
            i: The clique; 0 is the root, from which all are reached.
        """
        gap = sum(self._scale(i, evidence) for evidence in self._tables[i])
        for child in self._tree.children[i]:
            self._pass_on(i, child, child)
            gap += self.visit(child)
            self._pass_on(child, i, child)
        return gap

    def _scale(self, i: int, evidence: Evidence) -> float:
        """Set one table's potential as its equation says; half the square of what was left of it."""
        clique = self._tree.cliques[i]
        stiff = self._fit.prior * evidence.variance
        potential = self._fit.potentials[evidence.columns]
        now = np.maximum(added_up(self._shares[i], clique, evidence.columns) * self._fit.rows, TINY)
        marginals = evidence.counts - stiff * potential
        step = marginals / stiff - _lambert(np.log(now / stiff) + marginals / stiff)
        potential += step
        self._shares[i] *= spread(np.exp(step), evidence.columns, clique)
        self._shares[i] /= self._shares[i].sum()
        return float(((marginals - now) ** 2 / evidence.variance).sum()) / 2

    def _pass_on(self, source: int, target: int, edge: int) -> None:
        separator = self._tree.separators[edge]
        if not separator:
            return
        new = np.maximum(added_up(self._shares[source], self._tree.cliques[source], separator), TINY)
        self._shares[target] *= spread(new / self._between[edge], separator, self._tree.cliques[target])
        self._between[edge] = new


def _lambert(log: Table) -> Table:
    """The w with w + ln w = log, cell by cell: Lambert's W of exp(log), by Newton's method from a start that is near."""
    small = np.exp(np.minimum(log, 1))
    w = np.where(log > 1, log - np.log(np.maximum(log, 1)), small / (1 + small / 2))
    for _ in range(4):
        w = np.maximum(w, TINY)
        w *= (1 + log - np.log(w)) / (1 + w)
    return w
