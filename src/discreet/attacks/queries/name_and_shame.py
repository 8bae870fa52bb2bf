"""Name and shame: a mechanism that publishes a person's row, although it is private in total variation."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.presence_game import presence_catalog
from discreet.attacks.lab.strategies import largest
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.shaming import NameAndShame, RandomRow
from discreet.errors import NotAllowed

_CANDIDATES = 16
"""Against Discreet: the number of people in a trial, one of whom is named."""


def play(game: Game) -> Outcome:
    """A random half of the people is in the data; each trial names one person as being in it."""
    return _against_discreet(game) if game.is_discreet else _against_total_variation(game)


def _against_total_variation(game: Game) -> Outcome:
    delta = game.options["expected"] / game.people
    release = RandomRow(game.rng) if game.against == "random-row" else NameAndShame(delta=delta, rng=game.rng)
    tally, exposed = Tally(), []
    for _ in game.each_trial():
        there = np.zeros(2 * game.people, dtype=bool)
        there[game.rng.permutation(there.size)[: game.people]] = True
        published = release.publish(np.flatnonzero(there))
        exposed.append(published.size > 0)
        guess = int(published[0]) if published.size else int(game.rng.integers(there.size))
        steps = [
            Step("known", f"{game.people:,} of {there.size:,} people are in the data, each as likely as the others"),
            Step("answered", f"published: {', '.join(f'person {row}' for row in published) or 'nothing'}"),
            *_named(guess, bool(there[guess])),
        ]
        tally.add(bool(there[guess]), steps)
    details = {"releases that expose a person": float(np.mean(exposed)), "total variation": _variation(game, delta)}
    return tally.outcome(baseline=0.5, details=details)


def _variation(game: Game, delta: float) -> float:
    """Return by how much one person can change the probability of any set of outputs."""
    return 1 / game.people if game.against == "random-row" else delta


def _against_discreet(game: Game) -> Outcome:
    """Rows are refused, so query the counts of all candidates and name the one with the largest."""
    tally, trials_per_world = Tally(), max(1, game.people // _CANDIDATES)
    known = Step("known", f"each of {_CANDIDATES} people is in the data or not, with probability 1/2")
    for trials in game.each_world(trials_per_world=trials_per_world):
        there = game.rng.random(trials_per_world * _CANDIDATES) < 0.5
        with game.protect({"people": {"id": np.flatnonzero(there)}}, presence_catalog(there.size)) as world:
            for trial in game.each_trial(trials):
                analyst = game.analyst(world)
                if trial == 0:
                    _ask_for_a_row(game, analyst)
                guess = _likeliest(game, analyst, first=(trial % trials_per_world) * _CANDIDATES)
                tally.add(bool(there[guess]), [known, *analyst.steps, *_named(guess, bool(there[guess]))])
    return tally.outcome(baseline=0.5, bound=game.bound(_bound))


def _ask_for_a_row(game: Game, analyst: Analyst) -> None:
    """Ask for a row. It is refused and costs nothing."""
    with suppress(NotAllowed):
        analyst.ask("SELECT id FROM people LIMIT 1", epsilon=game.budget.epsilon)


def _likeliest(game: Game, analyst: Analyst, *, first: int) -> int:
    """Return the likeliest of the candidates, which start with `first`."""
    chosen = f"WHERE id >= {first} AND id < {first + _CANDIDATES}"
    rows = analyst.ask(f"SELECT id, COUNT(*) AS n FROM people {chosen} GROUP BY id", epsilon=game.budget.epsilon)
    return int(largest(game, rows, key="id", value="n", among=range(first, first + _CANDIDATES)))


def _bound(epsilon: float, delta: float) -> float:
    """The bound for the membership of a chosen candidate: delta can fail for each candidate."""
    return success_bounds.membership(epsilon, min(1.0, _CANDIDATES * delta))


def _named(person: int, is_there: bool) -> list[Step]:
    return [
        Step("guess", f"person {person} is in the data"),
        Step("truth", f"person {person} is {'in' if is_there else 'not in'} the data"),
    ]


ATTACKS = (
    Attack(
        name="name-and-shame",
        title="Name and shame",
        wants="any person who is certainly in the data",
        sees="the output of a mechanism that is private in total variation",
        lesson=(
            "A delta that is small for each person is not small for all: with delta near 1/n and no epsilon, a "
            "mechanism may publish rows."
        ),
        citation="Toronto slides, Total Variation Distance Differential Privacy",
        releases={
            "random-row": "one row, chosen at random: total variation 1/n",
            "each-with-delta": "each row independently with probability delta = 1/n",
        },
        bound="membership, even prior",
        small=Size(256, 48),
        full=Size(256, 700),
        play=play,
        measure="people rightly named",
        options={"expected": 1.0},
    ),
)
