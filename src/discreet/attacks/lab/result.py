"""The result of an attack: its success, compared with guessing and with what the guarantee allows."""

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
    """The success of an attack in its trials. All statistics are derived from the scores."""

    attack: str
    against: str
    scores: tuple[float, ...]
    baseline: float
    bound: float | None
    """The largest success that the guarantee allows any attacker; None without a guarantee."""
    bound_at: Row | None = field(default=None, compare=False)
    """The bound at any epsilon and delta; None if it depends on this run, or without a guarantee."""
    epsilon: float | None
    delta: float | None
    people: int
    measure: str
    whole_runs: bool = False
    """Whether a trial consists of one guess per person."""
    transcript: tuple[Step, ...]
    """One trial, step by step."""
    seconds: float
    seed: int | None
    options: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    series: tuple[Series, ...] = ()
    sample: Mapping[str, Any] = field(default_factory=dict)
    """The first rows of the generated data behind Discreet, by table."""

    @property
    def trials(self) -> int:
        """The number of independent trials."""
        return len(self.scores)

    @property
    def success(self) -> float:
        """The share of right guesses, or the mean score."""
        return math.fsum(self.scores) / self.trials

    @property
    def counts_guesses(self) -> bool:
        """Whether every trial is one guess, right or wrong."""
        return not self.whole_runs and all(score in (0, 1) for score in self.scores)

    @property
    def standard_error(self) -> float:
        """The standard error of the success, over independent trials."""
        if self.counts_guesses:
            return math.sqrt(self.success * (1 - self.success) / self.trials)
        return confidence.standard_error(self.scores, step=1 / self.people)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return a confidence interval of the success: exact for single guesses, otherwise Student's.

        Args:
            level: The probability that the interval contains the true rate.
        """
        if self.counts_guesses:
            return confidence.rate_interval(round(math.fsum(self.scores)), self.trials, level)
        return confidence.mean_interval(self.scores, level, step=1 / self.people)

    def holds(self, level: float = LEVEL, *, comparisons: int = 1) -> bool | None:
        """Whether the measured success is compatible with the bound; None without a bound.

        With several comparisons, each uses a stricter level (Bonferroni), so that `level` holds for all together.

        Args:
            level: The confidence level.
            comparisons: The number of results that are compared together.
        """
        if self.bound is None:
            return None
        return self.interval(1 - (1 - level) / comparisons)[0] <= self.bound

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
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
            "details": dict(self.details),
            "series": [{"title": one.title, "x": list(one.x), "y": list(one.y)} for one in self.series],
            "sample": dict(self.sample),
            "transcript": [{"kind": step.kind, "text": step.text} for step in self.transcript],
        }

    def to_json(self) -> str:
        """The JSON form as text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def plot(self) -> Picture:
        """Plot the success with its interval, guessing and the bound."""
        name = self.against if self.epsilon is None else f"{self.against}, ε {self.epsilon:g}"
        return draw({name: self})

    def in_words(self) -> str:
        """Return the result as one sentence."""
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
