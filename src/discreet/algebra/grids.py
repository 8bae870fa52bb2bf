"""Numbers as whole steps of a public grid: what is summed, and what a person can move, are integers."""

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
"""Bounds that are wider than this say nothing: a sum would be all noise."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid: the size of one step, and the first and the last step that a value is clamped to."""

    step: Fraction
    low: int
    high: int


def nearest(value: Fraction) -> int:
    """floor(v + 1/2), the rounding of every engine."""
    return math.floor(value + Fraction(1, 2))


def grid_for(properties: ValueProperties, stored: Fraction | None = None, *, name: str | None = None) -> Grid:
    """The grid of a bounded value: the stored one of its column, whole numbers and days by ones, or a 2**-20th of the range.

    `name` is how the query calls the value, for the refusal of one without bounds.
    """
    low, high = properties.low, properties.high
    if properties.type is Type.BOOLEAN:
        return Grid(Fraction(1), 0, 1)
    if properties.type is Type.TIMESTAMP:
        raise NotAllowed(
            "SUM, AVG, MIN, MAX and quantiles of timestamps are not supported.",
            next_step="Take it of CAST(t AS DATE), of EXTRACT(hour FROM t), or of DATE_DIFF('minute', TIMESTAMP '2024-01-01 00:00:00', t).",
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
