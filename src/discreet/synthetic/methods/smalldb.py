"""SmallDB: choose a database of a few rows whose marginals are nearly as accurate as those of the best one.

Citation: Blum, Ligett, Roth 2008 (arXiv:1109.2229); Sapienza slides, "SmallDB", whose exp(-ε n max) is 2ε-DP: ours is
calibrated to ε. It scores every such database, so it is for domains of a few cells: for learning and comparisons.
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
"""Part of the budget for the row count."""
LEAST_LENGTH, MOST_LENGTH = 4, 64
QUICKLY_SEEN = 2**17
"""Largest number of databases to score if they have more than `LEAST_LENGTH` rows."""


class SmallDb(OfTables):
    """Choose once among all databases of one length, which balances their coarseness against their number."""

    def check(self, domain: Domain, marginals: Mapping[Columns, int]) -> None:  # noqa: ARG002
        """Refuse domains with too many databases of even four rows."""
        sequences(domain, LEAST_LENGTH)

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:  # noqa: ARG002
        """Return False: the model is one choice and cannot use other tables."""
        return False

    def seconds(self, domain: Domain, *, candidates: int, cells: int) -> float:  # noqa: ARG002
        """Estimate the computing time: every database is scored."""
        return 1e-6 * max(QUICKLY_SEEN, sequences(domain, LEAST_LENGTH))

    def measure(self, measurer: Measurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on the row count, then on one choice."""
        self.check(measurer.domain, marginals)
        measurer.noisy((), measurer.noise((), measurer.budget * FOR_ROWS))
        rows = Start.of(measurer.domain, measurer.measurements).total
        cells = measurer.domain.cells(measurer.domain.names)
        epsilon = float(measurer.small_choice(LEAST_LENGTH, measurer.left).epsilon)
        # One cell stands for rows / length rows; the choice errs by 2 / epsilon times the logarithm of the number of
        # databases.
        balanced = round(math.sqrt(rows * epsilon / (4 * math.log(max(cells, 2)))))
        longest = int(math.log(QUICKLY_SEEN) / math.log(max(cells, 2)) + 1e-9)
        length = max(LEAST_LENGTH, min(balanced, longest, MOST_LENGTH))
        choice = measurer.small_choice(length, measurer.left)
        measurer.small_database(list(marginals), max(1, round(rows / length)), choice)

    def model(self, domain: Domain, measurements: Sequence[MeasurementResult]) -> SmallModel:
        """Return the chosen database as a model."""
        return next(
            SmallModel(domain, measurement) for measurement in measurements if isinstance(measurement, SmallDatabase)
        )


@dataclass(frozen=True)
class SmallModel:
    """A few cells that each stand for the same number of rows."""

    domain: Domain
    small: SmallDatabase

    @property
    def total(self) -> float:
        """Estimated number of rows."""
        return float(self.small.rows_each * len(self.small.cells))

    def table(self, columns: Columns) -> Table:
        """Return counts over some columns."""
        shape = self.domain.shape(self.domain.names)
        counts = (np.bincount(self.small.cells, minlength=math.prod(shape)) * self.small.rows_each).astype(np.float64)
        numbers = numbers_of(self.domain, self.domain.check(columns))
        return added_up(counts.reshape(shape), tuple(range(len(shape))), numbers)

    def rows(self, count: int, bits: RandomBits) -> NDArray[np.integer[Any]]:
        """Return `count` rows of codes, cycling through the cells from a random start."""
        first = int(uniform_below(len(self.small.cells), 1, bits)[0])
        cells = np.array(self.small.cells)[(first + np.arange(count)) % len(self.small.cells)]
        return np.stack(np.unravel_index(cells, self.domain.shape(self.domain.names)), axis=1)
