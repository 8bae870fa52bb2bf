"""A run under way: codes merged, tables taken in, the model so far. Methods and the bounds that are worked out afterwards go the same way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import GRID, Counts, Groups, Measured, MeasurementResult, on_grid
from discreet.synthetic.models.beliefs import Beliefs, Table
from discreet.synthetic.models.junction_trees import Columns as Numbers
from discreet.synthetic.models.synthetic_model import Start, begun, grouped, numbers_of


class Progress:
    """What is known after some measurements; takes in the next ones in order, and always makes the same of them."""

    def __init__(self, domain: Domain, measurements: Sequence[MeasurementResult], groups: Groups) -> None:
        self.domain, self._start = domain, Start.of(domain, measurements)
        self.codings = self._start.codings(groups)
        self.fit = begun(domain, self._start, self.codings, measurements)
        self._beliefs: Beliefs | None = None

    @property
    def rows(self) -> float:
        """How many there are, about."""
        return self._start.total

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many groups of codes each column has."""
        return self.fit.sizes

    @property
    def beliefs(self) -> Beliefs:
        """The model of all that was taken in."""
        if self._beliefs is None:
            self._beliefs = self.fit.solved()
        return self._beliefs

    def take(self, measurement: Measured) -> None:
        """Take in a table.

        Args:
            measurement: The next one.
        """
        self.fit.add(grouped(self.domain, measurement, self.codings))
        self._beliefs = None

    def expected(self, columns: Numbers) -> Table:
        """Counts over groups of some columns, as the model has them.

        Args:
            columns: By their places.
        """
        return self.beliefs.table(columns) * self.rows

    def estimates(self, candidates: Iterable[Columns]) -> dict[Columns, Counts]:
        """The same for every candidate of a choice, on the grid that scores are on.

        Args:
            candidates: By their names.
        """
        return {columns: on_grid(self.expected(numbers_of(self.domain, columns))) for columns in candidates}


def penalties_of(estimates: dict[Columns, Counts], noise: float) -> dict[Columns, int]:
    """What the noise alone would make of each candidate's score, on the grid.

    Args:
        estimates: Of the candidates.
        noise: Its expected size in a cell, in rows.
    """
    return {columns: round(noise * estimate.size * GRID) for columns, estimate in estimates.items()}
