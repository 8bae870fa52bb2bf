"""The presence game: one person is in the data or not, with probability 1/2, and a count is 1 or 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Game

Bits = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PresenceTrial:
    """An analyst with the whole budget, and the person who may be in the data."""

    person: int
    is_there: bool
    analyst: Analyst

    @property
    def query(self) -> str:
        """The count that is 1 or 0. No query reveals more about the presence of one person."""
        return f"SELECT COUNT(*) AS n FROM people WHERE id = {self.person}"


def each_presence_trial(game: Game) -> Iterator[PresenceTrial]:
    """Yield one presence trial per trial of the game; a world serves one trial per possible person."""
    for trials in game.each_world(trials_per_world=game.people):
        there: Bits = game.rng.random(game.people) < 0.5
        with game.protect({"people": {"id": np.flatnonzero(there)}}, presence_catalog(game.people)) as world:
            for trial in game.each_trial(trials):
                person = trial % game.people
                yield PresenceTrial(person, bool(there[person]), game.analyst(world))


def presence_catalog(people: int) -> str:
    """Return the catalog of a table `people` of ids. Which ids are possible is public, which are present is not."""
    return (
        '[tables.people]\nprivacy_unit = "id"\n'
        f'columns.id = {{ type = "integer", lower = 0, upper = {max(1, people - 1)} }}\n'
    )
