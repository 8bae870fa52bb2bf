"""Subscribers who rate films: a few films have very many ratings and most have few, as in the Netflix Prize."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

DAYS = 2_200
MOST_RATINGS = 250


@dataclass(frozen=True, slots=True)
class Ratings:
    """All ratings, sorted by film; those of film f are the rows from starts[f] to starts[f + 1]."""

    users: Ints
    films: Ints
    stars: Ints
    days: Ints
    starts: Ints

    def of_film(self, film: int) -> slice:
        """Return the rows of a film."""
        return slice(int(self.starts[film]), int(self.starts[film + 1]))

    def by_user(self) -> tuple[Ints, Ints]:
        """Return the rows sorted by user, and the start of each user's rows."""
        order = np.argsort(self.users, kind="stable")
        return order, np.searchsorted(self.users[order], np.arange(int(self.users.max()) + 2))


def ratings(*, users: int = 50_000, films: int = 5_000, seed: int = 0) -> Ratings:
    """Generate ratings; the same seed gives the same ratings. Each user has 20 to 250 ratings, typically 50."""
    rng = np.random.default_rng(seed)
    counts = np.clip(rng.lognormal(np.log(50), 0.7, users), 20, MOST_RATINGS).astype(np.int64)
    popularity = 1 / (np.arange(films) + 10) ** 0.9
    owner = np.repeat(np.arange(users), counts)
    seen = np.searchsorted(np.cumsum(popularity / popularity.sum()), rng.random(owner.size)).clip(0, films - 1)
    pairs = np.unique(seen * users + owner)  # a film is rated once; sorted by film
    film, user = pairs // users, pairs % users
    quality, mood = rng.normal(3.4, 0.6, films), rng.normal(0, 0.4, users)
    stars = np.clip(np.round(quality[film] + mood[user] + rng.normal(0, 0.8, pairs.size)), 1, 5).astype(np.int64)
    joined = rng.integers(0, DAYS - 200, users)
    days = joined[user] + (rng.random(pairs.size) * (DAYS - joined[user])).astype(np.int64)
    return Ratings(user, film, stars, days, np.searchsorted(film, np.arange(films + 1)))
