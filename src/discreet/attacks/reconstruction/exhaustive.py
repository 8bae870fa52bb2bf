"""Exhaustive reconstruction: all subsets are counted, each nearly right, and so is everything that suits the counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.budget_use import ask_for_all, by_number
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.reconstruction.decoding import by_exhaustion
from discreet.attacks.releases.subsets import HalfwayToADecoy
from discreet.errors import BadInput

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_MOST = 14
_IN_A_WORLD = 20

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
    """Each trial is a whole run: new people with fair random bits, all of their subsets, one score for all bits."""
    if game.people > _MOST:
        raise BadInput(
            f"All subsets of more than {_MOST} people are too many.",
            next_step=f"Give people={_MOST} or fewer, or run reconstruction, which needs few subsets.",
        )
    return _against_discreet(game) if game.is_discreet else _against_answers_within_alpha(game)


def _against_answers_within_alpha(game: Game) -> Outcome:
    """Take any bits that are within alpha of all answers.

    They are wrong for at most 4·alpha people: counting those who have the secret and were given none is off by alpha in
    the answer and by alpha in what was taken, so they are at most 2·alpha; and so are those who were given one and have
    none.
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
            Step("note", f"of {len(subsets):,} possible worlds, {suits.size:,} suit all answers"),
            Step("guess", _shown(guessed)),
            Step("truth", f"{_shown(secrets)}: {wrong[-1]} wrong, of at most {4 * alpha}"),
        ]
        tally.add((guessed == secrets).mean(), steps)
    facts = {"most bits wrong in a run": max(wrong), "bits wrong at most, by the theorem": 4 * alpha}
    return tally.outcome(baseline=0.5, facts=facts)


def _against_discreet(game: Game) -> Outcome:
    """All subsets in one query, for the whole budget. No bits need suit noisy answers, so the nearest are taken."""
    subsets = _all_subsets(game.people)
    signed = np.where(subsets, 1.0, -1.0)
    tally = Tally()
    for runs in game.each_world(serves=_IN_A_WORLD):
        secrets: Bits = game.rng.random((len(runs), game.people)) < 0.5
        with game.protect(
            {"people": _table(secrets), "subsets": {"subset": np.arange(len(subsets))}}, _CATALOG
        ) as world:
            for run in game.each_trial(runs):
                bits, analyst = secrets[run - runs[0]], game.analyst(world)
                rows = ask_for_all(
                    game,
                    analyst,
                    keys=["subset"],
                    measure="SUM(CASE WHEN secret = ((subset // place) % 2 = 1) THEN 1 ELSE -1 END) AS s",
                    source=f"people CROSS JOIN subsets WHERE run = {run - runs[0]}",
                    groups=len(subsets),
                )
                sums = by_number(rows, key="subset", value="s", first=0, count=len(subsets))
                guessed = _nearest(signed, sums) > 0
                steps = [
                    Step("known", f"that {game.people} people are in the data"),
                    *analyst.steps,
                    Step("guess", _shown(guessed)),
                    Step("truth", f"{_shown(bits)}: {(guessed != bits).sum()} wrong"),
                ]
                tally.add((guessed == bits).mean(), steps)
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.bit))


def _nearest(signed: Floats, told: Floats) -> Floats:
    """The world whose sums are, in all, the nearest: the likeliest under Laplace noise."""
    distances = [np.abs(signed @ candidate - told).sum() for candidate in signed]
    return signed[int(np.argmin(distances))]


def _all_subsets(people: int) -> Bits:
    """A row for each subset; person 0 is in every second one."""
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
        title="Every subset, each a little wrong",
        wants="the secret bits of everybody in a small room",
        sees="how many have the secret in each subset of the people, always off by a little",
        lesson="Whatever suits all answers is nearly the truth: answers within α leave at most 4α people wrong.",
        citation="Sapienza slides, Reconstruction Attacks; NYU slides, death by a 1000 cuts; Dinur, Nissim 2003",
        releases={"within-alpha": "counts of all subsets, each off by at most α, as misleading as can be"},
        bound="a person's bit",
        small=Size(8, 6),
        full=Size(12, 72),
        play=play,
        measure="bits right",
        whole_runs=True,
        options={"alpha": 1},
    ),
)
