"""The budget of a workload, and the noise of each measurement for a division of it."""

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
class WorkloadBudget:
    """The budget of a workload: `rho` for Gaussian noise, or `epsilon` for Laplace noise.

    Args:
        rho: Budget as zCDP.
        epsilon: Budget as pure epsilon, instead.
        rows_per_person: Largest number of rows of one person.
        neighbours: Whether neighbours differ by adding and removing rows, or by replacing them.
    """

    rho: Number | None = None
    epsilon: Number | None = None
    rows_per_person: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        if (self.rho is None) == (self.epsilon is None):
            raise BadEpsilon("The budget of a workload is either rho or epsilon.", next_step="Give one of them.")
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
        """The amount, in rho or epsilon."""
        if self.epsilon is None:
            return read_epsilon(self.rho, name="rho")
        return read_epsilon(self.epsilon)

    def unit(self, combination: Combination) -> float:
        """The precision of a combination that gets the whole budget."""
        reach, amount = combination.reach(self.neighbours), float(self.amount)
        if self.gaussian:
            return 2 * amount / (self.rows_per_person**2 * float(reach.squares))
        return amount**2 / (2 * self.rows_per_person**2 * reach.total**2)

    def measurements(self, combinations: Sequence[Combination], shares: NDArray[Any]) -> tuple[Measurement | None, ...]:
        """Return the combinations with their noise. Parts are rounded down, so that they cost at most the budget.

        Args:
            combinations: What is measured.
            shares: How the budget is divided. A combination with share 0 is not measured.
        """
        parts = [Fraction(share) for share in shares.tolist()]
        each = self.amount * UNIT / sum(parts)
        grains = [math.floor(each * part) for part in parts]
        pairs = zip(combinations, grains, strict=True)
        return tuple(self._measurement(c, Fraction(part, UNIT)) if part else None for c, part in pairs)

    def _measurement(self, combination: Combination, part: Fraction) -> Measurement:
        reach, rows, size = combination.reach(self.neighbours), self.rows_per_person, combination.size
        if self.gaussian:
            distance = root_above(rows**2 * reach.squares)
            return Measurement(
                combination=combination, noise=Gaussian.for_rho(sensitivity=distance, rho=part, size=size)
            )
        laplace = Laplace(sensitivity=rows * reach.total, epsilon=part, size=size)
        return Measurement(combination=combination, noise=laplace)
