"""MST: measure every column, then the pairs of a spanning tree over the most dependent columns.

Citation: McKenna, Miklau, Sheldon 2021 (arXiv:2108.04978). It is fast: the model is always a tree of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import Measurer, TableMeasurer
from discreet.mechanisms import Gaussian, Laplace
from discreet.synthetic.methods.candidates import check_number
from discreet.synthetic.methods.method_state import Progress
from discreet.synthetic.methods.one_column_tables import measure_each
from discreet.synthetic.models.synthetic_model import OfTables, Start, noise_in_a_cell


class Mst(OfTables):
    """Spend a third of the budget each on columns, on choosing pairs, and on measuring pairs."""

    least_group = 3

    def check(self, domain: Domain, marginals: Mapping[Columns, int]) -> None:  # noqa: ARG002
        """Refuse more pairs than can be scored in reasonable time."""
        check_number(math.comb(len(domain.columns), 2))

    def measure(self, measurer: Measurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on columns and on the pairs of a tree."""
        noise = self.measure_before_choices(measurer, marginals)
        if noise is None:
            return
        pairs = len(measurer.domain.columns) - 1
        choosing, _ = measurer.shares([1, 1])
        groups = Start.of(measurer.domain, measurer.measurements).groups(self.least_group * noise_in_a_cell(noise))
        progress = Progress(measurer.domain, measurer.measurements, groups)
        coarse = measurer.merged(groups) if groups else measurer
        chosen = self._spanning(coarse, progress, choosing / pairs)
        for columns, share in zip(chosen, coarse.shares([1] * pairs), strict=True):
            coarse.noisy(columns, coarse.noise(columns, share))

    def measure_before_choices(
        self,
        measurer: TableMeasurer,
        marginals: Mapping[Columns, int],  # noqa: ARG002
    ) -> Gaussian | Laplace | None:
        """Measure every column. Return the noise of a pair, or None if there are no pairs."""
        pairs = len(measurer.domain.columns) - 1
        measure_each(measurer, measurer.budget / 3 if pairs else measurer.left)
        if not pairs:
            return None
        _, measuring = measurer.shares([1, 1])
        return measurer.noise(measurer.domain.names[:1], measuring / pairs)

    def _spanning(self, measurer: Measurer, progress: Progress, share: Fraction) -> list[Columns]:
        """Kruskal's algorithm with noisy choices: repeatedly choose a pair that joins two components."""
        names = measurer.domain.names
        part = {name: name for name in names}
        estimates = progress.estimates(combinations(names, 2))
        chosen: list[Columns] = []
        while len(set(part.values())) > 1:
            open_pairs = {pair: table for pair, table in estimates.items() if part[pair[0]] != part[pair[1]]}
            even = dict.fromkeys(open_pairs, 1)
            choice = measurer.choice(even.values(), share)
            first, second = measurer.worst(open_pairs, even, dict.fromkeys(open_pairs, 0), choice)
            chosen.append((first, second))
            joined, gone = part[first], part[second]
            part = {name: joined if old == gone else old for name, old in part.items()}
        return chosen

    def rounds(self, domain: Domain) -> int:
        """Return the number of pairs in the tree."""
        return len(domain.columns) - 1

    def weights(self, domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:  # noqa: ARG002
        """Return the candidate pairs with their weights."""
        return dict.fromkeys(combinations(domain.names, 2), 1)
