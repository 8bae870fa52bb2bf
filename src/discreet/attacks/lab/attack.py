"""The description of an attack: its goal, what it sees, its targets, and the function that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.attacks.lab.analyst_access import Analyst, ProtectedWorld
from discreet.attacks.lab.scene import LAB, Scene
from discreet.attacks.lab.success_bounds import Row
from discreet.attacks.lab.trial_steps import Step
from discreet.catalog import Catalog
from discreet.core.loss import Loss

DISCREET = "discreet"
_SAMPLE = 8
DURABLE_ANALYSTS = 2
"""Number of analysts in a run whose ledger is in a file; the others have it in memory."""


@dataclass(frozen=True, slots=True)
class Size:
    """The number of people in a world, and the number of trials."""

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
    """The largest success that the guarantee allows at the budget of the run."""

    value: float
    row: Row | None
    """The bound at any other budget. None if it depends on numbers measured in this run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a run: one score for each independent trial, and the values to compare them with.

    If a trial is a single guess, its score is 1 or 0. If a trial consists of many guesses, its score is the share of
    right guesses: guesses within a trial are not independent, so they count as one score.
    """

    scores: Sequence[float]
    baseline: float
    """The success of guessing without any release."""
    bound: Bound | None
    """From `success_bounds`; ignored for releases without a guarantee."""
    transcript: Sequence[Step]
    details: Mapping[str, Any] = field(default_factory=dict)
    """Other numbers to show, by name."""
    series: Sequence[Series] = ()


@dataclass(slots=True)
class Tally:
    """Collect the scores of trials, and the steps of the first trial."""

    scores: list[float] = field(default_factory=list)
    transcript: list[Step] = field(default_factory=list)

    def add(self, score: float, steps: Sequence[Step]) -> None:
        """Add a trial: right or wrong, or its share of right guesses."""
        self.scores.append(float(score))
        if len(self.scores) == 1:
            self.transcript.extend(steps)

    def outcome(
        self,
        *,
        baseline: float,
        bound: Bound | None = None,
        details: Mapping[str, Any] | None = None,
        series: Sequence[Series] = (),
    ) -> Outcome:
        """Return the outcome of all trials."""
        return Outcome(
            scores=self.scores,
            baseline=baseline,
            bound=bound,
            transcript=self.transcript,
            details=details or {},
            series=series,
        )


@dataclass(slots=True, kw_only=True)
class Game:
    """The parameters of a run, and what an attack needs to run."""

    against: str
    """The name of a weak release or a peer package, or "discreet"."""
    loss: Loss | None
    """The attacker's whole budget for one trial."""
    people: int
    trials: int
    rng: np.random.Generator
    """Randomness of the data, the attacker and weak releases. Never of Discreet's noise."""
    options: Mapping[str, float] = field(default_factory=dict)
    on_progress: Callable[[int, int], None] | None = None
    scene: Scene = LAB
    """The generated people, for attacks that work with any catalog."""
    sample: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The first rows of the first protected world, by table. They are for display, not for the attacker."""
    _analysts: int = 0

    @property
    def is_discreet(self) -> bool:
        """Whether the target is Discreet."""
        return self.against == DISCREET

    @property
    def budget(self) -> Loss:
        """The loss, which must not be None."""
        if self.loss is None:
            raise TypeError(self.against)  # `run` refuses before
        return self.loss

    def each_world(self, *, trials_per_world: int) -> Iterator[range]:
        """Yield the trials in groups; each group uses its own world."""
        for first in range(0, self.trials, trials_per_world):
            yield range(first, min(first + trials_per_world, self.trials))

    def each_trial(self, trials: range | None = None) -> Iterator[int]:
        """Yield the numbers of all trials, or of those of one world, and report progress."""
        for number in range(self.trials) if trials is None else trials:
            yield number
            if self.on_progress is not None:
                self.on_progress(number + 1, self.trials)

    def report(self, done: float) -> None:
        """Report progress of work that is not a trial, as a share from 0 to 1."""
        if self.on_progress is not None:
            self.on_progress(int(done * self.trials), self.trials)

    def bound(self, row: Row) -> Bound | None:
        """Return a bound at the whole budget, as in `game.bound(success_bounds.bit)`; None without a guarantee."""
        return None if self.loss is None else Bound(row(self.loss.epsilon, self.loss.delta), row)

    def bound_of_this_run(self, row: Row) -> Bound | None:
        """Return a bound that depends on a number measured in this run, so it is not valid at other budgets."""
        return None if self.loss is None else Bound(row(self.loss.epsilon, self.loss.delta), None)

    def protect(self, tables: Mapping[str, Mapping[str, Any]], catalog: str | Catalog) -> ProtectedWorld:
        """Put tables behind the real curator. `catalog` is the [tables] part of a discreet.toml, or a catalog."""
        self.sample = self.sample or {name: _first_rows(columns) for name, columns in tables.items()}
        return ProtectedWorld(tables, catalog, budget=self.budget)

    def analyst(self, world: ProtectedWorld) -> Analyst:
        """Return an analyst of a world with the whole budget and an empty ledger."""
        self._analysts += 1
        return world.analyst(durable=self._analysts <= DURABLE_ANALYSTS)


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
    """Weak releases by name, each with a description; the first one is the default."""
    bound: str
    """The bound that applies, in words."""
    small: Size
    full: Size
    play: Callable[[Game], Outcome]
    measure: str = "right guesses"
    """What the scores measure."""
    whole_runs: bool = False
    """Whether a trial consists of many guesses, and its score is the share of right ones."""
    options: Mapping[str, float] = field(default_factory=dict)
    """Other options with their defaults; if the default is an int, values must be whole numbers."""
    peers: Mapping[str, str] = field(default_factory=dict)
    """Other packages that claim a guarantee, by import name, each with a description."""
    priced: frozenset[str] = frozenset()
    """The weak releases that have an epsilon."""
    needs: tuple[str, ...] = ()
    """Optional packages that the attack needs."""
    any_catalog: bool = False
    """Whether it works with generated people in the shape of any catalog."""

    @property
    def weak(self) -> str:
        """The default weak release."""
        return next(iter(self.releases))

    def as_dict(self) -> dict[str, Any]:
        """The description that the page and the command show."""
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
