"""The tables that most methods begin with: one a column."""

from __future__ import annotations

from fractions import Fraction

from discreet.measurement.measurer import TableMeasurer


def power_of_share(measurer: TableMeasurer) -> float:
    """The power of a table's cells that its share is in proportion to, for the least error added up over all cells of all tables.

    A table of n cells that gets rho has an error of n / sqrt(rho): least at rho in proportion to n^(2/3); for a pure epsilon at n^(1/2).

    Args:
        measurer: Whose budget is shared.
    """
    return 1 / 2 if measurer.is_pure else 2 / 3


def measure_each(measurer: TableMeasurer, amount: Fraction) -> None:
    """Measure every column alone, for an amount that is shared so that the expected error, added up over all cells, is least.

    Args:
        measurer: Of all codes.
        amount: Of its budget.
    """
    power = power_of_share(measurer)
    columns = measurer.domain.columns
    weights = [round(64 * column.size**power) for column in columns]
    for column, share in zip(columns, measurer.shares(weights, of=amount), strict=True):
        measurer.noisy((column.name,), measurer.noise((column.name,), share))
