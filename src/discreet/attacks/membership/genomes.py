"""A study of people with very many yes-or-no attributes, such as genetic variants, and people outside the study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Game
from discreet.attacks.lab.budget_use import ask_groups, values_in_order

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]

OTHERS = 999
"""The number of people known not to be in a study. Their scores set the threshold."""


@dataclass(frozen=True, slots=True)
class Study:
    """Each person has variant j with probability `frequencies[j]`, independently."""

    frequencies: Floats
    members: Floats
    others: Floats

    @classmethod
    def draw(cls, rng: np.random.Generator, *, members: int, frequencies: Numbers) -> Self:
        """Draw the people of a study, and others."""
        chances = frequencies.astype(np.float32)
        has = (rng.random((members + OTHERS, chances.size), np.float32) < chances).astype(np.float32)
        return cls(chances, has[:members], has[members:])

    @property
    def sites(self) -> int:
        """The number of variants."""
        return self.frequencies.size

    def first(self, sites: int) -> Study:
        """Return the same people with the first variants only."""
        return Study(self.frequencies[:sites], self.members[:, :sites], self.others[:, :sites])

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return the table with one row per person and site."""
        people = len(self.members)
        return {
            "calls": {
                "id": np.repeat(np.arange(people), self.sites),
                "site": np.tile(np.arange(self.sites), people),
                "has": self.members.ravel() > 0,
            }
        }

    def catalog(self) -> str:
        """Return the catalog of that table."""
        return (
            f'[tables.calls]\nprivacy_unit = "id"\nmax_rows = {self.sites}\ncolumns.id = {{ type = "integer" }}\n'
            f'columns.site = {{ type = "integer", lower = 0, upper = {self.sites - 1} }}\n'
            'columns.has = { type = "boolean" }\n'
        )


def ask_for_counts(game: Game, analyst: Analyst, study: Study, *, sites: int) -> Numbers:
    """Query how many people have the variant at each of the first `sites` sites."""
    rows = ask_groups(
        game,
        analyst,
        keys=["site"],
        measure="COUNT(*) FILTER (WHERE has) AS n",
        source="calls" if sites == study.sites else f"calls WHERE site < {sites}",
        groups=sites,
        rows=study.sites,
    )
    return values_in_order(rows, key="site", value="n", first=0, count=sites)
