"""Tracing by keys: the data are keys of decoders, and queries are ciphertexts that each key decrypts differently."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.budget_use import ask_groups, values_in_order
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.membership.accusations import RATE, accuse

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_PRIME = 2**31 - 1
_HONEST = 199
"""The number of users known not to share their keys."""
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
    """Each user has a key and a slot. A ciphertext has a nonce and one masked bit for each slot.

    The mask of a key under a nonce is whether their product modulo a prime is in the upper half. This is fast in numpy
    and possible in SQL. It represents any symmetric encryption; the attack does not try to break it.
    """

    keys: Ints
    colluders: Ints
    """Sorted slots of the users whose keys are in the data."""

    @classmethod
    def draw(cls, rng: np.random.Generator, *, colluders: int) -> Self:
        """Draw keys, and a random set of colluders."""
        users = colluders + _HONEST
        return cls(rng.integers(1, _PRIME, users), np.sort(rng.permutation(users)[:colluders]))

    @property
    def users(self) -> int:
        """The number of users."""
        return self.keys.size

    def masks(self, nonces: Ints) -> Bits:
        """Return the masks: one row per nonce, one column per slot."""
        return np.outer(nonces, self.keys) % _PRIME > _PRIME // 2

    def trace(self, nonces: Ints, last: Ints) -> Bits:
        """Return ciphertexts (TrE) that decrypt to 1 for the slots below `last`, and to 0 for the others."""
        return (np.arange(self.users) < last[:, None]) ^ self.masks(nonces)

    def decrypt(self, nonces: Ints, ciphertexts: Bits) -> Bits:
        """Return the colluders' decrypted bits: one row per ciphertext, one column per colluder."""
        return (ciphertexts ^ self.masks(nonces))[:, self.colluders]


def play(game: Game) -> Outcome:
    """Each trial is a new set of keys. The score is the share of the colluders who are accused."""
    return _against_discreet(game) if game.is_discreet else _against_counts(game)


def _against_counts(game: Game) -> Outcome:
    noisy = game.against == "noisy-counts"
    repeats = int(game.options["repeats"]) if noisy else 1
    tally, by_rounding = Tally(), []
    for _ in game.each_trial():
        broadcast = Broadcast.draw(game.rng, colluders=game.people)
        observed = np.empty((repeats, broadcast.users + 1))
        for repeat in range(repeats):  # the release is stateless, so the order of queries does not matter
            nonces = game.rng.integers(1, _PRIME, broadcast.users + 1)
            ciphertexts = broadcast.trace(nonces, np.arange(broadcast.users + 1))
            counts = broadcast.decrypt(nonces, ciphertexts).sum(axis=1)
            observed[repeat] = counts + game.rng.normal(
                0, game.options["noise"] * game.people**0.5 if noisy else 0, counts.size
            )
        guilty = _accuse(game, broadcast, np.diff(observed.mean(axis=0)))
        by_rounding.append(_slides(broadcast, observed / game.people))
        steps = [
            Step("known", f"the keys of all {broadcast.users} users, but not whose are in the pirate's decoder"),
            Step(
                "asked",
                f"how many keys decrypt to 1 a ciphertext of 1 for the first i slots; all i, {repeats} times",
            ),
            Step("answered", ", ".join(f"{count:.1f}" for count in observed[0, :12]) + ", …"),
            *_verdict(game, guilty),
        ]
        tally.add(guilty.mean(), steps)
    details = {
        "one accused by the slides' rule, rightly": by_rounding.count("right") / game.trials,
        "one accused by the slides' rule, wrongly": by_rounding.count("wrong") / game.trials,
    }
    return tally.outcome(baseline=RATE, details=details)


def _slides(broadcast: Broadcast, shares: Floats) -> str:
    """Apply the slides' rule: the pirate's decoder outputs 0 or 1, so accuse the slot at which its output changes.

    p_0 is 0 and p_n is 1, so some step is at least 1 / n. At slots whose key is not in the decoder, the step is 0 up to
    chance.
    """
    outputs = (shares > 0.5).mean(axis=0)
    steps = np.diff(outputs)
    suspect = int(np.argmax(steps))
    if steps[suspect] < 1 / broadcast.users:
        return "none"
    return "right" if suspect in broadcast.colluders else "wrong"


def _against_discreet(game: Game) -> Outcome:
    """Query one ciphertext for each i, all in one query; and, for comparison, each slot for the same budget."""
    tally, alone = Tally(), []
    for _ in game.each_trial():
        broadcast = Broadcast.draw(game.rng, colluders=game.people)
        with game.protect(_tables(game, broadcast), _CATALOG.format(last=broadcast.users - 1)) as world:
            analyst = game.analyst(world)
            rows = ask_groups(
                game,
                analyst,
                keys=["number"],
                measure=f"COUNT(*) FILTER (WHERE masked <> ((key * nonce) % {_PRIME} > {_PRIME // 2})) AS n",
                source="decoders JOIN ciphertexts ON slot = part",
                groups=broadcast.users + 1,
            )
            counts = values_in_order(rows, key="number", value="n", first=0, count=broadcast.users + 1)
            guilty = _accuse(game, broadcast, np.diff(counts))
            alone.append(_accuse(game, broadcast, _own_counts(game, game.analyst(world), broadcast)).mean())
        known = Step("known", f"the keys of all {broadcast.users} users, but not whose are in the pirate's decoder")
        tally.add(guilty.mean(), [known, *analyst.steps, *_verdict(game, guilty)])
    details = {"accused by querying each slot instead": float(np.mean(alone))}
    return tally.outcome(baseline=RATE, bound=game.bound(partial(success_bounds.tpr_at, RATE)), details=details)


def _own_counts(game: Game, analyst: Analyst, broadcast: Broadcast) -> Floats:
    """Query the count of each slot. Slots are separate groups, so all cost as much as one: the best possible query."""
    rows = analyst.ask("SELECT slot, COUNT(*) AS n FROM decoders GROUP BY slot", epsilon=game.budget.epsilon)
    return values_in_order(rows, key="slot", value="n", first=0, count=broadcast.users)


def _tables(game: Game, broadcast: Broadcast) -> dict[str, dict[str, Any]]:
    """Return the protected keys of the colluders, and the public table with one row per ciphertext and slot."""
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


def _accuse(game: Game, broadcast: Broadcast, steps: Floats) -> Bits:
    """Return which colluders are accused. Slots are random, so all honest users' steps have the same distribution."""
    honest = np.setdiff1d(np.arange(broadcast.users), broadcast.colluders)
    return accuse(steps[broadcast.colluders], steps[honest], rng=game.rng)


def _verdict(game: Game, guilty: Bits) -> list[Step]:
    return [
        Step("guess", f"slots at which the count increases are in the decoder: {guilty.sum()} colluders accused"),
        Step("truth", f"there are {game.people} colluders; of honest users, one in 100 is accused"),
    ]


ATTACKS = (
    Attack(
        name="tracing-keys",
        title="The pirate's decoder",
        wants="whose keys are in a pirate's decoder, with few false accusations",
        sees="for ciphertexts of its choice, how many of the keys decrypt them to 1",
        lesson=(
            "A mechanism that answers n³ counts accurately can decrypt like a pirate's decoder, so it is traced like "
            "one: no efficient mechanism is both accurate and private here."
        ),
        citation="Sapienza slides, Simple Traitor Tracing and How to Trace; Chor, Fiat, Naor 1994; "
        "Dwork, Naor, Reingold, Rothblum, Vadhan 2009",
        releases={
            "exact-counts": "exact counts of the keys that decrypt to 1",
            "noisy-counts": "the same with Gaussian noise of 0.25·√n, for any number of ciphertexts",
        },
        bound="true positives at 1 % false positives",
        small=Size(20, 3),
        full=Size(100, 8),
        play=play,
        measure="colluders accused, at 1 % false positives",
        whole_runs=True,
        options={"noise": 0.25, "repeats": 400},
    ),
)
