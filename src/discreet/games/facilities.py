"""Two facilities on a line of places, and what makes the truth the only best report: a share of a lottery in which a lie costs.

Everybody is served by the facility that is nearer to the place they *reported*. Where facilities are drawn by lot, whoever lied
is sometimes sent to the wrong one. With a large enough share of such draws that costs more than a lie can gain elsewhere
(Nissim, Smorodinsky, Tennenholtz 2012).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, read_count, read_epsilon
from discreet.core.loss import Neighbours
from discreet.games.private_choice import Choice, Lottery, Mixture, Reports
from discreet.mechanisms import Exponential
from discreet.mechanisms.values.value_reading import whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class FacilityLocation:
    """Two of the places 0, 1, ..., chosen privately so that people have short ways; reports are places.

    Args:
        places: How many places there are, at least 3.
        epsilon: How much may be learned about a person who is replaced; there is no default.
    """

    places: int
    epsilon: Number

    def __post_init__(self) -> None:
        read_count(self.places, name="places", least=3, most=64)
        read_epsilon(self.epsilon)

    @property
    def outcomes(self) -> list[tuple[int, int]]:
        """All pairs of places."""
        return list(itertools.combinations(range(self.places), 2))

    @property
    def choice(self) -> Choice:
        """The private choice alone: by the ways of all people together, which one person can change by `places` - 1."""
        mechanism = Exponential(sensitivity=self.places - 1, epsilon=self.epsilon, size=len(self.outcomes))
        return Choice(mechanism=mechanism, scores=self._scores, neighbours=Neighbours.REPLACE_ONE)

    def utility(self, place: int, outcome: int, report: int) -> float:
        """1 for a facility on the doorstep, 0 for one at the other end.

        Args:
            place: Where somebody is.
            outcome: The index of the pair that was chosen.
            report: Where they said they are: the nearer facility to it serves them, the first of two that are equally near.
        """
        first, second = self.outcomes[outcome]
        served = first if abs(report - first) <= abs(report - second) else second
        return 1 - abs(place - served) / (self.places - 1)

    @property
    def cost_of_lie(self) -> float:
        """How much the best lie loses, on average, where the pair is drawn by lot."""
        pairs = range(len(self.outcomes))
        return min(
            math.fsum(self.utility(place, pair, place) - self.utility(place, pair, lie) for pair in pairs) / len(pairs)
            for place, lie in itertools.permutations(range(self.places), 2)
        )

    @property
    def share_needed(self) -> float:
        """The share of lotteries from which on every lie costs: q with q * cost = (1 - q)(e**epsilon - 1)."""
        gain = math.expm1(float(self.choice.replacement_epsilon))
        return gain / (gain + self.cost_of_lie)

    def truthful(self) -> Mixture:
        """The choice with so large a share of the lottery that lying loses, whatever others report."""
        share = Fraction(math.nextafter(self.share_needed, 1))
        return Mixture(rule=self.choice, other=Lottery(outcomes=len(self.outcomes)), share=share)

    def _scores(self, reports: Reports) -> NDArray[np.int64]:
        """Minus everybody's way to the nearer of two places; who reports no place counts nowhere."""
        named = [whole_number(report) for report in reports]
        there = np.array([place for place in named if place is not None and 0 <= place < self.places], np.int64)
        ways = [np.minimum(abs(there - first), abs(there - second)).sum() for first, second in self.outcomes]
        return -np.array(ways, np.int64)
