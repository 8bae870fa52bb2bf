"""Exhaustive reconstruction: any bits consistent with nearly exact counts of all subsets are nearly right."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.budget_use import ask_groups, values_in_order
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.reconstruction.decoding import by_exhaustion
from discreet.attacks.releases.subsets import HalfwayToADecoy
from discreet.errors import BadInput

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_MOST = 14
_RUNS_PER_WORLD = 20

_CATALOG = """
[tables.people]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.run = { type = "integer", lower = 0, upper = 1000000 }
columns.place = { type = "integer", lower = 1, upper = 1000000 }
columns.secret = { type = "boolean" }
[tables.subsets]
public = true
"""


def play(game: Game) -> Outcome:
    """Each trial is a new set of people with fair random bits. The score is the share of bits that are right."""
    if game.people > _MOST:
        raise BadInput(
            f"More than {_MOST} people have too many subsets.",
            next_step=f"Give people={_MOST} or fewer, or run the attack reconstruction, which needs few subsets.",
        )
    return _against_discreet(game) if game.is_discreet else _against_answers_within_alpha(game)


def _against_answers_within_alpha(game: Game) -> Outcome:
    """Guess any bits that are within alpha of all answers.

    They are wrong for at most 4·alpha people. Consider the subset of people with the secret who are guessed without:
    the answer differs by at most alpha from the true count, and by at most alpha from the guessed count of 0, so they
    are at most 2·alpha people. The same holds for people without the secret who are guessed with it.
    """
    subsets, alpha = _all_subsets(game.people), int(game.options["alpha"])
    candidates = subsets.astype(np.float64)
    tally, wrong = Tally(), []
    for _ in game.each_trial():
        secrets: Bits = game.rng.random(game.people) < 0.5
        counts = HalfwayToADecoy(secrets, alpha=alpha, rng=game.rng).count(subsets)
        suits = by_exhaustion(candidates, counts, candidates, within=alpha)
        guessed = subsets[int(game.rng.choice(suits))]
        wrong.append(int((guessed != secrets).sum()))
        steps = [
            Step(
                "known", f"that {game.people} people are in the data, and that every answer is off by at most {alpha}"
            ),
            Step("asked", f"how many have the secret, in each of the {len(subsets):,} subsets"),
            Step("answered", ", ".join(f"{answer:.1f}" for answer in counts[-6:]) + ", …"),
            Step("note", f"of {len(subsets):,} possible worlds, {suits.size:,} are consistent with all answers"),
            Step("guess", _shown(guessed)),
            Step("truth", f"{_shown(secrets)}: {wrong[-1]} wrong, of at most {4 * alpha}"),
        ]
        tally.add((guessed == secrets).mean(), steps)
    details = {"most bits wrong in a run": max(wrong), "bits wrong at most, by the theorem": 4 * alpha}
    return tally.outcome(baseline=0.5, details=details)


def _against_discreet(game: Game) -> Outcome:
    """Query all subsets at once, for the whole budget, and guess the bits nearest to the noisy answers."""
    subsets = _all_subsets(game.people)
    signed = np.where(subsets, 1.0, -1.0)
    tally = Tally()
    for runs in game.each_world(trials_per_world=_RUNS_PER_WORLD):
        secrets: Bits = game.rng.random((len(runs), game.people)) < 0.5
        with game.protect(
            {"people": _table(secrets), "subsets": {"subset": np.arange(len(subsets))}}, _CATALOG
        ) as world:
            for run in game.each_trial(runs):
                bits, analyst = secrets[run - runs[0]], game.analyst(world)
                rows = ask_groups(
                    game,
                    analyst,
                    keys=["subset"],
                    measure="SUM(CASE WHEN secret = ((subset // place) % 2 = 1) THEN 1 ELSE -1 END) AS s",
                    source=f"people CROSS JOIN subsets WHERE run = {run - runs[0]}",
                    groups=len(subsets),
                )
                sums = values_in_order(rows, key="subset", value="s", first=0, count=len(subsets))
                guessed = _nearest(signed, sums) > 0
                steps = [
                    Step("known", f"that {game.people} people are in the data"),
                    *analyst.steps,
                    Step("guess", _shown(guessed)),
                    Step("truth", f"{_shown(bits)}: {(guessed != bits).sum()} wrong"),
                ]
                tally.add((guessed == bits).mean(), steps)
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.bit))


def _nearest(signed: Floats, observed: Floats) -> Floats:
    """Return the bits with the least total distance to the answers: the likeliest ones under Laplace noise."""
    distances = [np.abs(signed @ candidate - observed).sum() for candidate in signed]
    return signed[int(np.argmin(distances))]


def _all_subsets(people: int) -> Bits:
    """Return all subsets, one per row; person 0 is in every second one."""
    return (np.arange(2**people)[:, None] >> np.arange(people)) % 2 == 1


def _table(secrets: Bits) -> dict[str, Ints | Bits]:
    runs, people = secrets.shape
    return {
        "id": np.arange(runs * people),
        "run": np.repeat(np.arange(runs), people),
        "place": np.tile(2 ** np.arange(people), runs),
        "secret": secrets.ravel(),
    }


def _shown(bits: Bits) -> str:
    return "".join("1" if bit else "0" for bit in bits)


ATTACKS = (
    Attack(
        name="exhaustive",
        title="All subsets, slightly wrong",
        wants="the secret bits of a small group of people",
        sees="how many have the secret in each subset of the people, with small errors",
        lesson="Bits consistent with all answers are nearly the truth: answers within α leave at most 4α people wrong.",
        citation="Sapienza slides, Reconstruction Attacks; NYU slides, death by a 1000 cuts; Dinur, Nissim 2003",
        releases={"within-alpha": "counts of all subsets, each off by at most α, with the most misleading errors"},
        bound="a person's bit",
        small=Size(8, 6),
        full=Size(12, 72),
        play=play,
        measure="bits right",
        whole_runs=True,
        options={"alpha": 1},
    ),
)
