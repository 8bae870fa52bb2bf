"""Voting: choose a winner privately by plurality or by Borda points."""

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
    """Choose a candidate who is first on many ballots. A ballot is a tuple of all candidates 0, 1, ..., the best first.

    Args:
        candidates: The number of candidates.
        epsilon: The privacy loss of a voter; there is no default.
        neighbours: The neighbouring relation: a ballot is added or removed, or one is replaced.
    """
    points = [1] + [0] * (read_count(candidates, name="candidates", least=2) - 1)
    return _by_points(points, epsilon, neighbours)


def borda(candidates: int, *, epsilon: Number, neighbours: Neighbours | str = Neighbours.ADD_REMOVE) -> Choice:
    """Choose a candidate with many points: the last on a ballot gets 0 points, the one before 1, and so on.

    Args:
        candidates: The number of candidates.
        epsilon: The privacy loss of a voter; there is no default.
        neighbours: The neighbouring relation: a ballot is added or removed, or one is replaced.
    """
    points = list(range(read_count(candidates, name="candidates", least=2)))[::-1]
    return _by_points(points, epsilon, neighbours)


def _by_points(points: list[int], epsilon: Number, neighbours: Neighbours | str) -> Choice:
    relation = read_neighbours(neighbours)
    mechanism = PermuteAndFlip(
        sensitivity=points[0],
        epsilon=epsilon,
        size=len(points),
        monotone=relation is Neighbours.ADD_REMOVE,  # an additional ballot only adds points
    )

    def scores(ballots: Reports) -> NDArray[np.int64]:
        total = np.zeros(len(points), np.int64)
        for ballot in ballots:
            named = _candidates_on(ballot)
            # An invalid ballot counts as no points: no ballot may make the election fail.
            if len(named) == len(points) and set(named) == set(range(len(points))):
                total[np.array(named, np.int64)] += points
        return total

    return Choice(mechanism=mechanism, scores=scores, neighbours=relation)


def _candidates_on(ballot: object) -> list[int | None]:
    """Return the candidates on a ballot in order, with None for invalid entries; an empty list if invalid."""
    if not isinstance(ballot, Sequence) and not (isinstance(ballot, np.ndarray) and ballot.ndim):
        return []
    return [whole_number(item) for item in ballot]
