"""Predictable noise: a generator that can be guessed, or run backwards, gives its noise away."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.attacks.implementation.mersenne_twister import STATE_WORDS, twin
from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.scene import people_catalog, people_table
from discreet.attacks.lab.strategies import everybodys_sums, signs
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.seeded import OneTwister, TimeSeeded, seeded_noise

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.bool_]

_THEN = 1_800_000_000
"""The attacker knows the hour: the second is one of those that follow this one."""
_EXPLAINS = 0.9
"""A seed that explains so many of the answers is the seed."""
_SERVES = 5
"""Runs in one world, each with noise of its own."""


def play(game: Game) -> Outcome:
    """Find the generator, take off its noise, and read the counts as they were."""
    if game.is_discreet:
        return _against_discreet(game)
    return _against_a_time_seed(game) if game.against == "seeded" else _against_one_twister(game)


def _against_a_time_seed(game: Game) -> Outcome:
    """Three noisy counts: only the right seed's noise leaves three whole numbers."""
    scale = 3 / game.budget.epsilon
    table = _noise_by_second(game, scale=scale, size=3)
    tally, found = Tally(), 0
    for _ in game.each_trial():
        secrets, person = _world(game)
        second = int(game.rng.integers(table.shape[0]))
        told = TimeSeeded(started=_THEN + second, scale=scale).counts(_three_counts(secrets, person))
        exact, rest = _whole(told - table)
        best = int(np.argmin(rest.max(axis=1)))
        found += best == second
        everybody, all_but_one, _ = exact[best]
        steps = [
            Step("known", f"the program was started in one of {table.shape[0]:,} seconds, and seeds with the second"),
            Step("answered", ", ".join(f"{count:.6f}" for count in told)),
            Step("note", f"the noise of second {best} leaves {everybody:.0f}, {all_but_one:.0f}, {exact[best][2]:.0f}"),
        ]
        _tell(tally, bool(everybody - all_but_one == 1), secrets, person, steps)
    return tally.outcome(baseline=0.5, facts={"seeds found": found / game.trials, "seeds tried": table.shape[0]})


def _against_one_twister(game: Game) -> Outcome:
    """Tickets show the words, the words show the state, and the state shows the noise that comes next."""
    scale = 2 / game.budget.epsilon
    tally, predicted = Tally(), 0
    for _ in game.each_trial():
        secrets, person = _world(game)
        service = OneTwister(seed=int(game.rng.integers(2**32)), scale=scale)
        tickets = service.tickets(STATE_WORDS)
        told = service.counts(_three_counts(secrets, person)[:2])
        noise = twin(tickets).laplace(0.0, scale, 2)
        (everybody, all_but_one), rest = _whole(told - noise)
        predicted += bool(rest.max() < 1e-6)
        steps = [
            Step("asked", f"{STATE_WORDS} tickets: {tickets[0]}, {tickets[1]}, {tickets[2]}, …"),
            Step("answered", ", ".join(f"{count:.6f}" for count in told)),
            Step(
                "note", f"predicted noise: {noise[0]:.6f}, {noise[1]:.6f}; it leaves {everybody:.0f}, {all_but_one:.0f}"
            ),
        ]
        _tell(tally, bool(everybody - all_but_one == 1), secrets, person, steps)
    return tally.outcome(baseline=0.5, facts={"noise predicted": predicted / game.trials})


def _against_discreet(game: Game) -> Outcome:
    """Everybody's bit at once, each behind noise of their own, so that a seed would have to explain all of them.

    Its noise is taken off where one does; where none does, the sign of an answer is the best guess. No answer shows a
    word of the generator, so there is none to run backwards. One run counts as one trial.
    """
    seeds = np.rint(_noise_by_second(game, scale=1 / game.budget.epsilon, size=game.people))
    tally, best_shares = Tally(), []
    for trials in game.each_world(serves=_SERVES):
        secrets: Bits = game.rng.random(game.people) < 0.5
        with game.protect({"people": people_table(secrets)}, people_catalog(game.people)) as world:
            for _ in game.each_trial(trials):
                analyst = game.analyst(world)
                told = everybodys_sums(game, analyst)
                explained = np.mean(np.abs(told - seeds) == 1, axis=1)
                best = int(np.argmax(explained))
                best_shares.append(float(explained[best]))
                guesses = signs(game, told - seeds[best] if explained[best] >= _EXPLAINS else told)
                right = float(np.mean(guesses == secrets))
                tally.add(right, [*analyst.steps, *_explained(seeds, float(explained[best]), right)])
    facts = {"answers that the best seed explains": float(np.mean(best_shares)), "seeds tried": seeds.shape[0]}
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.bit), facts=facts)


def _explained(seeds: Floats, most: float, right: float) -> list[Step]:
    tried, people = seeds.shape
    return [
        Step("note", f"of {tried:,} seeds the best explains {100 * most:.0f} % of the answers"),
        Step("guess", f"the secrets of {people:,} people"),
        Step("truth", f"{100 * right:.1f} % of them right"),
    ]


def _noise_by_second(game: Game, *, scale: float, size: int) -> Floats:
    """One row for each seed that may have been."""
    return np.array(
        [seeded_noise(_THEN + second, scale=scale, size=size) for second in range(int(game.options["seconds"]))]
    )


def _world(game: Game) -> tuple[Bits, int]:
    return game.rng.random(game.people) < 0.5, int(game.rng.integers(game.people))


def _three_counts(secrets: Bits, person: int) -> Floats:
    """How many have the secret; how many but for one person; how many have it not."""
    return np.array([secrets.sum(), np.delete(secrets, person).sum(), (~secrets).sum()], dtype=np.float64)


def _whole(numbers: Floats) -> tuple[Floats, Floats]:
    """The nearest whole numbers, and how far they are."""
    nearest = np.rint(numbers)
    return nearest, np.abs(numbers - nearest)


def _tell(tally: Tally, guess: bool, secrets: Bits, person: int, steps: list[Step]) -> None:
    truth = bool(secrets[person])
    ends = [Step("guess", f"person {person} has the secret: {guess}"), Step("truth", str(truth))]
    tally.add(guess == truth, [*steps, *ends])


ATTACKS = (
    Attack(
        name="prng",
        title="Noise that can be foretold",
        wants="one person's bit, behind noise from a pseudo-random generator",
        sees="noisy counts, and whatever else the same generator made",
        lesson=(
            "Noise must come from a cryptographic generator: one made for simulations is a secret with a public recipe."
        ),
        citation=(
            "Matsumoto, Nishimura 1998, for the generator; Garfinkel, Leclerc 2020 (arXiv:2009.03777), Randomness "
            "concerns when deploying differential privacy"
        ),
        releases={
            "seeded": (
                "three counts with Laplace noise from numpy, seeded with the second in which the program was started"
            ),
            "mersenne": "counts with Laplace noise, from the generator that also numbers the tickets of a service",
        },
        bound="a person's bit",
        small=Size(100, 12),
        full=Size(256, 40),
        play=play,
        options={"seconds": 3600},
        priced=frozenset({"seeded", "mersenne"}),
    ),
)
