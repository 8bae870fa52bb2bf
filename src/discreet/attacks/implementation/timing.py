"""Timing: if an answer with more noise takes longer, the time reveals the noise."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Series, Size, Tally
from discreet.attacks.lab.presence_game import PresenceTrial, each_presence_trial
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.loops import LoopGeometric
from discreet.pipeline.time_padding import SHORTEST_BUCKET, bucket_for

Done = TypeVar("Done")

_BEYOND_DOUBT = 3.0
"""Standard errors. A smaller difference in time is attributed to chance."""
_LONGEST = 60.0
"""Seconds of the longest query."""


def play(game: Game) -> Outcome:
    """Each trial is one answer to a query whose true answer is 0 or 1, and the time it took."""
    return _against_discreet(game) if game.is_discreet else _against_a_loop(game)


def _against_a_loop(game: Game) -> Outcome:
    """Use the number of coin flips as the clock, so runs are reproducible; a detail has the result with real time."""
    release = LoopGeometric(epsilon=game.budget.epsilon, rng=game.rng)
    usual = _usual_times(game)
    tally, by_the_clock = Tally(), []
    for _ in game.each_trial():
        truth = int(game.rng.random() < 0.5)
        took, (answer, tosses) = _timed(partial(release.count, truth))
        guess = min((0, 1), key=lambda value: abs(_tosses(answer - value) - tosses))
        by_the_clock.append(min((0, 1), key=lambda value: abs(usual(abs(answer - value)) - took)) == truth)
        steps = [
            Step("answered", f"{answer}, after {tosses} coin flips ({took:,} ns)"),
            Step("note", f"if the truth is 0 that takes {_tosses(answer)} flips, if it is 1 {_tosses(answer - 1)}"),
            Step("guess", f"f(D) = {guess}"),
            Step("truth", f"f(D) = {truth}"),
        ]
        tally.add(guess == truth, steps)
    sizes = range(6)
    details = {
        "bound at its claimed epsilon": success_bounds.membership(game.budget.epsilon),
        "right with real time measurements": float(np.mean(by_the_clock)),
    }
    curve = Series("nanoseconds, by size of the noise", tuple(map(float, sizes)), tuple(map(usual, sizes)))
    return tally.outcome(baseline=0.5, details=details, series=[curve])


def _tosses(noise: int) -> int:
    """Return the number of coin flips of the loop for this noise."""
    return abs(noise) + 2 if noise else 1


def _usual_times(game: Game) -> Callable[[int], float]:
    """Measure the usual nanoseconds by size of the noise, as a line through the medians of rehearsals.

    The attacker has the same code. A coin flip takes the same time at any epsilon, so rehearsals use an epsilon with
    enough noise to observe all sizes.
    """
    release = LoopGeometric(epsilon=min(0.5, game.budget.epsilon), rng=game.rng)
    times: dict[int, list[int]] = {0: []}
    for _ in range(10 * int(game.options["rehearsals"])):
        took, timed = _timed(partial(release.count, 0))
        times.setdefault(abs(timed.answer), []).append(took)
    medians = {size: float(np.median(some)) for size, some in times.items()}
    sizes = [size for size in medians if size > 0]
    weights = [len(times[size]) ** 0.5 for size in sizes]
    slope, start = np.polyfit(sizes, [medians[size] for size in sizes], 1, w=weights)
    return lambda size: float(start + slope * size) if size else medians[0]


def _against_discreet(game: Game) -> Outcome:
    """Guess whether a person is present, from the count and, if rehearsals show a dependence, from the time.

    The attacker is in the same process, where response times are not padded. A detail has the result with padding.
    """
    rehearsal = replace(game, trials=int(game.options["rehearsals"]), on_progress=None)
    rehearsed = [_ask(game, presence) for presence in each_presence_trial(rehearsal)]
    clock, over_http = Clock.fit(rehearsed), Clock.fit([timed.over_http for timed in rehearsed])
    tally, by_time, by_class = Tally(), [], []
    for presence in each_presence_trial(game):
        timed = _ask(game, presence)
        likelier = clock.log_ratio(timed) + game.budget.epsilon * (1 if timed.answer > 0.5 else -1)
        by_time.append(clock.guess_from_time(timed) == presence.is_there)
        by_class.append(over_http.guess_from_time(timed.over_http) == presence.is_there)
        steps = [
            Step("known", f"from {rehearsal.trials} rehearsals: {clock.in_words()}"),
            *presence.analyst.steps,
            Step("note", f"it took {1000 * timed.seconds:.2f} ms"),
            Step("guess", f"person {presence.person} is {'present' if likelier > 0 else 'not present'}"),
            Step("truth", "present" if presence.is_there else "not present"),
        ]
        tally.add((likelier > 0) == presence.is_there, steps)
    details: dict[str, Any] = {
        "right by time alone": float(np.mean(by_time)),
        "right by time alone, with padded response times": float(np.mean(by_class)),
        "standard errors by which presence is slower": clock.slower,
        "standard errors by which larger noise is slower": clock.slower_by_noise,
    }
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.membership), details=details)


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """An answer of Discreet, the truth, and the time from query to answer."""

    is_there: bool
    answer: float
    seconds: float

    @property
    def over_http(self) -> TimedAnswer:
        """The same answer from the service, which pads response times."""
        return replace(self, seconds=bucket_for(self.seconds, shortest=SHORTEST_BUCKET, longest=_LONGEST))


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A model of the time: seconds = usual + presence * (1 if present) + noise * |noise|."""

    usual: float
    presence: float
    noise: float
    spread: float
    shortest: float
    longest: float
    slower: float
    """The coefficient of presence in standard errors."""
    slower_by_noise: float

    @classmethod
    def fit(cls, answers: Sequence[TimedAnswer]) -> Clock:
        """Fit by least squares, with outliers clipped; coefficients that are not significant become zero."""
        seconds = np.array([timed.seconds for timed in answers])
        shortest, longest = np.quantile(seconds, [0.05, 0.95])
        cut = np.clip(seconds, shortest, longest)
        there = np.array([float(timed.is_there) for timed in answers])
        size = np.abs(np.array([timed.answer for timed in answers]) - there)
        columns = np.column_stack([np.ones_like(there), there, size])
        coefficients = np.linalg.pinv(columns) @ cut
        spread = max(1e-9, float(np.sqrt(np.sum((cut - columns @ coefficients) ** 2) / max(1, cut.size - 3))))
        errors = spread * np.sqrt(np.diag(np.linalg.pinv(columns.T @ columns))) + 1e-12
        doubt = coefficients / errors
        return cls(
            usual=float(coefficients[0]),
            presence=float(coefficients[1]) if abs(doubt[1]) > _BEYOND_DOUBT else 0.0,
            noise=float(coefficients[2]) if abs(doubt[2]) > _BEYOND_DOUBT else 0.0,
            spread=spread,
            shortest=float(shortest),
            longest=float(longest),
            slower=float(doubt[1]),
            slower_by_noise=float(doubt[2]),
        )

    def guess_from_time(self, timed: TimedAnswer) -> bool:
        """Guess presence from the time alone: whether it is on the side of the usual time as with presence."""
        return (timed.seconds > self.usual + self.presence / 2) == (self.slower > 0)

    def log_ratio(self, timed: TimedAnswer) -> float:
        """Return the log likelihood ratio of presence to absence for the time, given the answer."""
        took = min(max(timed.seconds, self.shortest), self.longest)
        if_there = self.usual + self.presence + self.noise * abs(timed.answer - 1)
        if_not = self.usual + self.noise * abs(timed.answer)
        return ((took - if_not) ** 2 - (took - if_there) ** 2) / (2 * self.spread**2)

    def in_words(self) -> str:
        """Return a description for a transcript."""
        if not self.presence and not self.noise:
            return "the time shows no significant dependence"
        return f"presence adds {1e6 * self.presence:.1f} µs, and each unit of noise {1e6 * self.noise:.1f} µs"


def _ask(game: Game, presence: PresenceTrial) -> TimedAnswer:
    took, answer = _timed(lambda: presence.analyst.number(presence.query, epsilon=game.budget.epsilon))
    return TimedAnswer(presence.is_there, answer, took / 1e9)


def _timed(do: Callable[[], Done]) -> tuple[int, Done]:
    """Call a function, and return its nanoseconds and result."""
    started = time.perf_counter_ns()
    done = do()
    return time.perf_counter_ns() - started, done


ATTACKS = (
    Attack(
        name="timing",
        title="Slow answers are noisy answers",
        wants="whether f(D) is 0 or 1",
        sees="one noisy answer, and its response time",
        lesson=(
            "A guarantee for answers does not cover their response times: these must not depend on the noise or the "
            "data."
        ),
        citation="Jin, McMurtry, Rubinstein, Ohrimenko 2022 (arXiv:2112.05307)",
        releases={
            "loop": "a count with exact geometric noise, drawn by a loop of coin flips, returned when the loop ends"
        },
        bound="membership, even prior",
        small=Size(100, 60),
        full=Size(256, 800),
        play=play,
        options={"rehearsals": 100},
        priced=frozenset({"loop"}),
    ),
)
