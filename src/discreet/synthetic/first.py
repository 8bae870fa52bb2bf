"""The tables that most methods begin with: one a column."""

from __future__ import annotations

from fractions import Fraction

from discreet.answering.measurer import Measurer


def measure_each(measurer: Measurer, amount: Fraction) -> None:
    """Measure every column alone, for an amount that is shared so that the expected error, added up over all cells, is least.

    A table of n cells that gets rho has an error of n / sqrt(rho): least at rho in proportion to n^(2/3); for a pure epsilon to n^(1/2).

    Args:
        measurer: Of all codes.
        amount: Of its budget.
    """
    power = 1 / 2 if measurer.is_pure else 2 / 3
    columns = measurer.domain.columns
    weights = [round(64 * column.size**power) for column in columns]
    for column, share in zip(columns, measurer.shares(weights, of=amount), strict=True):
        measurer.noisy((column.name,), measurer.noise((column.name,), share))
