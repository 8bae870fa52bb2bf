"""Dictionary attack: hash every possible identifier, and look the hashes up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from itertools import product
from string import ascii_uppercase, digits

import numpy as np

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.strategies import largest
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.deidentified import md5_of

_FORMATS = ("9A99", "AA999", "AAA999")
_LARGE_CITY = 5_000
"""A smaller city has no medallions with three letters."""


def play(game: Game) -> Outcome:
    """Each trial is one trip whose taxi is guessed."""
    formats = _FORMATS if game.people >= _LARGE_CITY else _FORMATS[:2]
    return _against_discreet(game, formats) if game.is_discreet else _against_hashes(game, formats)


def _against_hashes(game: Game, formats: tuple[str, ...]) -> Outcome:
    taxis = _some_medallions(game, formats, game.people)
    released = md5_of(taxis)
    reverse = _reversed(game, set(released), formats)
    possible = sum(_size(form) for form in formats)
    tally = Tally()
    for _ in game.each_trial():
        row = int(game.rng.integers(len(released)))
        guess = reverse.get(released[row])
        steps = [
            Step("known", f"that medallions look like {', '.join(formats)}: {possible:,} are possible"),
            Step("answered", f"a trip of taxi {released[row].hex().upper()}"),
            Step("guess", f"it is taxi {guess}"),
            Step("truth", taxis[row]),
        ]
        tally.add(guess == taxis[row], steps)
    return tally.outcome(baseline=1 / possible, details={"medallions hashed": possible})


def _reversed(game: Game, secret_in_words: set[bytes], formats: tuple[str, ...]) -> dict[bytes, str]:
    """Return every possible medallion whose hash is in the release."""
    reversed_hashes, md5 = {}, partial(hashlib.md5, usedforsecurity=False)
    possible, done = sum(_size(form) for form in formats), 0
    for form in formats:
        for start, block in _blocks(form):
            for rest in block:
                digest = md5((start + rest).encode()).digest()
                if digest in secret_in_words:
                    reversed_hashes[digest] = start + rest
            done += len(block)
            game.report(done / possible)
    return reversed_hashes


def _blocks(form: str) -> Iterator[tuple[str, list[str]]]:
    """Yield all medallions of a format: each beginning, with all endings."""
    alphabets = [digits if sign == "9" else ascii_uppercase for sign in form]
    endings = ["".join(signs) for signs in product(*alphabets[-3:])]
    for signs in product(*alphabets[:-3]):
        yield "".join(signs), endings


def _size(form: str) -> int:
    return int(np.prod([10 if sign == "9" else 26 for sign in form]))


def _some_medallions(game: Game, formats: tuple[str, ...], count: int) -> list[str]:
    """Draw distinct medallions of all formats."""
    found: dict[str, None] = {}
    while len(found) < count:
        form = formats[len(found) % len(formats)]
        signs = [digits if sign == "9" else ascii_uppercase for sign in form]
        found["".join(alphabet[int(game.rng.integers(len(alphabet)))] for alphabet in signs)] = None
    return list(found)


def _against_discreet(game: Game, formats: tuple[str, ...]) -> Outcome:
    """A photograph shows a person who gets into one of a few taxis. All taxis are counted in one query."""
    suspects = sorted(_some_medallions(game, formats, int(game.options["candidates"])))
    taken = game.rng.integers(0, len(suspects), game.trials)
    table = {
        "rider": np.arange(game.trials),
        "medallion": np.array(suspects)[taken],
        "minute": game.rng.permutation(game.trials),
    }
    catalog = (
        '[tables.trips]\nprivacy_unit = "rider"\ncolumns.rider = { type = "integer" }\n'
        f'columns.medallion = {{ type = "text", values = {suspects!r} }}\ncolumns.minute = {{ type = "integer" }}\n'
    )
    tally = Tally()
    with game.protect({"trips": table}, catalog) as world:
        for trial in game.each_trial():
            analyst, minute = game.analyst(world), int(table["minute"][trial])
            rows = analyst.ask(
                f"SELECT medallion, COUNT(*) AS n FROM trips WHERE minute = {minute} GROUP BY medallion",
                epsilon=game.budget.epsilon,
            )
            guess = largest(game, rows, key="medallion", value="n", among=suspects)
            steps = [
                Step("known", f"that a person got into one of {len(suspects)} taxis in minute {minute}"),
                *analyst.steps,
                Step("guess", f"it is taxi {guess}"),
                Step("truth", suspects[taken[trial]]),
            ]
            tally.add(guess == suspects[taken[trial]], steps)
    return tally.outcome(baseline=1 / len(suspects), bound=game.bound(partial(success_bounds.linkage, len(suspects))))


ATTACKS = (
    Attack(
        name="dictionary",
        title="New York's taxis",
        wants="the taxi of a trip: it reveals a driver's income, or where a person in a photograph went",
        sees="trips with the MD5 of the taxi's medallion",
        lesson="A hash does not hide values that can be listed: hashing 18 million medallions takes half a minute.",
        citation="Sapienza slides, NYC Taxicab Data; Pandurangan 2014",
        releases={"md5": "trips with the MD5 of the medallion instead of the medallion"},
        bound="linkage among equally likely taxis",
        small=Size(1_000, 40),
        full=Size(13_500, 700),
        play=play,
        measure="taxis named",
        options={"candidates": 16},
    ),
)
