"""Independent columns: spend the budget on the one-column tables. This is the baseline for the other methods."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.measurement.domain import Columns
from discreet.measurement.measurer import TableMeasurer
from discreet.synthetic.methods.one_column_tables import measure_each
from discreet.synthetic.models.synthetic_model import OfTables


class Independent(OfTables):
    """Measure every column, and treat the columns as independent."""

    def measure(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> None:  # noqa: ARG002
        """Spend the budget on one table per column."""
        measure_each(measurer, measurer.left)

    def measure_before_choices(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> None:
        """Take all measurements: this method chooses nothing."""
        self.measure(measurer, marginals)
