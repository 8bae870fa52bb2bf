"""Averaging: ask the same thing often enough, in other words if need be, and the noise is gone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.strategies import guess_bits, own_sum, share, sign
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.noisy import FreshNoise, StickyNoise

_REWRITES = ("{0} = {1}", "{0} = {1} AND 1 = 1", "NOT {0} <> {1}", "{0} >= {1} AND NOT {0} > {1}")


def play(game: Game) -> Outcome:
    """Each trial is one person with a fair random bit."""
    if game.is_discreet:
        return guess_bits(game, _guess_by_rewriting)
    return _against_fresh_noise(game) if game.against == "fresh-noise" else _against_sticky_noise(game)


def _against_fresh_noise(game: Game) -> Outcome:
    repeats, sd = int(game.options["repeats"]), game.options["noise"]
    tally, exact = Tally(), []
    for _ in game.each_trial():
        secrets = game.rng.random(game.people) < 0.5
        person = int(game.rng.integers(game.people))
        release = FreshNoise(sd=sd, rng=game.rng)
        everybody = release.count(secrets, times=repeats)
        all_but_one = release.count(secrets & (np.arange(game.people) != person), times=repeats)
        exact.append(round(everybody.mean()) == secrets.sum())
        guess = bool(everybody.mean() - all_but_one.mean() > 0.5)
        steps = [
            Step("known", f"who is among the {game.people:,} people"),
            Step("asked", f"how many have {game.scene.wanted}, {repeats} times"),
            Step("answered", f"{_some(everybody)}: on average {everybody.mean():.3f}"),
            Step("asked", f"how many, without person {person}, {repeats} times"),
            Step("answered", f"{_some(all_but_one)}: on average {all_but_one.mean():.3f}"),
            Step("guess", f"person {person} has {game.scene.wanted}: {guess}"),
            Step("truth", f"{bool(secrets[person])}; in all, {secrets.sum()} people"),
        ]
        tally.add(guess == secrets[person], steps)
    return tally.outcome(baseline=0.5, facts={"counts recovered exactly": float(np.mean(exact))})


def _against_sticky_noise(game: Game) -> Outcome:
    """The same query has the same noise, so every query is asked in words of its own.

    Leaving out some others (id % 9 <> 4) varies the layers of who is chosen; rewriting the exclusion (id + 7 <> 12 + 7)
    varies the layer of its text; what the two queries of a pair share cancels.
    """
    pairs, sd = int(game.options["repeats"]), game.options["noise"]
    tally = Tally()
    for _ in game.each_trial():
        secrets = game.rng.random(game.people) < 0.5
        ids = np.arange(game.people)
        person = int(game.rng.integers(game.people))
        release = StickyNoise(secret=game.rng.bytes(16), sd=sd)
        differences, steps = [], [Step("known", f"the ids of all {game.people:,} people")]
        for pair in range(pairs):
            modulus = int(game.rng.integers(5, 200))
            left_out = (person + 1 + int(game.rng.integers(modulus - 1))) % modulus  # never the target's own class
            chosen, conditions = secrets & (ids % modulus != left_out), ["secret", f"id % {modulus} <> {left_out}"]
            exclusion = f"id + {pair} <> {person + pair}"
            everybody = release.count(chosen, conditions)
            all_but_one = release.count(chosen & (ids != person), [*conditions, exclusion])
            if everybody is not None and all_but_one is not None:
                differences.append(everybody - all_but_one)
            if pair < 2:
                steps += [
                    Step("asked", f"count where {' and '.join(conditions)}; and also where {exclusion}"),
                    Step("answered", f"{everybody}; {all_but_one}"),
                ]
        mean = float(np.mean(differences)) if differences else 0.5
        guess = mean > 0.5
        steps += [
            Step("note", f"{pairs} such pairs, no two of them alike: on average they differ by {mean:.3f}"),
            Step("guess", f"person {person} has {game.scene.wanted}: {guess}"),
            Step("truth", str(bool(secrets[person]))),
        ]
        tally.add(guess == secrets[person], steps)
    return tally.outcome(baseline=0.5)


def _guess_by_rewriting(game: Game, analyst: Analyst, person: int) -> bool:
    """Every wording is paid for, and asking again in the same words gives the same answer: so noise must be shared."""
    total = 0.0
    for number, rewrite in enumerate(_REWRITES):
        sql = own_sum(game, rewrite.format(game.scene.number, person))
        epsilon = share(game.budget.epsilon, len(_REWRITES))
        told = analyst.number(sql, epsilon=epsilon)
        if number == 0:
            analyst.number(sql, epsilon=epsilon)  # the same words again: free, and the same answer
        total += float(np.clip(told, -1, 1))  # beyond one step, Laplace noise says nothing more
    return sign(game, total)


def _some(answers: npt.NDArray[np.float64]) -> str:
    return ", ".join(f"{answer:.2f}" for answer in answers[:4]) + ", …"


ATTACKS = (
    Attack(
        name="averaging",
        title="Ask again, in other words",
        wants="one person's bit, behind noise",
        sees="noisy counts, as many as it likes",
        lesson=(
            "Noise protects for a price, and the price must be charged for every answer, however the question is "
            "worded."
        ),
        citation=(
            "Chicago slides, Some Attacks against Differential Privacy Systems; Gadotti et al. 2019 "
            "(arXiv:1804.06752) for sticky noise"
        ),
        releases={
            "fresh-noise": "counts with fresh noise of standard deviation 1, without a budget",
            "sticky-noise": (
                "counts whose noise sticks to the wording of a question and to who is chosen, without a budget"
            ),
        },
        bound="a person's bit",
        small=Size(200, 30),
        full=Size(256, 700),
        play=play,
        options={"repeats": 400, "noise": 1.0},
        any_catalog=True,
    ),
)
