"""Averaging: repeat a query, with different wording if necessary, until the noise averages out."""

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
        everyone = release.count(secrets, times=repeats)
        all_but_one = release.count(secrets & (np.arange(game.people) != person), times=repeats)
        exact.append(round(everyone.mean()) == secrets.sum())
        guess = bool(everyone.mean() - all_but_one.mean() > 0.5)
        steps = [
            Step("known", f"who is among the {game.people:,} people"),
            Step("asked", f"how many have {game.scene.secret_in_words}, {repeats} times"),
            Step("answered", f"{_some(everyone)}: on average {everyone.mean():.3f}"),
            Step("asked", f"how many, without person {person}, {repeats} times"),
            Step("answered", f"{_some(all_but_one)}: on average {all_but_one.mean():.3f}"),
            Step("guess", f"person {person} has {game.scene.secret_in_words}: {guess}"),
            Step("truth", f"{bool(secrets[person])}; in all, {secrets.sum()} people"),
        ]
        tally.add(guess == secrets[person], steps)
    return tally.outcome(baseline=0.5, details={"counts recovered exactly": float(np.mean(exact))})


def _against_sticky_noise(game: Game) -> Outcome:
    """Vary the wording of every query, since the same query has the same noise.

    Leaving out some other people (id % 9 <> 4) varies the noise layers of the chosen people; rewriting the exclusion
    (id + 7 <> 12 + 7) varies the layer of its text; the layers that both queries of a pair share cancel.
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
            left_out = (
                person + 1 + int(game.rng.integers(modulus - 1))
            ) % modulus  # never the target's own residue class
            chosen, conditions = secrets & (ids % modulus != left_out), ["secret", f"id % {modulus} <> {left_out}"]
            exclusion = f"id + {pair} <> {person + pair}"
            everyone = release.count(chosen, conditions)
            all_but_one = release.count(chosen & (ids != person), [*conditions, exclusion])
            if everyone is not None and all_but_one is not None:
                differences.append(everyone - all_but_one)
            if pair < 2:
                steps += [
                    Step("asked", f"count where {' and '.join(conditions)}; and also where {exclusion}"),
                    Step("answered", f"{everyone}; {all_but_one}"),
                ]
        mean = float(np.mean(differences)) if differences else 0.5
        guess = mean > 0.5
        steps += [
            Step("note", f"{pairs} such pairs, all different: the mean difference is {mean:.3f}"),
            Step("guess", f"person {person} has {game.scene.secret_in_words}: {guess}"),
            Step("truth", str(bool(secrets[person]))),
        ]
        tally.add(guess == secrets[person], steps)
    return tally.outcome(baseline=0.5)


def _guess_by_rewriting(game: Game, analyst: Analyst, person: int) -> bool:
    """Divide the budget over several wordings: each is charged, and repeating a wording gives the same answer."""
    total = 0.0
    for number, rewrite in enumerate(_REWRITES):
        sql = own_sum(game, rewrite.format(game.scene.number, person))
        epsilon = share(game.budget.epsilon, len(_REWRITES))
        observed = analyst.number(sql, epsilon=epsilon)
        if number == 0:
            analyst.number(sql, epsilon=epsilon)  # repeating the same query is free and gives the same answer
        total += float(np.clip(observed, -1, 1))  # Laplace noise beyond one step gives no more evidence
    return sign(game, total)


def _some(answers: npt.NDArray[np.float64]) -> str:
    return ", ".join(f"{answer:.2f}" for answer in answers[:4]) + ", …"


ATTACKS = (
    Attack(
        name="averaging",
        title="Ask again in other words",
        wants="one person's bit, behind noise",
        sees="any number of noisy counts",
        lesson="Noise averages out. Every answer must be charged to a budget, however the query is worded.",
        citation=(
            "Chicago slides, Some Attacks against Differential Privacy Systems; Gadotti et al. 2019 "
            "(arXiv:1804.06752) for sticky noise"
        ),
        releases={
            "fresh-noise": "counts with fresh noise of standard deviation 1, without a budget",
            "sticky-noise": (
                "counts whose noise is fixed by the wording of a query and the chosen people, without a budget"
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
