"""Differencing: two answers about many people whose difference is about one person."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.scene import Scene
from discreet.attacks.lab.strategies import guess_bit, guess_bits
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.exact_counts import ExactCounts, Withheld

Bits = npt.NDArray[np.bool_]

_STORIES = {
    "minimum-size": ("HIV-positive people", "HIV-positive people not named Freddie", "Freddie is HIV-positive"),
    "articles": (
        "March, Alice: families of the freshman class that earn over $1M",
        "April, Bob: the same, after John dropped out",
        "John's family earns over $1M",
    ),
    "room": (
        "people in the room who XYZ last night",
        "people in the room, other than the speaker, who XYZ last night",
        "the speaker XYZ",
    ),
}


def play(game: Game) -> Outcome:
    """Each trial is one person with a fair random bit. A world serves as many trials as it has people."""
    return guess_bits(game, guess_bit) if game.is_discreet else _against_exact_counts(game)


def _scene_story(scene: Scene) -> tuple[str, str, str]:
    return (
        f"people who have {scene.secret_in_words}",
        "the same, without one of them",
        f"this one has {scene.secret_in_words}",
    )


def _against_exact_counts(game: Game) -> Outcome:
    minimum = {"minimum-size": 10, "articles": 10, "room": 0}[game.against]
    with_you, without_you, claim = _STORIES[game.against] if game.scene.is_the_labs else _scene_story(game.scene)
    rule = f", and that groups below {minimum} are withheld" if minimum else ""
    known = Step("known", f"who is among the {game.people:,} people{rule}")
    tally = Tally()
    for _ in game.each_trial():
        secrets: Bits = game.rng.random(game.people) < 0.5
        person = int(game.rng.integers(game.people))
        others = np.arange(game.people) != person
        counts, steps = ExactCounts(minimum=minimum), [known]
        try:
            everyone = counts.count(secrets)
            steps += [Step("asked", with_you), Step("answered", f"{everyone:,}")]
            all_but_one = counts.count(secrets & others)
            steps += [Step("asked", without_you), Step("answered", f"{all_but_one:,}")]
            guess = everyone - all_but_one == 1
        except Withheld:
            steps.append(Step("refused", "the group is too small"))
            guess = bool(game.rng.random() < 0.5)
        steps += [Step("guess", f"{claim}: {guess}"), Step("truth", str(bool(secrets[person])))]
        tally.add(guess == secrets[person], steps)
    return tally.outcome(baseline=0.5)


ATTACKS = (
    Attack(
        name="differencing",
        title="Everyone minus everyone but you",
        wants="one person's bit: Freddie's diagnosis, the income of John's family, what the speaker did last night",
        sees="counts of large groups, two of which differ in one person",
        lesson="A minimum group size does not protect: both groups are large, and their difference is one person.",
        citation=(
            "NYU slides, A basic differencing attack and Aggregation without randomization; Sapienza slides, The "
            "Statistics Masquerade"
        ),
        releases={
            "minimum-size": "exact counts, withheld below 10 people",
            "articles": "two newspaper articles with exact counts, a month apart",
            "room": "exact counts of the people in a room",
        },
        bound="a person's bit",
        small=Size(256, 40),
        full=Size(256, 700),
        play=play,
        any_catalog=True,
    ),
)
