"""Strategies of a good attacker: spend the whole budget on the query that distinguishes the hypotheses best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Game, Outcome, Tally
from discreet.attacks.lab.trial_steps import Step

Bits = npt.NDArray[np.bool_]


def share(epsilon: float, queries: int) -> float:
    """Return epsilon / queries, rounded down so that all shares fit into the budget."""
    return math.floor(epsilon / queries * 1e12) / 1e12


def guess_bit(game: Game, analyst: Analyst, person: int) -> bool:
    """Guess a person's secret from one sum of +1 or -1.

    Adding or removing the person changes the sum by 1, which determines the noise, but changing the secret changes it
    by 2: no single query reveals more. It combines "everyone" minus "everyone except one" in a single query.
    """
    observed = analyst.number(own_sum(game, f"{game.scene.number} = {person}"), epsilon=game.budget.epsilon)
    return sign(game, observed)


def own_sum(game: Game, where: str) -> str:
    """Return the query for the sum of +1 or -1 of the person selected by a condition, using one row per person."""
    scene = game.scene
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 1) " if scene.max_rows > 1 else ""
    return f"SELECT {options}SUM(CASE WHEN {scene.secret} THEN 1 ELSE -1 END) AS s FROM {scene.table} WHERE {where}"


def guess_bits(game: Game, guess: Callable[[Game, Analyst, int], bool]) -> Outcome:
    """Run trials against Discreet with one target each; each person in a world is the target of some trial."""
    tally, scene = Tally(), game.scene
    for trials in game.each_world(trials_per_world=max(100, game.people)):
        secrets: Bits = game.rng.random(game.people) < 0.5
        with game.protect(*scene.world(secrets, game.rng)) as world:
            for trial in game.each_trial(trials):
                person = trial % game.people
                analyst = game.analyst(world)
                guessed = guess(game, analyst, scene.first + person)
                steps = [
                    Step("known", f"all {game.people:,} ids, and that person {scene.first + person} is among them"),
                    *analyst.steps,
                    Step("guess", f"{_claim(game, scene.first + person)}: {guessed}"),
                    Step("truth", str(bool(secrets[person]))),
                ]
                tally.add(guessed == secrets[person], steps)
    return tally.outcome(baseline=0.5, bound=game.bound(scene.bound))


def _claim(game: Game, person: int) -> str:
    return f"the secret of person {person}" if game.scene.is_the_labs else f"{game.scene.secret} holds of {person}"


def ask_sum_per_person(game: Game, analyst: Analyst) -> npt.NDArray[np.float64]:
    """Return the noisy +1 or -1 of each person by id. Each person is a separate group, so all cost as much as one."""
    rows = analyst.ask(
        "SELECT id, SUM(CASE WHEN secret THEN 1 ELSE -1 END) AS s FROM people GROUP BY id",
        epsilon=game.budget.epsilon,
    )
    sums = {int(row["id"]): float(row["s"]) for row in rows}
    return np.array([sums[i] for i in range(game.people)])


def signs(game: Game, observed: npt.NDArray[np.float64]) -> Bits:
    """Return which values are positive, with a coin flip for zeros."""
    return np.where(observed == 0, game.rng.random(observed.size) < 0.5, observed > 0)


def sign(game: Game, observed: float) -> bool:
    """Return whether a value is positive, with a coin flip for zero."""
    return bool(signs(game, np.array([observed]))[0])


def largest(game: Game, rows: Sequence[Mapping[str, Any]], *, key: str, value: str, among: Sequence[Any]) -> Any:
    """Return the candidate with the largest noisy count; ties are broken at random."""
    counts = {row[key]: row[value] for row in rows}
    observed = np.array([float(counts.get(candidate) or 0) for candidate in among])
    best = np.flatnonzero(observed == observed.max())
    return among[int(game.rng.choice(best))]
