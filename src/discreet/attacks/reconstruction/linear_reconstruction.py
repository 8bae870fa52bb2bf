"""Reconstruction: accurate counts of random subsets of people are linear equations that can be solved."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Series, Size, Tally
from discreet.attacks.lab.budget_use import ask_groups, values_in_order, variance_per_group
from discreet.attacks.lab.random_lists import Lists
from discreet.attacks.lab.strategies import signs
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.reconstruction.decoding import by_least_squares, by_linear_program
from discreet.attacks.releases.noisy import StickyNoise
from discreet.attacks.releases.subsets import SubsetCounts

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_NOISES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
_RUNS_PER_WORLD = 1024


def play(game: Game) -> Outcome:
    """Each trial is a new set of people with fair random bits, and new lists. The score is the share of right bits."""
    if game.is_discreet:
        return _against_discreet(game)
    return _against_a_release(game)


def _against_a_release(game: Game) -> Outcome:
    tally, noise = Tally(), game.options["noise"]
    for _ in game.each_trial():
        observed, found, secrets, lists = _run(game, noise)
        tally.add((found == secrets).mean(), _steps(game, _asked(game, lists, observed), found, secrets))
    series = []
    if game.against == "noisy-counts":
        shares = [float((found == secrets).mean()) for _, found, secrets, _ in (_run(game, c) for c in _NOISES)]
        series.append(Series("bits right, against noise as a multiple of √people", _NOISES, tuple(shares)))
    return tally.outcome(baseline=0.5, series=series)


def _run(game: Game, noise: float) -> tuple[Floats, Bits, Bits, Lists]:
    """Return the observed counts, the guessed bits, the true bits, and the lists."""
    secrets: Bits = game.rng.random(game.people) < 0.5
    lists = _lists(game)
    members = lists.members(np.arange(game.people))
    if game.against == "sticky-noise":
        observed = _sticky(game, secrets, lists, members)
    else:
        lies = game.options["lies"] if game.against == "mostly-right" else 0.0
        observed = SubsetCounts(secrets, sd=noise * math.sqrt(game.people), rng=game.rng, lies=lies).count(members)
    return observed, _solve(game, members, observed, noise), secrets, lists


def _sticky(game: Game, secrets: Bits, lists: Lists, members: Bits) -> Floats:
    """Query with two conditions each, so the noise has four layers for any number of people."""
    release = StickyNoise(secret=game.rng.bytes(16))
    observed = [release.count(secrets & some, ["secret", lists.condition(i)]) for i, some in enumerate(members)]
    return np.array([0.0 if count is None else count for count in observed])  # a suppressed count is small


def _solve(game: Game, members: Bits, observed: Floats, noise: float) -> Bits:
    """Solve for the bits: a count is half of a sum of -1 and +1, plus half of the number of people on the list."""
    matrix, answers = members / 2, observed - members.sum(axis=1) / 2
    if game.against == "mostly-right" or game.options["linear"]:
        return by_linear_program(matrix, answers) > 0
    if game.against == "sticky-noise":  # one layer is the same in all answers: subtracting means removes it
        return by_least_squares(matrix - matrix.mean(axis=0), answers - answers.mean(), variance=3.0) > 0
    return by_least_squares(matrix, answers, variance=noise**2 * game.people) > 0


def _against_discreet(game: Game) -> Outcome:
    """Query all lists at once, for the whole budget; and, for comparison, each person's bit for the same budget.

    A world has the people of several trials, with the same lists, because opening a world takes long.
    """
    tally, alone, scene = Tally(), [], game.scene
    for runs in game.each_world(trials_per_world=max(1, _RUNS_PER_WORLD // game.people)):
        secrets: Bits = game.rng.random(game.people * len(runs)) < 0.5
        lists = _lists(game)
        with game.protect(*scene.world(secrets, game.rng, lists)) as world:
            for run in game.each_trial(runs):
                at = np.arange(game.people) + (run - runs[0]) * game.people
                ids, analyst = scene.first + at, game.analyst(world)
                positive = f"({scene.secret}) = ({lists.listed(scene.number, table=scene.lists)})"
                observed = ask_for_lists(game, analyst, lists, positive=positive, where=among(ids, scene.number))
                found = decode_sums(game, lists.members(ids), observed)
                tally.add((found == secrets[at]).mean(), _steps(game, analyst.steps, found, secrets[at]))
                if scene.is_the_labs:  # in other scenes, grouping by ids would need delta
                    alone.append(float((_own_bits(game, game.analyst(world), ids) == secrets[at]).mean()))
    details = {"bits right by querying each person's bit instead": float(np.mean(alone))} if alone else {}
    return tally.outcome(baseline=0.5, bound=game.bound(scene.bound), details=details)


def ask_for_lists(game: Game, analyst: Analyst, lists: Lists, *, positive: str, where: str) -> Floats:
    """Query for every list the sum of +1 (if `positive`) and -1: a bit changes it by 2, adding a person by 1."""
    scene = game.scene
    rows = ask_groups(
        game,
        analyst,
        keys=[f"{scene.lists}.list"],
        measure=f"SUM(CASE WHEN {positive} THEN 1 ELSE -1 END) AS s",
        source=f"{scene.table} CROSS JOIN {scene.lists} WHERE {where}",
        groups=lists.count,
        rows=scene.max_rows * lists.count,
    )
    return values_in_order(rows, key="list", value="s", first=0, count=lists.count)


def decode_sums(game: Game, members: Bits, observed: Floats) -> Bits:
    """Decode bits from noisy sums of -1 and +1."""
    matrix = np.where(members, 1.0, -1.0)
    if game.options["linear"]:
        return by_linear_program(matrix, observed) > 0
    return by_least_squares(matrix, observed, variance=variance_per_group(game, groups=len(members))) > 0


def among(ids: Ints, number: str = "id") -> str:
    """Return the condition that selects the people of one trial."""
    return f"{number} BETWEEN {ids[0]} AND {ids[-1]}"


def _own_bits(game: Game, analyst: Analyst, ids: Ints) -> Bits:
    """Query each person's bit. Each person is a separate group, so all cost as much as one."""
    rows = analyst.ask(
        f"SELECT id, SUM(CASE WHEN secret THEN 1 ELSE -1 END) AS s FROM people WHERE {among(ids)} GROUP BY id",
        epsilon=game.budget.epsilon,
    )
    return signs(game, values_in_order(rows, key="id", value="s", first=int(ids[0]), count=ids.size))


def _lists(game: Game) -> Lists:
    return Lists.draw(game.rng, count=round(game.options["queries_per_person"] * game.people))


def _asked(game: Game, lists: Lists, observed: Floats) -> list[Step]:
    steps = []
    for number in range(2):
        asked = f"how many have {game.scene.secret_in_words} where {lists.condition(number, game.scene.number)}"
        steps += [Step("asked", asked), Step("answered", f"{observed[number]:.2f}")]
    return [*steps, Step("note", f"{lists.count:,} such queries, each about a random half of the people")]


def _steps(game: Game, between: Sequence[Step], found: Bits, secrets: Bits) -> list[Step]:
    return [
        Step("known", f"the ids of all {game.people:,} people"),
        *between,
        Step("guess", f"the first bits are {_shown(found)}"),
        Step("truth", f"{_shown(secrets)}; in all, {(found == secrets).sum():,} of {game.people:,} are right"),
    ]


def _shown(bits: Bits) -> str:
    return "".join("1" if bit else "0" for bit in bits[:32]) + ("…" if bits.size > 32 else "")


ATTACKS = (
    Attack(
        name="reconstruction",
        title="Too many accurate answers: death by a thousand cuts",
        wants="the secret bits of all people",
        sees="noisy counts of random subsets of people, four times as many counts as people",
        lesson=(
            "Noise well below √n does not protect, however private each count looks. The noise must grow with the "
            "number of answers."
        ),
        citation="Sapienza slides, Reconstruction Attacks; NYU slides, death by a 1000 cuts; Dinur, Nissim 2003; "
        "Dwork, McSherry, Talwar 2007; Cohen, Nissim 2018 (arXiv:1810.05692) for sticky noise",
        releases={
            "noisy-counts": "counts of any subset, with Gaussian noise of 0.1·√n",
            "mostly-right": "the same, but one answer in ten is arbitrary; solved by linear programming",
            "sticky-noise": "counts whose noise is fixed by the wording and the chosen people, as in Diffix",
        },
        bound="a person's bit",
        small=Size(32, 8),
        full=Size(256, 16),
        play=play,
        measure="bits right",
        whole_runs=True,
        options={"noise": 0.1, "queries_per_person": 4.0, "lies": 0.1, "linear": 0},
        any_catalog=True,
    ),
)
