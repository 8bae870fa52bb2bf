"""MWEM: two rounds per column; each measures the marginal on which the current model has the largest error.

Citation: Hardt, Ligett, McSherry 2012 (arXiv:1012.4763). Its multiplicative update, replayed over all
earlier measurements until it converges, is iterative scaling: here the fit itself, on a tree instead of a table of all
cells. A round measures a whole table; the paper measures one cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import Measurer, TableMeasurer
from discreet.mechanisms import Gaussian, Laplace
from discreet.synthetic.methods.candidates import fitting_in, within_limits
from discreet.synthetic.methods.method_state import Progress
from discreet.synthetic.models.synthetic_model import OfTables, numbers_of

FOR_ROWS = Fraction(1, 50)
"""Part of the budget for the row count."""
MOST_CELLS = 250_000
"""Largest model, in cells."""


class Mwem(OfTables):
    """The classic method, for comparison: no one-column tables, no annealing, half of each round's budget for its
    choice.
    """

    def measure(self, measurer: Measurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on the row count, then on rounds."""
        domain = measurer.domain
        self.measure_before_choices(measurer, marginals)
        progress = Progress(domain, measurer.measurements, {})
        weights = self.weights(domain, marginals)
        names = {numbers_of(domain, columns): columns for columns in weights}
        halves = self._halves(measurer)
        for choosing, measuring in zip(halves[0::2], halves[1::2], strict=True):
            candidates = fitting_in(
                names, progress.sizes, progress.fit.evidence, noise=0.0, rows=progress.rows, cells=MOST_CELLS
            )
            if not candidates:
                return
            estimates = progress.estimates([names[numbers] for numbers in candidates])
            listed = {columns: weights[columns] for columns in estimates}
            choice = measurer.choice(listed.values(), choosing)
            chosen = measurer.worst(estimates, listed, dict.fromkeys(estimates, 0), choice)
            progress.take(measurer.noisy(chosen, measurer.noise(chosen, measuring)))

    def measure_before_choices(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> Gaussian | Laplace:  # noqa: ARG002
        """Measure the row count. Return the noise of every round."""
        measurer.noisy((), measurer.noise((), measurer.budget * FOR_ROWS))
        return measurer.noise((), self._halves(measurer)[1])

    def _halves(self, measurer: TableMeasurer) -> list[Fraction]:
        """Return the budgets of choices and tables, alternating."""
        return measurer.shares([1] * (2 * self.rounds(measurer.domain)))

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:  # noqa: ARG002
        """Return True: the model can use every table of an earlier release."""
        return True

    def rounds(self, domain: Domain) -> int:
        """Return two rounds per column."""
        return 2 * len(domain.columns)

    def weights(self, domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:  # noqa: ARG002
        """Return the marginals of the workload as candidates."""
        return within_limits(marginals)
