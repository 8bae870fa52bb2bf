"""SmallDB: of all databases of a few rows, one that answers every count of the wanted tables nearly as well as the best.

Citation: Blum, Ligett, Roth 2008 (arXiv:1109.2229); Sapienza slides, "SmallDB", whose exp(-ε n max) is 2ε-DP: ours is calibrated to ε. It looks at every such database,
so it is for domains of a few cells: to learn from, and to hold other methods against.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import MeasurementResult, Measurer, SmallDatabase
from discreet.measurement.small_databases import sequences
from discreet.noise import RandomBits, uniform_below
from discreet.synthetic.models.beliefs import Table, added_up
from discreet.synthetic.models.synthetic_model import OfTables, Start, numbers_of

FOR_ROWS = Fraction(1, 5)
"""Of the budget, for the number of rows."""
LEAST_LENGTH, MOST_LENGTH = 4, 64
QUICKLY_SEEN = 2**17
"""Databases of more than `LEAST_LENGTH` rows are not more than these."""


class SmallDb(OfTables):
    """One choice among all databases of a length that balances how coarse they are against how many there are."""

    def check(self, domain: Domain, marginals: Mapping[Columns, int]) -> None:  # noqa: ARG002
        """Refuse domains over which even databases of four rows are too many.

        Args:
            domain: What is public.
            marginals: Tables with their weights.
        """
        sequences(domain, LEAST_LENGTH)

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:  # noqa: ARG002
        """Whether a table of an earlier release enters its model: none, which is a choice and nothing else.

        Args:
            columns: Of the table.
            marginals: Tables with their weights.
        """
        return False

    def seconds(self, domain: Domain, *, candidates: int, cells: int) -> float:  # noqa: ARG002
        """About how long it computes: it scores every database.

        Args:
            domain: What is public.
            candidates: Makes no difference here.
            cells: Makes no difference here.
        """
        return 1e-6 * max(QUICKLY_SEEN, sequences(domain, LEAST_LENGTH))

    def measure(self, measurer: Measurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on the number of rows, then on one choice.

        Args:
            measurer: Through which rows are seen.
            marginals: Tables whose every count shall be near.
        """
        self.check(measurer.domain, marginals)
        measurer.noisy((), measurer.noise((), measurer.budget * FOR_ROWS))
        rows = Start.of(measurer.domain, measurer.measurements).total
        cells = measurer.domain.cells(measurer.domain.names)
        epsilon = float(measurer.small_choice(LEAST_LENGTH, measurer.left).epsilon)
        # A cell more or less is rows / length; the choice is off by 2 / epsilon times the logarithm of how many there are.
        balanced = round(math.sqrt(rows * epsilon / (4 * math.log(max(cells, 2)))))
        longest = int(math.log(QUICKLY_SEEN) / math.log(max(cells, 2)) + 1e-9)
        length = max(LEAST_LENGTH, min(balanced, longest, MOST_LENGTH))
        choice = measurer.small_choice(length, measurer.left)
        measurer.small_database(list(marginals), max(1, round(rows / length)), choice)

    def model(self, domain: Domain, measurements: Sequence[MeasurementResult]) -> SmallModel:
        """What follows from the measurements.

        Args:
            domain: What is public.
            measurements: Those of a finished run.
        """
        return next(
            SmallModel(domain, measurement) for measurement in measurements if isinstance(measurement, SmallDatabase)
        )


@dataclass(frozen=True)
class SmallModel:
    """A few cells, each for as many rows."""

    domain: Domain
    small: SmallDatabase

    @property
    def total(self) -> float:
        """About how many rows there are."""
        return float(self.small.rows_each * len(self.small.cells))

    def table(self, columns: Columns) -> Table:
        """Counts over some columns.

        Args:
            columns: In the order of the domain.
        """
        shape = self.domain.shape(self.domain.names)
        counts = (np.bincount(self.small.cells, minlength=math.prod(shape)) * self.small.rows_each).astype(np.float64)
        numbers = numbers_of(self.domain, self.domain.check(columns))
        return added_up(counts.reshape(shape), tuple(range(len(shape))), numbers)

    def rows(self, count: int, bits: RandomBits) -> NDArray[np.integer[Any]]:
        """So many rows of codes, the cells in turn.

        Args:
            count: How many.
            bits: Where the first one comes from.
        """
        first = int(uniform_below(len(self.small.cells), 1, bits)[0])
        cells = np.array(self.small.cells)[(first + np.arange(count)) % len(self.small.cells)]
        return np.stack(np.unravel_index(cells, self.domain.shape(self.domain.names)), axis=1)
