"""Timing: an answer that takes longer has more noise in it, and who knows the noise can take it off."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Series, Size, Tally
from discreet.attacks.lab.presence_game import Meeting, each_meeting
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.loops import LoopGeometric
from discreet.pipeline.time_padding import SHORTEST_BUCKET, bucket_for

Done = TypeVar("Done")

_BEYOND_DOUBT = 3.0
"""Standard errors: below, a difference in time is taken for chance."""
_LONGEST = 60.0
"""Seconds of one query."""


def play(game: Game) -> Outcome:
    """Each trial is one answer to a query whose true answer is 0 or 1, and the time it took."""
    return _against_discreet(game) if game.is_discreet else _against_a_loop(game)


def _against_a_loop(game: Game) -> Outcome:
    """Tosses are the clock, so that a seed gives one result; what a real clock would have told is a fact beside it."""
    release = LoopGeometric(epsilon=game.budget.epsilon, rng=game.rng)
    usual = _usual_times(game)
    tally, by_the_clock = Tally(), []
    for _ in game.each_trial():
        truth = int(game.rng.random() < 0.5)
        took, (answer, tosses) = _timed(partial(release.count, truth))
        guess = min((0, 1), key=lambda value: abs(_tosses(answer - value) - tosses))
        by_the_clock.append(min((0, 1), key=lambda value: abs(usual(abs(answer - value)) - took)) == truth)
        steps = [
            Step("answered", f"{answer}, after {tosses} tosses ({took:,} ns)"),
            Step("note", f"from 0 that takes {_tosses(answer)} tosses, from 1 {_tosses(answer - 1)}"),
            Step("guess", f"f(D) = {guess}"),
            Step("truth", f"f(D) = {truth}"),
        ]
        tally.add(guess == truth, steps)
    sizes = range(6)
    facts = {
        "its epsilon would allow": success_bounds.membership(game.budget.epsilon),
        "right by a real clock": float(np.mean(by_the_clock)),
    }
    curve = Series("nanoseconds by size of the noise", tuple(map(float, sizes)), tuple(map(usual, sizes)))
    return tally.outcome(baseline=0.5, facts=facts, series=[curve])


def _tosses(noise: int) -> int:
    """How often the loop tosses for this noise."""
    return abs(noise) + 2 if noise else 1


def _usual_times(game: Game) -> Callable[[int], float]:
    """The attacker has the same code: nanoseconds by size of the noise, a line through the medians over rehearsals.

    A toss takes as long at any epsilon, so rehearsals are made where noise is large enough for all sizes to be seen.
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
    """Whether a person is there: by the count, and by how long it took, where rehearsals show that time tells.

    The attacker sits beside the curator, where answers do not wait for the end of a class; what classes leave of it is a fact beside it.
    """
    rehearsal = replace(game, trials=int(game.options["rehearsals"]), on_progress=None)
    rehearsed = [_ask(game, meeting) for meeting in each_meeting(rehearsal)]
    clock, over_http = Clock.fitted(rehearsed), Clock.fitted([heard.over_http for heard in rehearsed])
    tally, by_time, by_class = Tally(), [], []
    for meeting in each_meeting(game):
        heard = _ask(game, meeting)
        likelier = clock.log_ratio(heard) + game.budget.epsilon * (1 if heard.answer > 0.5 else -1)
        by_time.append(clock.says_there(heard) == meeting.is_there)
        by_class.append(over_http.says_there(heard.over_http) == meeting.is_there)
        steps = [
            Step("known", f"from {rehearsal.trials} rehearsals: {clock.in_words()}"),
            *meeting.analyst.steps,
            Step("note", f"it took {1000 * heard.seconds:.2f} ms"),
            Step("guess", f"person {meeting.person} is {'there' if likelier > 0 else 'not there'}"),
            Step("truth", "there" if meeting.is_there else "not there"),
        ]
        tally.add((likelier > 0) == meeting.is_there, steps)
    facts: dict[str, Any] = {
        "right by time alone": float(np.mean(by_time)),
        "right by time alone, where answers leave when a class ends": float(np.mean(by_class)),
        "standard errors by which presence is slower": clock.slower,
        "standard errors by which larger noise is slower": clock.slower_by_noise,
    }
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.membership), facts=facts)


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer of Discreet, the truth behind it, and the time from query to answer."""

    is_there: bool
    answer: float
    seconds: float

    @property
    def over_http(self) -> Heard:
        """The same from the service, where an answer that takes longer than the shortest class leaves a doubling later."""
        return replace(self, seconds=bucket_for(self.seconds, shortest=SHORTEST_BUCKET, longest=_LONGEST))


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """How time depends on presence and the size of the noise: seconds = usual + presence * there + noise * |noise|."""

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
    def fitted(cls, heard: Sequence[Heard]) -> Clock:
        """Least squares on times from which the rarest were cut; what is not beyond doubt counts as nothing."""
        seconds = np.array([hearing.seconds for hearing in heard])
        shortest, longest = np.quantile(seconds, [0.05, 0.95])
        cut = np.clip(seconds, shortest, longest)
        there = np.array([float(hearing.is_there) for hearing in heard])
        size = np.abs(np.array([hearing.answer for hearing in heard]) - there)
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

    def says_there(self, heard: Heard) -> bool:
        """By the time alone: on the side of the usual time on which presence was in the rehearsals."""
        return (heard.seconds > self.usual + self.presence / 2) == (self.slower > 0)

    def log_ratio(self, heard: Heard) -> float:
        """Of presence over absence, by the time alone, given the answer."""
        took = min(max(heard.seconds, self.shortest), self.longest)
        if_there = self.usual + self.presence + self.noise * abs(heard.answer - 1)
        if_not = self.usual + self.noise * abs(heard.answer)
        return ((took - if_not) ** 2 - (took - if_there) ** 2) / (2 * self.spread**2)

    def in_words(self) -> str:
        """For a transcript."""
        if not self.presence and not self.noise:
            return "the time tells nothing that could not be chance"
        return f"presence adds {1e6 * self.presence:.1f} µs, and each unit of noise {1e6 * self.noise:.1f} µs"


def _ask(game: Game, meeting: Meeting) -> Heard:
    took, answer = _timed(lambda: meeting.analyst.number(meeting.query, epsilon=game.budget.epsilon))
    return Heard(meeting.is_there, answer, took / 1e9)


def _timed(do: Callable[[], Done]) -> tuple[int, Done]:
    """Nanoseconds, and what came of it."""
    begun = time.perf_counter_ns()
    done = do()
    return time.perf_counter_ns() - begun, done


ATTACKS = (
    Attack(
        name="timing",
        title="Slow answers are noisy answers",
        wants="whether f(D) is 0 or 1",
        sees="one noisy answer, and how long it took",
        lesson=(
            "A guarantee about answers says nothing about when they come: time must not depend on the noise, nor on "
            "the data."
        ),
        citation="Jin, McMurtry, Rubinstein, Ohrimenko 2022 (arXiv:2112.05307)",
        releases={
            "loop": "a count with exact geometric noise from a loop that tosses coins, and tells when it is done"
        },
        bound="membership, even prior",
        small=Size(100, 60),
        full=Size(256, 800),
        play=play,
        options={"rehearsals": 100},
        priced=frozenset({"loop"}),
    ),
)
