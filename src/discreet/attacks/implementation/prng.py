"""Predictable noise: if a generator can be guessed or inverted, its noise can be removed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.attacks.implementation.mersenne_twister import STATE_WORDS, clone_generator
from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.scene import people_catalog, people_table
from discreet.attacks.lab.strategies import ask_sum_per_person, signs
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.seeded import OneTwister, TimeSeeded, seeded_noise

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.bool_]

_START = 1_800_000_000
"""Start of the period in which the program was started; the attacker knows the period."""
_EXPLAINS = 0.9
"""A seed that explains this share of the answers is taken as the right one."""
_TRIALS_PER_WORLD = 5
"""Trials in one world, each with its own noise."""


def play(game: Game) -> Outcome:
    """Find the state of the generator, subtract its noise, and read the exact counts."""
    if game.is_discreet:
        return _against_discreet(game)
    return _against_a_time_seed(game) if game.against == "seeded" else _against_one_twister(game)


def _against_a_time_seed(game: Game) -> Outcome:
    """Try all seeds on three noisy counts: only the right seed's noise leaves three whole numbers."""
    scale = 3 / game.budget.epsilon
    table = _noise_by_second(game, scale=scale, size=3)
    tally, found = Tally(), 0
    for _ in game.each_trial():
        secrets, person = _world(game)
        second = int(game.rng.integers(table.shape[0]))
        observed = TimeSeeded(started=_START + second, scale=scale).counts(_three_counts(secrets, person))
        exact, rest = _whole(observed - table)
        best = int(np.argmin(rest.max(axis=1)))
        found += best == second
        everyone, all_but_one, _ = exact[best]
        steps = [
            Step("known", f"the program was started in one of {table.shape[0]:,} seconds, and seeds with the second"),
            Step("answered", ", ".join(f"{count:.6f}" for count in observed)),
            Step("note", f"the noise of second {best} leaves {everyone:.0f}, {all_but_one:.0f}, {exact[best][2]:.0f}"),
        ]
        _add_guess(tally, bool(everyone - all_but_one == 1), secrets, person, steps)
    return tally.outcome(baseline=0.5, details={"seeds found": found / game.trials, "seeds tried": table.shape[0]})


def _against_one_twister(game: Game) -> Outcome:
    """Compute the generator's state from ticket numbers, and with it the next noise."""
    scale = 2 / game.budget.epsilon
    tally, predicted = Tally(), 0
    for _ in game.each_trial():
        secrets, person = _world(game)
        service = OneTwister(seed=int(game.rng.integers(2**32)), scale=scale)
        tickets = service.tickets(STATE_WORDS)
        observed = service.counts(_three_counts(secrets, person)[:2])
        noise = clone_generator(tickets).laplace(0.0, scale, 2)
        (everyone, all_but_one), rest = _whole(observed - noise)
        predicted += bool(rest.max() < 1e-6)
        steps = [
            Step("asked", f"{STATE_WORDS} tickets: {tickets[0]}, {tickets[1]}, {tickets[2]}, …"),
            Step("answered", ", ".join(f"{count:.6f}" for count in observed)),
            Step(
                "note", f"predicted noise: {noise[0]:.6f}, {noise[1]:.6f}; it leaves {everyone:.0f}, {all_but_one:.0f}"
            ),
        ]
        _add_guess(tally, bool(everyone - all_but_one == 1), secrets, person, steps)
    return tally.outcome(baseline=0.5, details={"noise predicted": predicted / game.trials})


def _against_discreet(game: Game) -> Outcome:
    """Query the bits of all people at once, each with its own noise, and search for a seed that explains all noise.

    If there is one, its noise is subtracted; otherwise the sign of an answer is the best guess. Answers do not show
    words of the generator, so it cannot be inverted. All bits together are one trial.
    """
    seeds = np.rint(_noise_by_second(game, scale=1 / game.budget.epsilon, size=game.people))
    tally, best_shares = Tally(), []
    for trials in game.each_world(trials_per_world=_TRIALS_PER_WORLD):
        secrets: Bits = game.rng.random(game.people) < 0.5
        with game.protect({"people": people_table(secrets)}, people_catalog(game.people)) as world:
            for _ in game.each_trial(trials):
                analyst = game.analyst(world)
                observed = ask_sum_per_person(game, analyst)
                explained = np.mean(np.abs(observed - seeds) == 1, axis=1)
                best = int(np.argmax(explained))
                best_shares.append(float(explained[best]))
                guesses = signs(game, observed - seeds[best] if explained[best] >= _EXPLAINS else observed)
                right = float(np.mean(guesses == secrets))
                tally.add(right, [*analyst.steps, *_explanation(seeds, float(explained[best]), right)])
    details = {"answers that the best seed explains": float(np.mean(best_shares)), "seeds tried": seeds.shape[0]}
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.bit), details=details)


def _explanation(seeds: Floats, most: float, right: float) -> list[Step]:
    tried, people = seeds.shape
    return [
        Step("note", f"of {tried:,} seeds the best explains {100 * most:.0f} % of the answers"),
        Step("guess", f"the secrets of {people:,} people"),
        Step("truth", f"{100 * right:.1f} % of them right"),
    ]


def _noise_by_second(game: Game, *, scale: float, size: int) -> Floats:
    """Return the noise of every possible seed, one row per seed."""
    return np.array(
        [seeded_noise(_START + second, scale=scale, size=size) for second in range(int(game.options["seconds"]))]
    )


def _world(game: Game) -> tuple[Bits, int]:
    return game.rng.random(game.people) < 0.5, int(game.rng.integers(game.people))


def _three_counts(secrets: Bits, person: int) -> Floats:
    """Return how many have the secret, how many without one person, and how many do not have it."""
    return np.array([secrets.sum(), np.delete(secrets, person).sum(), (~secrets).sum()], dtype=np.float64)


def _whole(numbers: Floats) -> tuple[Floats, Floats]:
    """Return the nearest whole numbers, and their distances."""
    nearest = np.rint(numbers)
    return nearest, np.abs(numbers - nearest)


def _add_guess(tally: Tally, guess: bool, secrets: Bits, person: int, steps: list[Step]) -> None:
    truth = bool(secrets[person])
    ends = [Step("guess", f"person {person} has the secret: {guess}"), Step("truth", str(truth))]
    tally.add(guess == truth, [*steps, *ends])


ATTACKS = (
    Attack(
        name="prng",
        title="Predictable noise",
        wants="one person's bit, behind noise from a pseudo-random generator",
        sees="noisy counts, and other output of the same generator",
        lesson=("Noise must come from a cryptographic generator. Generators for simulations can be predicted."),
        citation=(
            "Matsumoto, Nishimura 1998, for the generator; Garfinkel, Leclerc 2020 (arXiv:2009.03777), Randomness "
            "concerns when deploying differential privacy"
        ),
        releases={
            "seeded": (
                "three counts with Laplace noise from numpy, seeded with the start time of the program in seconds"
            ),
            "mersenne": "counts with Laplace noise from the generator that also draws a service's ticket numbers",
        },
        bound="a person's bit",
        small=Size(100, 12),
        full=Size(256, 40),
        play=play,
        options={"seconds": 3600},
        priced=frozenset({"seeded", "mersenne"}),
    ),
)
