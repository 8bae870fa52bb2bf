"""What may be spent on a workload, and the noise that it buys for each combination that is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from discreet.core.exact import UNIT, Number, read_count, read_epsilon, root_above
from discreet.core.loss import Neighbours, read_neighbours
from discreet.errors import BadEpsilon
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.additive.combinations import Combination, Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What may be spent, and for whom it counts: `rho` buys Gaussian noise, `epsilon` Laplace noise.

    Args:
        rho: The zCDP that may be spent.
        epsilon: The pure epsilon, instead.
        rows_per_person: How many rows of a person can count, at most.
        neighbours: What a person changes: rows that come or go, or rows that are replaced.
    """

    rho: Number | None = None
    epsilon: Number | None = None
    rows_per_person: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        if (self.rho is None) == (self.epsilon is None):
            raise BadEpsilon("A workload has one price.", next_step="Give either rho or epsilon.")
        read_epsilon(
            self.rho if self.epsilon is None else self.epsilon, name="rho" if self.epsilon is None else "epsilon"
        )
        object.__setattr__(self, "rows_per_person", read_count(self.rows_per_person, name="rows_per_person"))
        object.__setattr__(self, "neighbours", read_neighbours(self.neighbours))

    @property
    def gaussian(self) -> bool:
        """Whether the noise is Gaussian."""
        return self.epsilon is None

    @property
    def amount(self) -> Fraction:
        """In rho or epsilon."""
        if self.epsilon is None:
            return read_epsilon(self.rho, name="rho")
        return read_epsilon(self.epsilon)

    def unit(self, combination: Combination) -> float:
        """One over the variance of the noise of a combination that gets the whole price."""
        reach, amount = combination.reach(self.neighbours), float(self.amount)
        if self.gaussian:
            return 2 * amount / (self.rows_per_person**2 * float(reach.squares))
        return amount**2 / (2 * self.rows_per_person**2 * reach.total**2)

    def measurements(self, combinations: Sequence[Combination], shares: NDArray[Any]) -> tuple[Measurement | None, ...]:
        """Combinations with the noise that a division of the price buys: together never more than it.

        Args:
            combinations: What is measured.
            shares: How the price is divided, rounded down; what has none is not measured.
        """
        parts = [Fraction(share) for share in shares.tolist()]
        each = self.amount * UNIT / sum(parts)
        grains = [math.floor(each * part) for part in parts]
        pairs = zip(combinations, grains, strict=True)
        return tuple(self._measurement(c, Fraction(part, UNIT)) if part else None for c, part in pairs)

    def _measurement(self, combination: Combination, part: Fraction) -> Measurement:
        reach, rows, size = combination.reach(self.neighbours), self.rows_per_person, combination.size
        if self.gaussian:
            far = root_above(rows**2 * reach.squares)
            return Measurement(combination=combination, noise=Gaussian.for_rho(sensitivity=far, rho=part, size=size))
        laplace = Laplace(sensitivity=rows * reach.total, epsilon=part, size=size)
        return Measurement(combination=combination, noise=laplace)
