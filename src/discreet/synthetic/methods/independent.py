"""Independent columns: all is spent on the one-column tables. The baseline that every other method has to beat."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.measurement.domain import Columns
from discreet.measurement.measurer import TableMeasurer
from discreet.synthetic.methods.one_column_tables import measure_each
from discreet.synthetic.models.synthetic_model import OfTables


class Independent(OfTables):
    """Every column alone."""

    def measure(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> None:  # noqa: ARG002
        """Spend the budget on one table a column.

        Args:
            measurer: Through which rows are seen.
            marginals: Makes no difference here.
        """
        measure_each(measurer, measurer.left)

    def rehearse(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> None:
        """All measurements: nothing is chosen.

        Args:
            measurer: Of a rehearsal.
            marginals: Makes no difference here.
        """
        self.measure(measurer, marginals)
