"""An attack: what it wants, what it sees, what it plays against, and the function that plays it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.attacks.lab.analyst_access import Analyst, Protected
from discreet.attacks.lab.scene import LAB, Scene
from discreet.attacks.lab.success_bounds import Row
from discreet.attacks.lab.trial_steps import Step
from discreet.catalog import Catalog
from discreet.core.loss import Loss

DISCREET = "discreet"
_SAMPLE = 8
DURABLE_LIVES = 2
"""So many analysts of a run have their books in a file, the others in memory."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many people a world has, and how often an attack is played."""

    people: int
    trials: int


@dataclass(frozen=True, slots=True)
class Series:
    """A curve that belongs to a result, such as running time against size."""

    title: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that the guarantee allows at the budget that was played with."""

    value: float
    row: Row | None
    """The same at any other budget, where it depends on nothing that was measured while playing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What playing gave: one score for each independent trial, and what they are to be compared with.

    A score is 1 or 0 where a trial is one guess, and a share from 0 to 1 where it is a whole run of many guesses: these
    are not independent of each other, so a run counts as one.
    """

    scores: Sequence[float]
    baseline: float
    """What guessing achieves, without any release."""
    bound: Bound | None
    """From `bounds`; dropped where the release promises nothing."""
    transcript: Sequence[Step]
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Other numbers worth showing, by name."""
    series: Sequence[Series] = ()


@dataclass(slots=True)
class Tally:
    """Counts trials, and keeps the steps of the first."""

    scores: list[float] = field(default_factory=list)
    transcript: list[Step] = field(default_factory=list)

    def add(self, score: float, steps: Sequence[Step]) -> None:
        """One more trial: right or wrong, or the share that was right."""
        self.scores.append(float(score))
        if len(self.scores) == 1:
            self.transcript.extend(steps)

    def outcome(
        self,
        *,
        baseline: float,
        bound: Bound | None = None,
        facts: Mapping[str, Any] | None = None,
        series: Sequence[Series] = (),
    ) -> Outcome:
        """All of it."""
        return Outcome(
            scores=self.scores,
            baseline=baseline,
            bound=bound,
            transcript=self.transcript,
            facts=facts or {},
            series=series,
        )


@dataclass(slots=True, kw_only=True)
class Game:
    """Everything an attack is given to play with."""

    against: str
    """A release by its own name, a peer, or "discreet"."""
    loss: Loss | None
    """The attacker's whole budget for one trial."""
    people: int
    trials: int
    rng: np.random.Generator
    """For the world, for the attacker's coins and for releases that deserve to fall. Never for Discreet's noise."""
    options: Mapping[str, float] = field(default_factory=dict)
    on_progress: Callable[[int, int], None] | None = None
    scene: Scene = LAB
    """Who the people are, for attacks that can be posed on any catalog."""
    sample: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The first rows of the first world that was protected, by table: for those who look on, not for the attacker."""
    _lives: int = 0

    @property
    def is_discreet(self) -> bool:
        """Whether to go through an analyst's door."""
        return self.against == DISCREET

    @property
    def budget(self) -> Loss:
        """The loss, where there must be one."""
        if self.loss is None:
            raise TypeError(self.against)  # `run` refuses before
        return self.loss

    def each_world(self, *, serves: int) -> Iterator[range]:
        """The trials in groups: each group plays in a world of its own."""
        for first in range(0, self.trials, serves):
            yield range(first, min(first + serves, self.trials))

    def each_trial(self, trials: range | None = None) -> Iterator[int]:
        """0, 1, ... or those of one world; whoever looks on is told."""
        for number in range(self.trials) if trials is None else trials:
            yield number
            if self.on_progress is not None:
                self.on_progress(number + 1, self.trials)

    def report(self, done: float) -> None:
        """Tell whoever looks on about work that is not a trial: how much of it is done, as a share."""
        if self.on_progress is not None:
            self.on_progress(int(done * self.trials), self.trials)

    def bound(self, row: Row) -> Bound | None:
        """A row of `bounds` at the whole budget, as `game.bound(bounds.bit)`; None where nothing was promised."""
        return None if self.loss is None else Bound(row(self.loss.epsilon, self.loss.delta), row)

    def bound_of_this_run(self, row: Row) -> Bound | None:
        """The same for a row with a number in it that was measured in this run: it says nothing about other budgets."""
        return None if self.loss is None else Bound(row(self.loss.epsilon, self.loss.delta), None)

    def protect(self, tables: Mapping[str, Mapping[str, Any]], catalog: str | Catalog) -> Protected:
        """A world behind the real curator; `catalog` is the [tables] part of a discreet.toml, or a whole one."""
        self.sample = self.sample or {name: _first_rows(columns) for name, columns in tables.items()}
        return Protected(tables, catalog, budget=self.budget)

    def analyst(self, world: Protected) -> Analyst:
        """Somebody with the whole budget to spend on a world, and books in which nothing is written yet."""
        self._lives += 1
        return world.analyst(durable=self._lives <= DURABLE_LIVES)


def _first_rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    shown = {name: np.asarray(values)[:_SAMPLE].tolist() for name, values in list(columns.items())[:_SAMPLE]}
    return [dict(zip(shown, map(str, row), strict=True)) for row in zip(*shown.values(), strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attack of the lab."""

    name: str
    title: str
    wants: str
    sees: str
    lesson: str
    citation: str
    releases: Mapping[str, str]
    """Releases that deserve to fall, by name, each with a sentence; the first is `weak`."""
    bound: str
    """The row of the bounds that applies, in words."""
    small: Size
    full: Size
    play: Callable[[Game], Outcome]
    measure: str = "right guesses"
    """What the scores count."""
    whole_runs: bool = False
    """Whether a trial is a run of many guesses, one for each person, and its score the share that was right."""
    options: Mapping[str, float] = field(default_factory=dict)
    """What else can be turned, with its usual value; where that is an int, whole numbers only."""
    peers: Mapping[str, str] = field(default_factory=dict)
    """Packages that claim a guarantee, by the name they are imported under, each with a sentence."""
    priced: frozenset[str] = frozenset()
    """Those of the weak releases that have an epsilon of their own."""
    needs: tuple[str, ...] = ()
    """Packages beyond Discreet's own that playing needs."""
    any_catalog: bool = False
    """Whether it can be posed on people of any catalog's shape."""

    @property
    def weak(self) -> str:
        """The release that is meant when none is named."""
        return next(iter(self.releases))

    def as_dict(self) -> dict[str, Any]:
        """What a page or a command shows of it."""
        return {
            "name": self.name,
            "title": self.title,
            "wants": self.wants,
            "sees": self.sees,
            "lesson": self.lesson,
            "citation": self.citation,
            "releases": dict(self.releases),
            "peers": dict(self.peers),
            "priced": sorted(self.priced),
            "bound": self.bound,
            "measure": self.measure,
            "whole_runs": self.whole_runs,
            "any_catalog": self.any_catalog,
            "options": dict(self.options),
            "small": {"people": self.small.people, "trials": self.small.trials},
            "full": {"people": self.full.people, "trials": self.full.trials},
        }
