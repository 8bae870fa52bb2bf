"""Tracing by fingerprints: rows are code words, and answers that are right where all rows agree reveal the rows."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Series, Size, Tally
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.membership.accusations import RATE, accuse
from discreet.attacks.membership.genomes import Study, ask_for_counts
from discreet.attacks.releases.means import noisy_means, rounded_means

Floats = npt.NDArray[np.float32]
Bits = npt.NDArray[np.bool_]


def play(game: Game) -> Outcome:
    """Each trial is a new code. The score is the share of its rows that are accused."""
    return _against_discreet(game) if game.is_discreet else _against_answers(game)


def tardos_code(rng: np.random.Generator, *, rows: int, columns: int) -> Study:
    """Draw a code: each column has its own bias, mostly near 0 or 1, and each row draws its bits with these biases.

    Any answers computed from some rows correlate with some of these rows, unless they are wrong in columns where the
    rows agree.

    Citation: Tardos 2003; Bun, Ullman, Vadhan 2014 (arXiv:1311.3158).
    """
    edge = math.asin(math.sqrt(1 / (300 * rows)))
    biases = np.sin(rng.uniform(edge, math.pi / 2 - edge, columns)) ** 2
    return Study.draw(rng, members=rows, frequencies=biases)


def suspicion(rows: Floats, answers: Floats, biases: Floats) -> Floats:
    """Return how well the answers agree with each row, rare bits weighing more: Škorić, Katzenbeisser, Celik 2008."""
    return (rows - biases) @ ((2 * answers - 1) / np.sqrt(biases * (1 - biases)))


def _against_answers(game: Game) -> Outcome:
    tally, any_accused, innocents, curve = Tally(), [], [], []
    for _ in game.each_trial():
        code = _code(game)
        answers = rounded_means(code.members) if game.against == "rounded-means" else _noisy(game, code)
        guilty = _accuse(game, code, answers)
        any_accused.append(bool(guilty.any()))
        innocents.append(bool(_one_more(game, code, answers)))
        shown = "".join(str(round(float(np.clip(answer, 0, 1)))) for answer in answers[:32])
        steps = [
            Step("known", f"a code with {code.sites:,} columns, and the code word of each person"),
            Step("asked", f"for each column, the mean of {game.people} rows"),
            Step("answered", f"rounded, {shown}…"),
            *_verdict(game, guilty),
        ]
        tally.add(guilty.mean(), steps)
        lengths = [code.sites * part // 8 for part in range(1, 9)]
        curve.append([_accuse(game, code.first(end), answers[:end]).mean() for end in lengths])
    series = Series(
        "rows accused, against the number of columns",
        tuple(float(end) for end in lengths),
        tuple(float(share) for share in np.mean(curve, axis=0)),
    )
    details = {"runs with an accusation": float(np.mean(any_accused)), "innocents accused": float(np.mean(innocents))}
    return tally.outcome(baseline=RATE, details=details, series=[series])


def _noisy(game: Game, code: Study) -> Floats:
    return np.clip(noisy_means(code.members, sd=game.options["noise"], rng=game.rng), 0, 1)


def _against_discreet(game: Game) -> Outcome:
    """Query the counts of all columns at once, for the whole budget."""
    tally, any_accused = Tally(), []
    for _ in game.each_trial():
        code = _code(game)
        with game.protect(code.tables(), code.catalog()) as world:
            analyst = game.analyst(world)
            means = ask_for_counts(game, analyst, code, sites=code.sites) / game.people
        guilty = _accuse(game, code, np.clip(means, 0, 1).astype(np.float32))
        any_accused.append(bool(guilty.any()))
        known = Step("known", f"a code with {code.sites:,} columns, and the code word of each person")
        tally.add(guilty.mean(), [known, *analyst.steps, *_verdict(game, guilty)])
    details = {"runs with an accusation": float(np.mean(any_accused))}
    return tally.outcome(baseline=RATE, bound=game.bound(partial(success_bounds.tpr_at, RATE)), details=details)


def _code(game: Game) -> Study:
    return tardos_code(game.rng, rows=game.people, columns=round(game.options["columns_per_pair"] * game.people**2))


def _accuse(game: Game, code: Study, answers: Floats) -> Bits:
    rows, others = (suspicion(some, answers, code.frequencies) for some in (code.members, code.others))
    return accuse(rows, others, rng=game.rng)


def _one_more(game: Game, code: Study, answers: Floats) -> bool:
    """Whether one innocent person is accused if the others set the threshold."""
    scores = suspicion(code.others, answers, code.frequencies)
    return bool(accuse(scores[:1], scores[1:], rng=game.rng)[0])


def _verdict(game: Game, guilty: Bits) -> list[Step]:
    return [
        Step("guess", f"{guilty.sum()} of the {game.people} rows are accused"),
        Step("truth", f"all {game.people} are in the data; of code words not in the data, one in 100 is accused"),
    ]


ATTACKS = (
    Attack(
        name="tracing",
        title="Fingerprints in the data",
        wants="whose rows are in the data, with few false accusations",
        sees="one answer for each column, which only needs to be right if all rows agree",
        lesson="Some data can be traced through any accurate answers: d columns need about √d people, or noise.",
        citation=(
            "Sapienza slides, Attacks based on Traitor Tracing; Tardos 2003; Bun, Ullman, Vadhan 2014 (arXiv:1311.3158)"
        ),
        releases={
            "rounded-means": "each column's mean, rounded to 0 or 1",
            "noisy-means": "each column's mean, with Gaussian noise of 0.3",
        },
        bound="true positives at 1 % false positives",
        small=Size(8, 3),
        full=Size(15, 14),
        play=play,
        measure="rows accused, at 1 % false positives",
        whole_runs=True,
        options={"columns_per_pair": 40.0, "noise": 0.3},
    ),
)
