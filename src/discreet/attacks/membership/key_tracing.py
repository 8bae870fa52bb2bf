"""Tracing by keys: the data are keys of decoders, and queries are ciphertexts that each key decrypts its own way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.budget_use import ask_for_all, by_number
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.membership.accusations import RATE, accused

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_PRIME = 2**31 - 1
_HONEST = 199
"""So many users are known to keep their keys to themselves."""
_CATALOG = """
[tables.decoders]
privacy_unit = "slot"
columns.slot = {{ type = "integer", lower = 0, upper = {last} }}
columns.key = {{ type = "integer", lower = 0, upper = 2147483647 }}
[tables.ciphertexts]
public = true
"""


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Everybody has a key and a slot; a ciphertext has one masked bit for each slot, under a nonce of its own.

    The mask of a key under a nonce is whether their product modulo a prime is in the upper half. That is quick in numpy
    and can be said in SQL; it stands for any symmetric encryption, and nothing here tries to break it.
    """

    keys: Ints
    colluders: Ints
    """Slots, in order: theirs are the keys in the data."""

    @classmethod
    def draw(cls, rng: np.random.Generator, *, colluders: int) -> Self:
        """New keys; who colludes is a random choice among all slots."""
        users = colluders + _HONEST
        return cls(rng.integers(1, _PRIME, users), np.sort(rng.permutation(users)[:colluders]))

    @property
    def users(self) -> int:
        """How many there are in all."""
        return self.keys.size

    def masks(self, nonces: Ints) -> Bits:
        """A row for each nonce, a column for each slot."""
        return np.outer(nonces, self.keys) % _PRIME > _PRIME // 2

    def trace(self, nonces: Ints, last: Ints) -> Bits:
        """TrE: ciphertexts that say 1 to the slots below `last` and 0 to the others."""
        return (np.arange(self.users) < last[:, None]) ^ self.masks(nonces)

    def decrypt(self, nonces: Ints, ciphertexts: Bits) -> Bits:
        """What the colluders' decoders say: a row for each ciphertext, a column for each of them."""
        return (ciphertexts ^ self.masks(nonces))[:, self.colluders]


def play(game: Game) -> Outcome:
    """Each trial is a new set of keys: the score is the share of the colluders who are accused."""
    return _against_discreet(game) if game.is_discreet else _against_counts(game)


def _against_counts(game: Game) -> Outcome:
    noisy = game.against == "noisy-counts"
    repeats = int(game.options["repeats"]) if noisy else 1
    tally, by_rounding = Tally(), []
    for _ in game.each_trial():
        broadcast = Broadcast.draw(game.rng, colluders=game.people)
        told = np.empty((repeats, broadcast.users + 1))
        for repeat in range(repeats):  # the order of the queries does not matter to a release without a memory
            nonces = game.rng.integers(1, _PRIME, broadcast.users + 1)
            ciphertexts = broadcast.trace(nonces, np.arange(broadcast.users + 1))
            counts = broadcast.decrypt(nonces, ciphertexts).sum(axis=1)
            told[repeat] = counts + game.rng.normal(
                0, game.options["noise"] * game.people**0.5 if noisy else 0, counts.size
            )
        guilty = _accused(game, broadcast, np.diff(told.mean(axis=0)))
        by_rounding.append(_slides(broadcast, told / game.people))
        steps = [
            Step("known", f"the keys of all {broadcast.users} users, but not whose are in the pirate's decoder"),
            Step(
                "asked",
                f"how many keys decrypt a ciphertext to 1; it says 1 to the first i slots; all i, {repeats} times",
            ),
            Step("answered", ", ".join(f"{count:.1f}" for count in told[0, :12]) + ", …"),
            *_verdict(game, guilty),
        ]
        tally.add(guilty.mean(), steps)
    facts = {
        "one accused by the slides' rule, rightly": by_rounding.count("right") / game.trials,
        "one accused by the slides' rule, wrongly": by_rounding.count("wrong") / game.trials,
    }
    return tally.outcome(baseline=RATE, facts=facts)


def _slides(broadcast: Broadcast, shares: Floats) -> str:
    """The pirate's decoder only says 0 or 1, and is right where all its keys agree: accuse where it changes its mind.

    p_0 is 0 and p_n is 1, so some step is at least 1 / n; where nobody's key makes the difference, it is 0 but for
    luck.
    """
    says = (shares > 0.5).mean(axis=0)
    steps = np.diff(says)
    suspect = int(np.argmax(steps))
    if steps[suspect] < 1 / broadcast.users:
        return "nobody"
    return "right" if suspect in broadcast.colluders else "wrong"


def _against_discreet(game: Game) -> Outcome:
    """One ciphertext for each i, all in one query; and, for comparison, everybody's slot for the same price."""
    tally, alone = Tally(), []
    for _ in game.each_trial():
        broadcast = Broadcast.draw(game.rng, colluders=game.people)
        with game.protect(_tables(game, broadcast), _CATALOG.format(last=broadcast.users - 1)) as world:
            analyst = game.analyst(world)
            rows = ask_for_all(
                game,
                analyst,
                keys=["number"],
                measure=f"COUNT(*) FILTER (WHERE masked <> ((key * nonce) % {_PRIME} > {_PRIME // 2})) AS n",
                source="decoders JOIN ciphertexts ON slot = part",
                groups=broadcast.users + 1,
            )
            counts = by_number(rows, key="number", value="n", first=0, count=broadcast.users + 1)
            guilty = _accused(game, broadcast, np.diff(counts))
            alone.append(_accused(game, broadcast, _own_counts(game, game.analyst(world), broadcast)).mean())
        known = Step("known", f"the keys of all {broadcast.users} users, but not whose are in the pirate's decoder")
        tally.add(guilty.mean(), [known, *analyst.steps, *_verdict(game, guilty)])
    facts = {"accused by asking for everybody's slot instead": float(np.mean(alone))}
    return tally.outcome(baseline=RATE, bound=game.bound(partial(success_bounds.tpr_at, RATE)), facts=facts)


def _own_counts(game: Game, analyst: Analyst, broadcast: Broadcast) -> Floats:
    """Each slot is a group of its own, so that all cost as one: the most that can be had."""
    rows = analyst.ask("SELECT slot, COUNT(*) AS n FROM decoders GROUP BY slot", epsilon=game.budget.epsilon)
    return by_number(rows, key="slot", value="n", first=0, count=broadcast.users)


def _tables(game: Game, broadcast: Broadcast) -> dict[str, dict[str, Any]]:
    """The keys of the colluders; and, public, a row for each ciphertext and slot."""
    count = broadcast.users + 1
    nonces = game.rng.integers(1, _PRIME, count)
    ciphertexts = broadcast.trace(nonces, np.arange(count))
    return {
        "decoders": {"slot": broadcast.colluders, "key": broadcast.keys[broadcast.colluders]},
        "ciphertexts": {
            "number": np.repeat(np.arange(count), broadcast.users),
            "part": np.tile(np.arange(broadcast.users), count),
            "nonce": np.repeat(nonces, broadcast.users),
            "masked": ciphertexts.ravel(),
        },
    }


def _accused(game: Game, broadcast: Broadcast, steps: Floats) -> Bits:
    """Of the colluders. Slots were drawn by lot, so an honest user's step is as likely to be high as any other's."""
    honest = np.setdiff1d(np.arange(broadcast.users), broadcast.colluders)
    return accused(steps[broadcast.colluders], steps[honest], rng=game.rng)


def _verdict(game: Game, guilty: Bits) -> list[Step]:
    return [
        Step("guess", f"where the count steps up, that slot's key is in the decoder: {guilty.sum()} colluders accused"),
        Step("truth", f"there are {game.people}; of honest users, one in 100 is accused"),
    ]


ATTACKS = (
    Attack(
        name="tracing-keys",
        title="The pirate's decoder",
        wants="whose keys are in a pirate's decoder, with few false accusations",
        sees="for ciphertexts of its choice, how many of the keys decrypt them to 1",
        lesson=(
            "A mechanism that answers n³ counts well decrypts like a pirate, and is traced like one; so no quick one "
            "is private."
        ),
        citation="Sapienza slides, Simple Traitor Tracing and How to Trace; Chor, Fiat, Naor 1994; "
        "Dwork, Naor, Reingold, Rothblum, Vadhan 2009",
        releases={
            "exact-counts": "exact counts of the keys that decrypt to 1",
            "noisy-counts": "the same with Gaussian noise of 0.25·√n, for as many ciphertexts as one likes",
        },
        bound="true positives at 1 % false positives",
        small=Size(20, 3),
        full=Size(100, 8),
        play=play,
        measure="colluders accused, at 1 % of others",
        whole_runs=True,
        options={"noise": 0.25, "repeats": 400},
    ),
)
