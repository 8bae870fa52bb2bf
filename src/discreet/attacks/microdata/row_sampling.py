"""Sampling: publishing a few rows protects nearly everyone, but exposes the people in the sample completely."""

from __future__ import annotations

import numpy as np

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.scene import people_catalog, people_table
from discreet.attacks.lab.strategies import Bits, ask_sum_per_person, sign
from discreet.attacks.lab.trial_steps import Step
from discreet.samples.state import state

_TRIALS_PER_WORLD = 50


def play(game: Game) -> Outcome:
    """Each trial guesses the secret of a person chosen by the attacker."""
    return _against_discreet(game) if game.is_discreet else _against_a_sample(game)


def _against_a_sample(game: Game) -> Outcome:
    """Find a row of the sample that matches exactly one person of the voter list."""
    voters = state(people=game.people, seed=int(game.rng.integers(2**32)))
    keys = voters.quasi_identifiers()
    rows = max(1, round(game.people * game.options["sampled"]))
    tally = Tally()
    for _ in game.each_trial():
        secrets: Bits = game.rng.random(game.people) < 0.5
        sample = game.rng.choice(game.people, rows, replace=False)
        released = [(keys[person], bool(secrets[person])) for person in sample]  # no names
        key, guess = next(((key, observed) for key, observed in released if (keys == key).sum() == 1), released[0])
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
    return tally.outcome(baseline=0.5, details={"chance that a given person is in the sample": rows / game.people})


def _against_discreet(game: Game) -> Outcome:
    """Query all people at once, and guess the secret of the person with the clearest answer."""
    tally = Tally()
    for trials in game.each_world(trials_per_world=_TRIALS_PER_WORLD):
        secrets: Bits = game.rng.random(game.people) < 0.5
        with game.protect({"people": people_table(secrets)}, people_catalog(game.people)) as world:
            for _ in game.each_trial(trials):
                analyst = game.analyst(world)
                observed = ask_sum_per_person(game, analyst)
                clearest = np.flatnonzero(np.abs(observed) == np.abs(observed).max())
                person = int(game.rng.choice(clearest))
                guess = sign(game, float(observed[person]))
                steps = [
                    Step("known", f"all {game.people:,} ids"),
                    *analyst.steps,
                    Step("note", f"the clearest answer is that of person {person}: {observed[person]:+.0f}"),
                    Step("guess", f"the secret of person {person} is {guess}"),
                    Step("truth", str(bool(secrets[person]))),
                ]
                tally.add(guess == secrets[person], steps)
    # The target is chosen after the answers: epsilon bounds every posterior, but delta may fail for each person.
    bound = game.bound(lambda epsilon, delta: success_bounds.bit(epsilon, min(1.0, game.people * delta)))
    return tally.outcome(baseline=0.5, bound=bound)


ATTACKS = (
    Attack(
        name="sampling",
        title="Just a few rows",
        wants="the secret of any person",
        sees="a small random sample of unchanged rows, and a voter list",
        lesson="A sample protects most people by exposing a few, who cannot even deny their rows.",
        citation="NYU slides, Sampling (just a few)",
        releases={"sample": "one row in a hundred, drawn at random and otherwise unchanged"},
        bound="a person's bit, for the easiest person",
        small=Size(200, 40),
        full=Size(500, 700),
        play=play,
        measure="secrets guessed",
        options={"sampled": 0.01},
    ),
)
