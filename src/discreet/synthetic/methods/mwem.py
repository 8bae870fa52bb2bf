"""MWEM: as many rounds as there are columns, twice; each measures the wanted table that the model so far is most wrong about.

Citation: Hardt, Ligett, McSherry 2012 (arXiv:1012.4763). Its multiplicative update, replayed over all earlier measurements until nothing changes,
is iterative scaling: here the fit itself, on a tree instead of a table of all cells. Tables are measured whole, where the paper measures one cell.
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
"""Of the budget, for the number of rows."""
MOST_CELLS = 250_000
"""Of a model."""


class Mwem(OfTables):
    """No one-column tables, no annealing, half of each round for its choice: the classic, to compare with."""

    def measure(self, measurer: Measurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on the number of rows, then on rounds.

        Args:
            measurer: Through which rows are seen.
            marginals: Tables the model shall be good at, with their weights.
        """
        domain = measurer.domain
        self.rehearse(measurer, marginals)
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

    def rehearse(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> Gaussian | Laplace:  # noqa: ARG002
        """The number of rows. The noise of every round.

        Args:
            measurer: Of the run, or of a rehearsal.
            marginals: Makes no difference here.
        """
        measurer.noisy((), measurer.noise((), measurer.budget * FOR_ROWS))
        return measurer.noise((), self._halves(measurer)[1])

    def _halves(self, measurer: TableMeasurer) -> list[Fraction]:
        """What choices and tables get, in turn."""
        return measurer.shares([1] * (2 * self.rounds(measurer.domain)))

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:  # noqa: ARG002
        """Whether a table of an earlier release enters its model: any does.

        Args:
            columns: Of the table.
            marginals: Tables with their weights.
        """
        return True

    def rounds(self, domain: Domain) -> int:
        """Twice as many as there are columns.

        Args:
            domain: What is public.
        """
        return 2 * len(domain.columns)

    def weights(self, domain: Domain, marginals: Mapping[Columns, int]) -> dict[Columns, int]:  # noqa: ARG002
        """What may be chosen: the wanted tables.

        Args:
            domain: What is public.
            marginals: Tables with their weights.
        """
        return within_limits(marginals)
