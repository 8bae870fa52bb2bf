"""Two facilities on a line, located privately and truthfully by mixing a private choice with a lottery.

Each person is served by the facility nearer to the location they *reported*. If the facilities are drawn by a lottery,
a person who lied is sometimes assigned to the wrong one. With a large enough share of lotteries, this costs more than a
lie can gain otherwise (Nissim, Smorodinsky, Tennenholtz 2012).
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
    """Two of the locations 0, 1, ..., chosen privately such that distances are short. Reports are locations.

    Args:
        places: The number of locations, at least 3.
        epsilon: The privacy loss of a person who is replaced; there is no default.
    """

    places: int
    epsilon: Number

    def __post_init__(self) -> None:
        read_count(self.places, name="places", least=3, most=64)
        read_epsilon(self.epsilon)

    @property
    def outcomes(self) -> list[tuple[int, int]]:
        """All pairs of locations."""
        return list(itertools.combinations(range(self.places), 2))

    @property
    def choice(self) -> Choice:
        """The private choice alone. Scores are minus total distances, which one person can change by `places` - 1."""
        mechanism = Exponential(sensitivity=self.places - 1, epsilon=self.epsilon, size=len(self.outcomes))
        return Choice(mechanism=mechanism, scores=self._scores, neighbours=Neighbours.REPLACE_ONE)

    def utility(self, place: int, outcome: int, report: int) -> float:
        """Return the utility of a person: 1 if the facility is at their location, 0 if it is at the other end.

        Args:
            place: The location of the person.
            outcome: The index of the chosen pair.
            report: The reported location. The facility nearest to it serves the person, the first one in a tie.
        """
        first, second = self.outcomes[outcome]
        served = first if abs(report - first) <= abs(report - second) else second
        return 1 - abs(place - served) / (self.places - 1)

    @property
    def cost_of_lie(self) -> float:
        """The expected loss of the best lie if the pair is drawn by lottery."""
        pairs = range(len(self.outcomes))
        return min(
            math.fsum(self.utility(place, pair, place) - self.utility(place, pair, lie) for pair in pairs) / len(pairs)
            for place, lie in itertools.permutations(range(self.places), 2)
        )

    @property
    def share_needed(self) -> float:
        """The share of lotteries above which every lie costs: q with q * cost = (1 - q)(e**epsilon - 1)."""
        gain = math.expm1(float(self.choice.replacement_epsilon))
        return gain / (gain + self.cost_of_lie)

    def truthful(self) -> Mixture:
        """Return the choice mixed with enough lotteries that lying loses, whatever others report."""
        share = Fraction(math.nextafter(self.share_needed, 1))
        return Mixture(rule=self.choice, other=Lottery(outcomes=len(self.outcomes)), share=share)

    def _scores(self, reports: Reports) -> NDArray[np.int64]:
        """Return minus the total distance to the nearer facility. Invalid reports count as 0."""
        named = [whole_number(report) for report in reports]
        there = np.array([place for place in named if place is not None and 0 <= place < self.places], np.int64)
        ways = [np.minimum(abs(there - first), abs(there - second)).sum() for first, second in self.outcomes]
        return -np.array(ways, np.int64)
