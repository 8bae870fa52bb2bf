"""MST: every column alone, then the pairs of a spanning tree that keeps the columns together which depend on each other most.

Citation: McKenna, Miklau, Sheldon 2021 (arXiv:2108.04978). Fast: its model is a tree of pairs, whatever the data.
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
    """A third of the budget for columns, a third for choosing pairs, a third for the pairs."""

    least_group = 3

    def check(self, domain: Domain, marginals: Mapping[Columns, int]) -> None:  # noqa: ARG002
        """Refuse more pairs than can be chosen among in good time.

        Args:
            domain: What is public.
            marginals: Makes no difference here.
        """
        check_number(math.comb(len(domain.columns), 2))

    def measure(self, measurer: Measurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on columns and on the pairs of a tree.

        Args:
            measurer: Through which rows are seen.
            marginals: Makes no difference here: every column is kept near to those it depends on.
        """
        noise = self.rehearse(measurer, marginals)
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

    def rehearse(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> Gaussian | Laplace | None:  # noqa: ARG002
        """Every column alone. The noise of a pair, if there are any.

        Args:
            measurer: Of the run, or of a rehearsal.
            marginals: Makes no difference here.
        """
        pairs = len(measurer.domain.columns) - 1
        measure_each(measurer, measurer.budget / 3 if pairs else measurer.left)
        if not pairs:
            return None
        _, measuring = measurer.shares([1, 1])
        return measurer.noise(measurer.domain.names[:1], measuring / pairs)

    def _spanning(self, measurer: Measurer, progress: Progress, share: Fraction) -> list[Columns]:
        """Kruskal's algorithm with noisy choices: pairs that join two parts, one after another."""
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
        """A pair of the tree each.

        Args:
            domain: What is public.
        """
        return len(domain.columns) - 1

    def weights(self, domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:  # noqa: ARG002
        """What may be chosen, and how much each counts.

        Args:
            domain: What is public.
            marginals: Makes no difference here.
        """
        return dict.fromkeys(combinations(domain.names, 2), 1)
