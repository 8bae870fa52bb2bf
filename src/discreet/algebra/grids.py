"""Public grids: values become integers (whole steps), so that sums and sensitivities are integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.algebra.value_properties import ValueProperties
from discreet.catalog import Type
from discreet.catalog.declarations import LARGEST_STEP
from discreet.core.exact import power_of_two_below
from discreet.errors import NeedsBounds, NotAllowed, TooLarge

_FINEST = 2**20
_FURTHEST_END = Fraction(2) ** 60
"""Wider bounds are refused: a sum would be only noise."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid of step size `step`. Values are clamped to the steps `low` to `high`."""

    step: Fraction
    low: int
    high: int


def nearest(value: Fraction) -> int:
    """Return floor(value + 1/2), the rounding that every engine uses."""
    return math.floor(value + Fraction(1, 2))


def grid_for(properties: ValueProperties, stored: Fraction | None = None, *, name: str | None = None) -> Grid:
    """Return the grid of a bounded value.

    It is the `stored` grid of a column; otherwise steps of 1 for integers and dates, or of about a 2**20th of the range.
    `name` is the column name in the query, for the error about missing bounds.
    """
    low, high = properties.low, properties.high
    if properties.type is Type.BOOLEAN:
        return Grid(Fraction(1), 0, 1)
    if properties.type is Type.TIMESTAMP:
        raise NotAllowed(
            "SUM, AVG, MIN, MAX and quantiles of timestamps are not supported.",
            next_step="Use CAST(t AS DATE), EXTRACT(hour FROM t), or "
            "DATE_DIFF('minute', TIMESTAMP '2024-01-01 00:00:00', t).",
        )
    if properties.type is Type.TEXT or low is None or high is None or max(abs(low), abs(high)) > _FURTHEST_END:
        raise _unbounded(name)
    if stored is not None:
        return Grid(stored, nearest(low / stored), nearest(high / stored))
    step = power_of_two_below((high - low) / _FINEST) if high > low else Fraction(1)
    if properties.type in (Type.INTEGER, Type.DATE):
        step = max(step, Fraction(1))
    first, last = nearest(low / step), nearest(high / step)
    if max(abs(first), abs(last)) > LARGEST_STEP:
        raise TooLarge(
            "The values are too far from zero compared with the distance between their bounds.",
            next_step="Subtract a constant first, for example SUM(x - 1000000).",
        )
    return Grid(step, first, last)


def _unbounded(name: str | None) -> NeedsBounds:
    if name is not None:
        return NeedsBounds(
            f"The column {name} has no bounds.",
            next_step="Clamp it in the query, for example LEAST(GREATEST({name}, 0), 100), or ask the data owner to declare bounds.",
        )
    return NeedsBounds(
        "The bounds of this expression cannot be derived from the catalog.",
        next_step="Use columns with declared bounds, or clamp the expression: LEAST(GREATEST(x, 0), 100).",
    )
