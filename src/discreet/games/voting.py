"""Votes: a winner chosen privately by first places or by points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, read_count
from discreet.core.loss import Neighbours, read_neighbours
from discreet.games.private_choice import Choice, Reports
from discreet.mechanisms import PermuteAndFlip
from discreet.mechanisms.values.value_reading import whole_number


def plurality(candidates: int, *, epsilon: Number, neighbours: Neighbours | str = Neighbours.ADD_REMOVE) -> Choice:
    """Whoever is first on most ballots wins, likely. A ballot is a tuple of all candidates 0, 1, ..., the best first.

    Args:
        candidates: How many there are.
        epsilon: How much may be learned about a voter; there is no default.
        neighbours: What a voter changes: a ballot that comes or goes, or one that is replaced.
    """
    points = [1] + [0] * (read_count(candidates, name="candidates", least=2) - 1)
    return _by_points(points, epsilon, neighbours)


def borda(candidates: int, *, epsilon: Number, neighbours: Neighbours | str = Neighbours.ADD_REMOVE) -> Choice:
    """The last on a ballot gets no point, the one before 1, and so on; whoever has most wins, likely.

    Args:
        candidates: How many there are.
        epsilon: How much may be learned about a voter; there is no default.
        neighbours: What a voter changes: a ballot that comes or goes, or one that is replaced.
    """
    points = list(range(read_count(candidates, name="candidates", least=2)))[::-1]
    return _by_points(points, epsilon, neighbours)


def _by_points(points: list[int], epsilon: Number, neighbours: Neighbours | str) -> Choice:
    relation = read_neighbours(neighbours)
    mechanism = PermuteAndFlip(
        sensitivity=points[0],
        epsilon=epsilon,
        size=len(points),
        monotone=relation is Neighbours.ADD_REMOVE,  # a ballot more gives points and takes none
    )

    def scores(ballots: Reports) -> NDArray[np.int64]:
        total = np.zeros(len(points), np.int64)
        for ballot in ballots:
            named = _candidates_on(ballot)
            # A ballot that is not all candidates counts nowhere: nobody's ballot may decide whether there is an election.
            if len(named) == len(points) and set(named) == set(range(len(points))):
                total[np.array(named, np.int64)] += points
        return total

    return Choice(mechanism=mechanism, scores=scores, neighbours=relation)


def _candidates_on(ballot: object) -> list[int | None]:
    """In order, None for what is none; nobody is on what is no ballot."""
    if not isinstance(ballot, Sequence) and not (isinstance(ballot, np.ndarray) and ballot.ndim):
        return []
    return [whole_number(item) for item in ballot]
