"""Rows that are counted in exact tables: people's, seen here without noise by the owner alone, and synthetic ones beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.engines.tables.array_tables import CodedArray
from discreet.engines.tables.exact_tables import Counts, ExactTables
from discreet.engines.tables.residual_sums import Score
from discreet.measurement.domain import Columns, Domain
from discreet.noise import SYSTEM_BITS
from discreet.synthetic.methods.method import Model

MOST_SYNTHETIC = 200_000
"""Synthetic rows that are drawn to be compared."""


@dataclass(frozen=True, slots=True, repr=False)
class CountedRows:
    """Rows of a domain behind their tables; no row leaves the engine. The repr hides everything."""

    domain: Domain
    _tables: ExactTables

    def __repr__(self) -> str:
        return "CountedRows(hidden)"

    @property
    def number(self) -> int:
        """How many rows there are."""
        return int(self._tables.table(()))

    def counts(self, columns: Columns) -> Counts:
        """The table over some columns, in the order of the domain: an axis each."""
        names = self.domain.names
        return self._tables.table(tuple(names.index(name) for name in columns))

    def shares(self, columns: Columns) -> NDArray[np.float64]:
        """The same as shares of all rows; zeros where there are none."""
        return self.counts(columns) / max(self.number, 1)

    def decided(self, scores: Sequence[Score], label: str) -> Counts:
        """How many rows have each score as their largest, and each value of a column: an axis each."""
        return self._tables.winners(scores, self.domain.names.index(label))


def synthetic_rows(model: Model, domain: Domain) -> CountedRows:
    """Rows of a model, about as many as there are of people, and no more than are quickly counted.

    Args:
        model: Of synthetic data.
        domain: What its codes mean.
    """
    codes = model.rows(min(MOST_SYNTHETIC, max(0, round(model.total))), SYSTEM_BITS).astype(np.int64)
    return CountedRows(domain, CodedArray(codes, domain.shape(domain.names)).tables())
