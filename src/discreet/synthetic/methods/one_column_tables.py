"""One-column tables, the first measurements of most methods."""

from __future__ import annotations

from fractions import Fraction

from discreet.measurement.measurer import TableMeasurer


def power_of_share(measurer: TableMeasurer) -> float:
    """Return the power p so that budget shares in proportion to cells**p minimise the total error over all cells.

    A table of n cells that gets rho has an error of n / sqrt(rho): least at rho in proportion to n^(2/3); for a
    pure epsilon at n^(1/2).
    """
    return 1 / 2 if measurer.is_pure else 2 / 3


def measure_each(measurer: TableMeasurer, amount: Fraction) -> None:
    """Measure every column, with the amount shared so that the expected error summed over all cells is least."""
    power = power_of_share(measurer)
    columns = measurer.domain.columns
    weights = [round(64 * column.size**power) for column in columns]
    for column, share in zip(columns, measurer.shares(weights, of=amount), strict=True):
        measurer.noisy((column.name,), measurer.noise((column.name,), share))
