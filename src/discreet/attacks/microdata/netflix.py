"""Scoreboard-RH: identify a subscriber from a few ratings, some of them wrong, with approximate dates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.strategies import largest
from discreet.attacks.lab.trial_steps import Step
from discreet.samples.ratings import DAYS, MOST_RATINGS, Ratings, ratings

_DATE_ERROR = 14
_STARS_SCALE, _DAYS_SCALE, _ECCENTRICITY = 1.5, 30.0, 1.5
_SECRET_FILMS = tuple(f"secret {letter}" for letter in "ABCDEFGHIJKLMNOP")

_CATALOG = f"""
[tables.ratings]
privacy_unit = "user_id"
max_rows = {MOST_RATINGS}
columns.user_id = {{ type = "integer" }}
columns.film = {{ type = "integer" }}
columns.stars = {{ type = "integer", lower = 1, upper = 5 }}
columns.day = {{ type = "integer", lower = 0, upper = {DAYS} }}
[tables.last_night]
privacy_unit = "user_id"
columns.user_id = {{ type = "integer" }}
columns.film = {{ type = "text", values = {list(_SECRET_FILMS)!r} }}
"""


@dataclass(frozen=True, slots=True)
class Overheard:
    """What a colleague said about films at the coffee machine: film, stars, and approximate day."""

    films: tuple[int, ...]
    stars: tuple[int, ...]
    days: tuple[int, ...]

    def __str__(self) -> str:
        return "; ".join(
            f"film {f}: {s} stars, day {d} or so" for f, s, d in zip(self.films, self.stars, self.days, strict=True)
        )


def play(game: Game) -> Outcome:
    """Each trial is one subscriber of a generated world."""
    films = max(500, game.people // 10)
    world = ratings(users=game.people, films=films, seed=int(game.rng.integers(2**32)))
    return _against_discreet(game, world) if game.is_discreet else _against_the_prize(game, world)


def _against_the_prize(game: Game, world: Ratings) -> Outcome:
    by_user = world.by_user()
    tally = Tally()
    for _ in game.each_trial():
        target = int(game.rng.integers(game.people))
        overheard = _overhear(game, world, by_user, target)
        scores = scoreboard(world, overheard, game.people)
        second, best = np.sort(scores)[-2:]
        stands_out = (best - second) / scores.std()
        guess = int(scores.argmax()) if stands_out > _ECCENTRICITY else None
        steps = [
            Step("known", f"{overheard}; {int(game.options['wrong'])} of these may be wrong"),
            Step("answered", f"{world.users.size:,} ratings of {game.people:,} subscribers without names"),
            Step(
                "note",
                f"the best record stands out by {stands_out:.1f} standard deviations ({_ECCENTRICITY} are enough)",
            ),
            Step("guess", f"record {guess}"),
            Step("truth", f"record {target}"),
        ]
        tally.add(guess == target, steps)
    return tally.outcome(baseline=1 / game.people)


def scoreboard(world: Ratings, overheard: Overheard, users: int) -> npt.NDArray[np.float64]:
    """Return how well each record fits: by similar stars and dates, with more weight for rare films.

    Citation: Narayanan, Shmatikov 2008, section 5 (arXiv:cs/0610105).
    """
    scores = np.zeros(users)
    for film, stars, day in zip(overheard.films, overheard.stars, overheard.days, strict=True):
        rows = world.of_film(film)
        raters = world.users[rows]
        fit = np.exp(-np.abs(world.stars[rows] - stars) / _STARS_SCALE)
        fit += np.exp(-np.abs(world.days[rows] - day) / _DAYS_SCALE)
        scores[raters] += fit / np.log(2 + raters.size)
    return scores


def _overhear(
    game: Game, world: Ratings, by_user: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]], target: int
) -> Overheard:
    order, starts = by_user
    rng, known, wrong = game.rng, int(game.options["known"]), int(game.options["wrong"])
    rows = rng.permutation(order[starts[target] : starts[target + 1]])[:known]
    films, stars = world.films[rows].copy(), world.stars[rows].copy()
    days = world.days[rows] + rng.integers(-_DATE_ERROR, _DATE_ERROR + 1, rows.size)
    films[:wrong] = rng.integers(0, world.starts.size - 1, min(wrong, rows.size))
    stars[:wrong] = rng.integers(1, 6, min(wrong, rows.size))
    days[:wrong] = rng.integers(0, DAYS, min(wrong, rows.size))
    return Overheard(tuple(films.tolist()), tuple(stars.tolist()), tuple(days.tolist()))


def _against_discreet(game: Game, world: Ratings) -> Outcome:
    """Query last night's film of the subscribers who fit enough of the ratings, with each film as a group."""
    secrets = game.rng.integers(0, len(_SECRET_FILMS), game.people)
    tables = {
        "ratings": {"user_id": world.users, "film": world.films, "stars": world.stars, "day": world.days},
        "last_night": {"user_id": np.arange(game.people), "film": np.array(_SECRET_FILMS)[secrets]},
    }
    by_user = world.by_user()
    enough = int(game.options["known"] - game.options["wrong"])
    tally = Tally()
    with game.protect(tables, _CATALOG) as protected:
        for _ in game.each_trial():
            target = int(game.rng.integers(game.people))
            overheard = _overhear(game, world, by_user, target)
            analyst = game.analyst(protected)
            rows = analyst.ask(_query(overheard, enough), epsilon=game.budget.epsilon)
            guess = largest(game, rows, key="film", value="n", among=_SECRET_FILMS)
            truth = _SECRET_FILMS[secrets[target]]
            steps = [
                Step("known", f"{overheard}; {int(game.options['wrong'])} of these may be wrong"),
                *analyst.steps,
                Step("guess", f"last night it was {guess}"),
                Step("truth", truth),
            ]
            tally.add(guess == truth, steps)
    row = partial(success_bounds.linkage, len(_SECRET_FILMS))
    return tally.outcome(baseline=1 / len(_SECRET_FILMS), bound=game.bound(row))


def _query(overheard: Overheard, enough: int) -> str:
    near = " OR ".join(
        f"(film = {film} AND stars = {stars} AND day BETWEEN {day - _DATE_ERROR} AND {day + _DATE_ERROR})"
        for film, stars, day in zip(overheard.films, overheard.stars, overheard.days, strict=True)
    )
    fits = f"SELECT user_id, COUNT(*) AS hits FROM ratings WHERE {near} GROUP BY user_id"
    return (
        f"SELECT l.film, COUNT(*) AS n FROM last_night l JOIN ({fits}) f ON l.user_id = f.user_id "
        f"WHERE f.hits >= {enough} GROUP BY l.film"
    )


ATTACKS = (
    Attack(
        name="netflix",
        title="Eight films at the coffee machine",
        wants="the record of one subscriber, with everything they ever watched",
        sees="ratings without names, and eight of one person's ratings: two are wrong, dates are within 14 days",
        lesson="Taste identifies people. No column of such a table is harmless, since all together are identifying.",
        citation="NYU and Sapienza slides, The Netflix prize; Narayanan, Shmatikov 2008 (arXiv:cs/0610105)",
        releases={"ratings": "films, stars and dates of every subscriber, without names"},
        bound="linkage among equally likely films",
        small=Size(1_500, 40),
        full=Size(50_000, 700),
        play=play,
        measure="subscribers found",
        options={"known": 8, "wrong": 2},
    ),
)
