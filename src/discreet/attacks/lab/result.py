"""Result: how often an attack was right, against what guessing achieves and what the guarantee allows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from discreet.accounting.loss_plots import Picture
from discreet.attacks.lab import confidence
from discreet.attacks.lab.attack import Series
from discreet.attacks.lab.success_bounds import Row
from discreet.attacks.lab.success_chart import draw
from discreet.attacks.lab.trial_steps import Step

LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What an attack achieved in its trials; everything else is derived from the scores."""

    attack: str
    against: str
    scores: tuple[float, ...]
    baseline: float
    bound: float | None
    """The most that the guarantee allows any attacker; None where the release promises nothing."""
    bound_at: Row | None = field(default=None, compare=False)
    """The bound at any epsilon and delta; None where it depends on what was measured, or there is none."""
    epsilon: float | None
    delta: float | None
    people: int
    measure: str
    whole_runs: bool = False
    """Whether a trial is a run of a guess for each person."""
    transcript: tuple[Step, ...]
    """One trial, step by step."""
    seconds: float
    seed: int | None
    options: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    series: tuple[Series, ...] = ()
    sample: Mapping[str, Any] = field(default_factory=dict)
    """The first rows of the generated world behind Discreet, by table."""

    @property
    def trials(self) -> int:
        """How many independent trials there were."""
        return len(self.scores)

    @property
    def success(self) -> float:
        """The share of trials that were right, or the mean over whole runs."""
        return math.fsum(self.scores) / self.trials

    @property
    def counts_guesses(self) -> bool:
        """Whether every trial was one guess, right or wrong."""
        return not self.whole_runs and all(score in (0, 1) for score in self.scores)

    @property
    def standard_error(self) -> float:
        """Of the success, over independent trials."""
        if self.counts_guesses:
            return math.sqrt(self.success * (1 - self.success) / self.trials)
        return confidence.standard_error(self.scores, step=1 / self.people)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """A confidence interval for the success: exact for guesses, Student's over whole runs.

        Args:
            level: In which share of all runs the true rate lies inside.
        """
        if self.counts_guesses:
            return confidence.of_a_rate(round(math.fsum(self.scores)), self.trials, level)
        return confidence.of_a_mean(self.scores, level, step=1 / self.people)

    def holds(self, level: float = LEVEL, *, comparisons: int = 1) -> bool | None:
        """Whether the measured success is compatible with the bound; None where there is none.

        With many comparisons each is made at a stricter level (Bonferroni), so that all of them hold together as often
        as `level` says.

        Args:
            level: How sure to be.
            comparisons: How many results are looked at together.
        """
        if self.bound is None:
            return None
        return self.interval(1 - (1 - level) / comparisons)[0] <= self.bound

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        low, high = self.interval()
        return {
            "attack": self.attack,
            "against": self.against,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "people": self.people,
            "trials": self.trials,
            "success": self.success,
            "standard_error": None if math.isinf(self.standard_error) else self.standard_error,
            "interval": [low, high],
            "level": LEVEL,
            "baseline": self.baseline,
            "bound": self.bound,
            "holds": self.holds(),
            "measure": self.measure,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "options": dict(self.options),
            "facts": dict(self.facts),
            "series": [{"title": one.title, "x": list(one.x), "y": list(one.y)} for one in self.series],
            "sample": dict(self.sample),
            "transcript": [{"kind": step.kind, "text": step.text} for step in self.transcript],
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def plot(self) -> Picture:
        """The success with its interval, between guessing and the bound."""
        name = self.against if self.epsilon is None else f"{self.against}, ε {self.epsilon:g}"
        return draw({name: self})

    def in_words(self) -> str:
        """One sentence for a person."""
        low, high = self.interval()
        allowed = "" if self.bound is None else f"; allowed: {100 * self.bound:.1f} %"
        return (
            f"{self.attack} against {self.against}: "
            f"{100 * self.success:.1f} % {self.measure} in {self.trials:,} trials "
            f"({100 * low:.1f} to {100 * high:.1f} %); guessing: {100 * self.baseline:.1f} %{allowed}"
        )

    def __repr__(self) -> str:
        return f"<{self.in_words()}>"

    def _repr_html_(self) -> str:
        steps = "".join(f"<tr><th>{escape(s.kind)}</th><td>{escape(s.text)}</td></tr>" for s in self.transcript)
        return f"<p>{escape(self.in_words())}</p>{self.plot().svg}<table>{steps}</table>"
