"""Exact tables of protected rows, for the data owner only, and of synthetic rows."""

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
"""Most synthetic rows that are drawn for a comparison."""


@dataclass(frozen=True, slots=True, repr=False)
class CountedRows:
    """Rows of a domain, available only as tables; no row leaves the engine. The repr shows nothing."""

    domain: Domain
    _tables: ExactTables

    def __repr__(self) -> str:
        return "CountedRows(hidden)"

    @property
    def number(self) -> int:
        """Number of rows."""
        return int(self._tables.table(()))

    def counts(self, columns: Columns) -> Counts:
        """Return the table over some columns, one axis per column in the order of the domain."""
        names = self.domain.names
        return self._tables.table(tuple(names.index(name) for name in columns))

    def shares(self, columns: Columns) -> NDArray[np.float64]:
        """Return the table as shares of all rows; zeros if there are no rows."""
        return self.counts(columns) / max(self.number, 1)

    def decided(self, scores: Sequence[Score], label: str) -> Counts:
        """Count rows by their largest score and by their value of a column: one axis each."""
        return self._tables.winners(scores, self.domain.names.index(label))


def synthetic_rows(model: Model, domain: Domain) -> CountedRows:
    """Draw about as many rows from a model as there are protected rows, up to a limit.

    Args:
        model: A fitted model of synthetic data.
        domain: Has the labels of its codes.
    """
    codes = model.rows(min(MOST_SYNTHETIC, max(0, round(model.total))), SYSTEM_BITS).astype(np.int64)
    return CountedRows(domain, CodedArray(codes, domain.shape(domain.names)).tables())
