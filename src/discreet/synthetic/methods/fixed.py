"""Given tables: all that is wanted is measured, and nothing is chosen."""

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
    """Every wanted table, and every column that is in none of them."""

    def check(self, domain: Domain, marginals: Mapping[Columns, int]) -> None:
        """Refuse tables whose model would be too large.

        Args:
            domain: What is public.
            marginals: Tables with their weights.
        """
        # A column of one code takes an axis, too, of which an array does not have any number.
        sizes = tuple(max(size, 2) for size in domain.shape(domain.names))
        cells = cells_of(neighbours_of((numbers_of(domain, columns) for columns in marginals), len(sizes)), sizes)
        if cells > MOST_CELLS:
            raise TooLarge(
                f"A model of these tables would have {cells:,} cells, more than {MOST_CELLS:,}.",
                next_step="Name fewer tables, or tables of fewer columns; or use the method aim, which chooses.",
            )

    def reuses(self, columns: Columns, marginals: Mapping[Columns, int]) -> bool:
        """Whether a table of an earlier release enters its model: those within a wanted one, so that the model stays as small.

        Args:
            columns: Of the table.
            marginals: Tables with their weights.
        """
        return len(columns) <= 1 or any(set(columns) <= set(table) for table in marginals)

    def least_share(self, domain: Domain, marginals: Mapping[Columns, int]) -> Fraction:
        """What part of the budget a table gets at least.

        Args:
            domain: What is public.
            marginals: Tables with their weights.
        """
        cells = sum(weight * domain.cells(columns) for columns, weight in marginals.items())
        return Fraction(1, 2 * (cells + sum(domain.shape(domain.names))))

    def measure(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> None:
        """Spend the budget on the wanted tables, shared so that the expected error, weighted and added up over all cells, is least.

        Args:
            measurer: Through which rows are seen.
            marginals: Tables with their weights.
        """
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

    def rehearse(self, measurer: TableMeasurer, marginals: Mapping[Columns, int]) -> None:
        """All measurements: nothing is chosen.

        Args:
            measurer: Of a rehearsal.
            marginals: Tables with their weights.
        """
        self.measure(measurer, marginals)
