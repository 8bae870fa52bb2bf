"""How far one person can move a statistic: the global sensitivities of the CS208 table, for both neighbour relations.

Bounds come from public knowledge. Without them a sum, a mean, a median or a variance has none, and we say so.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.core.exact import Number, read_bounds, read_count
from discreet.core.loss import Neighbours, read_neighbours
from discreet.errors import UnboundedSensitivity


def count() -> Fraction:
    """Of people with some property: 1 under both relations."""
    return Fraction(1)


def total(*, lower: Number | None, upper: Number | None, neighbours: Neighbours) -> Fraction:
    """Of a sum: the larger magnitude when a value appears or vanishes, the width when it is replaced."""
    low, high = _declared(lower, upper, statistic="A sum")
    return max(abs(low), abs(high)) if read_neighbours(neighbours) is Neighbours.ADD_REMOVE else high - low


def mean(*, lower: Number | None, upper: Number | None, neighbours: Neighbours, size: int) -> Fraction:
    """Of a mean over at least `size` values (exactly `size` where values are replaced)."""
    width, n = _width(lower, upper, statistic="A mean"), read_count(size, name="size")
    return width / (n + 1) if read_neighbours(neighbours) is Neighbours.ADD_REMOVE else width / n


def median(*, lower: Number | None, upper: Number | None, neighbours: Neighbours) -> Fraction:
    """Of a median (of an even number: the middle two's mean): as bad as the width, however many people there are."""
    width = _width(lower, upper, statistic="A median")
    return width / 2 if read_neighbours(neighbours) is Neighbours.ADD_REMOVE else width


def variance(*, lower: Number | None, upper: Number | None, neighbours: Neighbours, size: int) -> Fraction:
    """Of the population variance (divided by n) over at least `size` values (exactly, where values are replaced)."""
    width, n = _width(lower, upper, statistic="A variance"), read_count(size, name="size")
    if read_neighbours(neighbours) is Neighbours.ADD_REMOVE:
        return width**2 * Fraction(n, (n + 1) ** 2)
    return width**2 * Fraction(n - 1, n**2)


def _width(lower: Number | None, upper: Number | None, *, statistic: str) -> Fraction:
    low, high = _declared(lower, upper, statistic=statistic)
    return high - low


def _declared(lower: Number | None, upper: Number | None, *, statistic: str) -> tuple[Fraction, Fraction]:
    if lower is None or upper is None:
        raise UnboundedSensitivity(
            f"{statistic} of unbounded values has no finite sensitivity: one person can move it without limit.",
            next_step="Declare bounds: lower= and upper= from public knowledge, to which values are clamped.",
        )
    return read_bounds(lower, upper)
