"""State of a run: merged codes, added tables, current model. Methods and the later error bounds replay the same
states.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import GRID, Counts, Groups, Measured, MeasurementResult, on_grid
from discreet.synthetic.models.beliefs import Beliefs, Table
from discreet.synthetic.models.junction_trees import Columns as Numbers
from discreet.synthetic.models.synthetic_model import Start, begun, grouped, numbers_of


class Progress:
    """The model after some measurements. It adds later ones in order, and is deterministic."""

    def __init__(self, domain: Domain, measurements: Sequence[MeasurementResult], groups: Groups) -> None:
        self.domain, self._start = domain, Start.of(domain, measurements)
        self.codings = self._start.codings(groups)
        self.fit = begun(domain, self._start, self.codings, measurements)
        self._beliefs: Beliefs | None = None

    @property
    def rows(self) -> float:
        """Estimated number of rows."""
        return self._start.total

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of code groups of each column."""
        return self.fit.sizes

    @property
    def beliefs(self) -> Beliefs:
        """The model fitted to all added tables."""
        if self._beliefs is None:
            self._beliefs = self.fit.solved()
        return self._beliefs

    def take(self, measurement: Measured) -> None:
        """Add the next table to the fit."""
        self.fit.add(grouped(self.domain, measurement, self.codings))
        self._beliefs = None

    def expected(self, columns: Numbers) -> Table:
        """Return the model's expected counts over the code groups of some columns, given by their numbers."""
        return self.beliefs.table(columns) * self.rows

    def estimates(self, candidates: Iterable[Columns]) -> dict[Columns, Counts]:
        """Return the expected counts of every candidate, rounded to the score grid."""
        return {columns: on_grid(self.expected(numbers_of(self.domain, columns))) for columns in candidates}


def penalties_of(estimates: dict[Columns, Counts], noise: float) -> dict[Columns, int]:
    """Return the part of each candidate's score that noise alone explains, on the score grid."""
    return {columns: round(noise * estimate.size * GRID) for columns, estimate in estimates.items()}
