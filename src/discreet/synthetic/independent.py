"""Independent columns: all is spent on the one-column tables. The baseline that every other method has to beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.answering.domain import Columns, Domain
from discreet.answering.measurer import Chosen, Measured, Measurer
from discreet.synthetic.first import measure_each
from discreet.synthetic.methods import Model
from discreet.synthetic.model import model_of


class Independent:
    """Every column alone."""

    def measure(self, measurer: Measurer, wanted: Mapping[Columns, int]) -> None:  # noqa: ARG002
        """Spend the budget on one table a column.

        Args:
            measurer: Through which rows are seen.
            wanted: Makes no difference here.
        """
        measure_each(measurer, measurer.left)

    def model(self, domain: Domain, looks: Sequence[Measured | Chosen]) -> Model:
        """What follows from the looks.

        Args:
            domain: What is public.
            looks: Those of a finished run.
        """
        return model_of(domain, looks)
