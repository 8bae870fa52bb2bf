"""Sampling: a few rows as they are. Nearly everybody is safe, and every time somebody is not."""

from __future__ import annotations

import numpy as np

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.scene import people_catalog, people_table
from discreet.attacks.lab.strategies import Bits, everybodys_sums, sign
from discreet.attacks.lab.trial_steps import Step
from discreet.samples.state import state

_SERVES = 50


def play(game: Game) -> Outcome:
    """Tell the secret of anybody, whoever it be."""
    return _against_discreet(game) if game.is_discreet else _against_a_sample(game)


def _against_a_sample(game: Game) -> Outcome:
    """Look for a row of the sample that fits one person of the voter list only."""
    voters = state(people=game.people, seed=int(game.rng.integers(2**32)))
    keys = voters.quasi_identifiers()
    rows = max(1, round(game.people * game.options["sampled"]))
    tally = Tally()
    for _ in game.each_trial():
        secrets: Bits = game.rng.random(game.people) < 0.5
        sample = game.rng.choice(game.people, rows, replace=False)
        released = [(keys[person], bool(secrets[person])) for person in sample]  # no names
        key, guess = next(((key, told) for key, told in released if (keys == key).sum() == 1), released[0])
        fits = np.flatnonzero(keys == key)
        person = int(fits[0])
        steps = [
            Step("known", f"the voter list of {game.people:,} people: name, zip code, birth date, sex"),
            Step("answered", f"{rows} rows as they are, one of them: {voters.describe(person)}, secret: {guess}"),
            Step("note", f"voters who fit: {fits.size}"),
            Step("guess", f"the secret of voter {person:,} is {guess}"),
            Step("truth", str(bool(secrets[person]))),
        ]
        tally.add(guess == secrets[person], steps)
    return tally.outcome(baseline=0.5, facts={"chance that a given person is in the sample": rows / game.people})


def _against_discreet(game: Game) -> Outcome:
    """Ask about everybody at once, and speak of whoever's answer is clearest."""
    tally = Tally()
    for trials in game.each_world(serves=_SERVES):
        secrets: Bits = game.rng.random(game.people) < 0.5
        with game.protect({"people": people_table(secrets)}, people_catalog(game.people)) as world:
            for _ in game.each_trial(trials):
                analyst = game.analyst(world)
                told = everybodys_sums(game, analyst)
                clearest = np.flatnonzero(np.abs(told) == np.abs(told).max())
                person = int(game.rng.choice(clearest))
                guess = sign(game, float(told[person]))
                steps = [
                    Step("known", f"all {game.people:,} ids"),
                    *analyst.steps,
                    Step("note", f"the clearest answer is that of person {person}: {told[person]:+.0f}"),
                    Step("guess", f"the secret of person {person} is {guess}"),
                    Step("truth", str(bool(secrets[person]))),
                ]
                tally.add(guess == secrets[person], steps)
    # The target is chosen after the answers: epsilon bounds every posterior, but each person may meet their own delta.
    bound = game.bound(lambda epsilon, delta: success_bounds.bit(epsilon, min(1.0, game.people * delta)))
    return tally.outcome(baseline=0.5, bound=bound)


ATTACKS = (
    Attack(
        name="sampling",
        title="Just a few",
        wants="the secret of somebody, whoever it be",
        sees="a small random sample of rows as they are, and a voter list",
        lesson="A sample protects most people by giving away a few, who cannot even deny it.",
        citation="NYU slides, Sampling (just a few)",
        releases={"sample": "one row in a hundred, drawn at random and otherwise unchanged"},
        bound="a person's bit, of whoever is easiest",
        small=Size(200, 40),
        full=Size(500, 700),
        play=play,
        measure="secrets told",
        options={"sampled": 0.01},
    ),
)
