"""Is somebody there? One person who is in the data or not, at even odds, and a count that is 1 or 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Game

Bits = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Meeting:
    """An analyst with a whole budget, and the person who may be in the data."""

    person: int
    is_there: bool
    analyst: Analyst

    @property
    def query(self) -> str:
        """The count that is 1 or 0: nothing tells more about one person who came or went."""
        return f"SELECT COUNT(*) AS n FROM people WHERE id = {self.person}"


def each_meeting(game: Game) -> Iterator[Meeting]:
    """One for each trial, through an analyst's door; a world serves as many trials as there may be people in it."""
    for trials in game.each_world(serves=game.people):
        there: Bits = game.rng.random(game.people) < 0.5
        with game.protect({"people": {"id": np.flatnonzero(there)}}, presence_catalog(game.people)) as world:
            for trial in game.each_trial(trials):
                person = trial % game.people
                yield Meeting(person, bool(there[person]), game.analyst(world))


def presence_catalog(people: int) -> str:
    """The catalog of a table `people` of ids: who may be in it is public, who is in it is not."""
    return (
        '[tables.people]\nprivacy_unit = "id"\n'
        f'columns.id = {{ type = "integer", lower = 0, upper = {max(1, people - 1)} }}\n'
    )
