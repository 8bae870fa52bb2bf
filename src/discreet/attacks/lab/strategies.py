"""What a sensible attacker does with one budget: spend it all on the query that tells the hypotheses apart best."""

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
    """One of so many equal shares, rounded down so that all of them fit."""
    return math.floor(epsilon / queries * 1e12) / 1e12


def guess_bit(game: Game, analyst: Analyst, person: int) -> bool:
    """Whether a person's secret is true, by one sum of +1 or -1.

    One person moves the sum by 1 when they come or go, which sets the noise, but by 2 when their secret changes: the
    most that one query can tell. It is "everybody" minus "everybody but you" in a single query.
    """
    told = analyst.number(own_sum(game, f"{game.scene.number} = {person}"), epsilon=game.budget.epsilon)
    return sign(game, told)


def own_sum(game: Game, where: str) -> str:
    """The query for +1 or -1 of whoever a condition names; of their rows one says it."""
    scene = game.scene
    said = "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 1) " if scene.max_rows > 1 else ""
    return f"SELECT {said}SUM(CASE WHEN {scene.secret} THEN 1 ELSE -1 END) AS s FROM {scene.table} WHERE {where}"


def guess_bits(game: Game, guess: Callable[[Game, Analyst, int], bool]) -> Outcome:
    """One person a trial, through an analyst's door; everybody in a world is somebody's target."""
    tally, scene = Tally(), game.scene
    for trials in game.each_world(serves=max(100, game.people)):
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


def everybodys_sums(game: Game, analyst: Analyst) -> npt.NDArray[np.float64]:
    """The noisy +1 or -1 of everybody in `people`, by id: each person is a group of their own, so all cost as one."""
    rows = analyst.ask(
        "SELECT id, SUM(CASE WHEN secret THEN 1 ELSE -1 END) AS s FROM people GROUP BY id",
        epsilon=game.budget.epsilon,
    )
    sums = {int(row["id"]): float(row["s"]) for row in rows}
    return np.array([sums[i] for i in range(game.people)])


def signs(game: Game, told: npt.NDArray[np.float64]) -> Bits:
    """Which are positive; coins where they are neither."""
    return np.where(told == 0, game.rng.random(told.size) < 0.5, told > 0)


def sign(game: Game, told: float) -> bool:
    """Positive or not; a coin where it is neither."""
    return bool(signs(game, np.array([told]))[0])


def largest(game: Game, rows: Sequence[Mapping[str, Any]], *, key: str, value: str, among: Sequence[Any]) -> Any:
    """Which of the candidates has the largest noisy count; a draw among equals."""
    counts = {row[key]: row[value] for row in rows}
    told = np.array([float(counts.get(candidate) or 0) for candidate in among])
    best = np.flatnonzero(told == told.max())
    return among[int(game.rng.choice(best))]
