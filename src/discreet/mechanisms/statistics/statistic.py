"""Released numbers that know how far off they may be."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

from discreet.core.exact import Number, read_level
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE, figure, plus_minus
from discreet.core.optional_imports import optional
from discreet.mechanisms.additive.laplace_mechanism import Laplace

_INSIDE = f"in {100 * CONFIDENCE:g} of 100 answers"


@dataclass(frozen=True, slots=True, repr=False)
class Statistic:
    """A private number. It is a `float()` where one is wanted, and shows itself with its ±.

    Args:
        value: The released number.
        loss: What it cost.
    """

    value: float
    loss: Loss
    _around: Callable[[Fraction], tuple[Fraction, Fraction]] = field(compare=False)

    @classmethod
    def within(
        cls,
        value: Fraction,
        loss: Loss,
        around: Callable[[Fraction], tuple[Fraction, Fraction]],
        *,
        bounds: tuple[Fraction, Fraction],
    ) -> Self:
        """The same, kept within what is possible at all.

        Args:
            value: The released number.
            loss: What it cost.
            around: The ends of its interval at a level.
            bounds: The least and the most that it can be.
        """
        low, high = bounds

        def inside(number: Fraction) -> Fraction:
            return min(max(number, low), high)

        def kept(level: Fraction) -> tuple[Fraction, Fraction]:
            ends = around(level)
            return inside(ends[0]), inside(ends[1])

        return cls(float(inside(value)), loss, kept)

    def interval(self, level: Number) -> tuple[float, float]:
        """(low, high): where the number of the bounded values lies.

        Args:
            level: In which share of all releases it lies inside, such as 0.95.
        """
        low, high = self._around(read_level(level))
        return float(low), float(high)

    def error(self, confidence: Number) -> float:
        """The larger side of the interval.

        Args:
            confidence: In which share of all releases the number is no further off, such as 0.95.
        """
        low, high = self.interval(confidence)
        return max(high - self.value, self.value - low)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        width = self.error(CONFIDENCE)
        return f"{figure(self.value, width)} {plus_minus(self.value, width)} {_INSIDE}, ε {self.loss.epsilon:.4g}"


@dataclass(frozen=True, slots=True, repr=False)
class Histogram:
    """Private counts of public bins.

    Args:
        bins: The categories, or (lower edge, upper edge).
        counts: How many there are in each, with noise: a count may be below zero.
        mechanism: What they were drawn from.
    """

    bins: tuple[Hashable, ...]
    counts: tuple[int, ...]
    mechanism: Laplace

    @property
    def loss(self) -> Loss:
        """What it cost."""
        return Loss(self.mechanism.pure_epsilon)

    def error(self, confidence: Number) -> int:
        """How far off each count may be.

        Args:
            confidence: In which share of all releases a count is no further off, such as 0.95.
        """
        return self.mechanism.error(confidence)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict a bin: `bin`, `count`, and the ends of its interval in 95 of 100 answers."""
        width = self.error(CONFIDENCE)
        return [
            {"bin": place, "count": count, "count_low": count - width, "count_high": count + width}
            for place, count in zip(self.bins, self.counts, strict=True)
        ]

    def to_pandas(self) -> Any:
        """The rows as a pandas frame."""
        return optional("pandas").DataFrame(self.rows)

    def to_polars(self) -> Any:
        """The rows as a polars frame."""
        return optional("polars").DataFrame(self.rows)

    def __repr__(self) -> str:
        names = [_name(place) for place in self.bins]
        width = self.error(CONFIDENCE)
        shown = [figure(count, width) for count in self.counts]
        wide, long = max(map(len, names)), max(map(len, shown))
        lines = [
            f"  {name:<{wide}}  {count:>{long}}  {plus_minus(0, width)}"
            for name, count in zip(names, shown, strict=True)
        ]
        return "\n".join([*lines, f"  {_INSIDE} each, ε {self.loss.epsilon:.4g}"])


def _name(place: Hashable) -> str:
    return (
        f"{figure(place[0])} to {figure(place[1])}" if isinstance(place, tuple) and len(place) == 2 else figure(place)
    )
