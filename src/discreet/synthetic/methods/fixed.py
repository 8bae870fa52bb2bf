"""Fixed tables: measure every marginal of the workload and choose nothing."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.errors import TooLarge
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import TableMeasurer
from discreet.synthetic.methods.one_column_tables import power_of_share
from discreet.synthetic.models.junction_trees import cells_of, neighbours_of
from discreet.synthetic.models.synthetic_model import OfTables, numbers_of

MOST_CELLS = 5_000_000


class Fixed(OfTables):
    """Measure every marginal of the workload, and every column that none of them contains."""

    def check(self, domain: Domain, marginals: Mapping[Columns, int]) -> None:
        """Refuse tables whose model would be too large."""
        # A column with one code takes an axis too, and the number of array axes is limited.
        sizes = tuple(max(size, 2) for size in domain.shape(domain.names))
        cells = cells_of(neighbours_of((numbers_of(domain, columns) for columns in marginals), len(sizes)), sizes)
        if cells > MOST_CELLS:
            raise TooLarge(
                f"A model of these tables would have {cells:,} cells, more than {MOST_CELLS:,}.",
                next_step="Name fewer tables, or tables of fewer columns; or use the method aim, which chooses.",
            )

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:
        """Return whether the model can use an earlier table: only one inside a marginal, so that the model does not
        grow.
        """
        return len(columns) <= 1 or any(set(columns) <= set(table) for table in marginals)

    def least_share(self, domain: Domain, marginals: Mapping[Columns, int]) -> Fraction:
        """Return the least part of the budget that a table gets."""
        cells = sum(weight * domain.cells(columns) for columns, weight in marginals.items())
        return Fraction(1, 2 * (cells + sum(domain.shape(domain.names))))

    def measure(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on the marginals so that the weighted expected error, summed over all cells, is least."""
        domain = measurer.domain
        self.check(domain, marginals)
        lonely = [name for name in domain.names if not any(name in columns for columns in marginals)]
        weights: dict[Columns, int] = {**marginals, **{(name,): 1 for name in lonely}}
        power = power_of_share(measurer)
        shares = measurer.shares(
            [round(64 * (weight * domain.cells(columns)) ** power) for columns, weight in weights.items()]
        )
        for columns, share in zip(weights, shares, strict=True):
            measurer.noisy(columns, measurer.noise(columns, share))

    def measure_before_choices(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> None:
        """Take all measurements: this method chooses nothing."""
        self.measure(measurer, marginals)
