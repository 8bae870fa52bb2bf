"""Reconstruction: counts of random subsets of people, answered too well, are equations, and equations can be solved."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Series, Size, Tally
from discreet.attacks.lab.budget_use import ask_for_all, by_number, variance_of_each
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
_IN_A_WORLD = 1024


def play(game: Game) -> Outcome:
    """Each trial is a whole run: new people with fair random bits, new lists of them, one score for all bits."""
    if game.is_discreet:
        return _against_discreet(game)
    return _against_a_release(game)


def _against_a_release(game: Game) -> Outcome:
    tally, noise = Tally(), game.options["noise"]
    for _ in game.each_trial():
        told, found, secrets, lists = _run(game, noise)
        tally.add((found == secrets).mean(), _steps(game, _asked(game, lists, told), found, secrets))
    series = []
    if game.against == "noisy-counts":
        shares = [float((found == secrets).mean()) for _, found, secrets, _ in (_run(game, c) for c in _NOISES)]
        series.append(Series("bits right, against noise as a multiple of √people", _NOISES, tuple(shares)))
    return tally.outcome(baseline=0.5, series=series)


def _run(game: Game, noise: float) -> tuple[Floats, Bits, Bits, Lists]:
    """What was told, what was found, how it is, and the lists."""
    secrets: Bits = game.rng.random(game.people) < 0.5
    lists = _lists(game)
    members = lists.members(np.arange(game.people))
    if game.against == "sticky-noise":
        told = _sticky(game, secrets, lists, members)
    else:
        lies = game.options["lies"] if game.against == "mostly-right" else 0.0
        told = SubsetCounts(secrets, sd=noise * math.sqrt(game.people), rng=game.rng, lies=lies).count(members)
    return told, _solve(game, members, told, noise), secrets, lists


def _sticky(game: Game, secrets: Bits, lists: Lists, members: Bits) -> Floats:
    """Two conditions a query: its noise has four layers, however many people it is about."""
    release = StickyNoise(secret=game.rng.bytes(16))
    told = [release.count(secrets & some, ["secret", lists.condition(i)]) for i, some in enumerate(members)]
    return np.array([0.0 if count is None else count for count in told])  # suppressed: few, if any


def _solve(game: Game, members: Bits, told: Floats, noise: float) -> Bits:
    """Counts are half of a sum of -1 and +1, and half of the number of people on the list."""
    matrix, answers = members / 2, told - members.sum(axis=1) / 2
    if game.against == "mostly-right" or game.options["linear"]:
        return by_linear_program(matrix, answers) > 0
    if game.against == "sticky-noise":  # one layer is the same in all answers: it goes with their mean
        return by_least_squares(matrix - matrix.mean(axis=0), answers - answers.mean(), variance=3.0) > 0
    return by_least_squares(matrix, answers, variance=noise**2 * game.people) > 0


def _against_discreet(game: Game) -> Outcome:
    """All lists in one query, for the whole budget; and, for comparison, everybody's own bit for the same price.

    A world has the people of several runs, each with other people and the same lists, because opening one takes long.
    """
    tally, alone, scene = Tally(), [], game.scene
    for runs in game.each_world(serves=max(1, _IN_A_WORLD // game.people)):
        secrets: Bits = game.rng.random(game.people * len(runs)) < 0.5
        lists = _lists(game)
        with game.protect(*scene.world(secrets, game.rng, lists)) as world:
            for run in game.each_trial(runs):
                at = np.arange(game.people) + (run - runs[0]) * game.people
                ids, analyst = scene.first + at, game.analyst(world)
                positive = f"({scene.secret}) = ({lists.listed(scene.number, table=scene.lists)})"
                told = ask_for_lists(game, analyst, lists, positive=positive, where=among(ids, scene.number))
                found = decode_sums(game, lists.members(ids), told)
                tally.add((found == secrets[at]).mean(), _steps(game, analyst.steps, found, secrets[at]))
                if scene.is_the_labs:  # elsewhere ids are no groups that anybody may have without delta
                    alone.append(float((_own_bits(game, game.analyst(world), ids) == secrets[at]).mean()))
    facts = {"bits right by asking for everybody's own bit instead": float(np.mean(alone))} if alone else {}
    return tally.outcome(baseline=0.5, bound=game.bound(scene.bound), facts=facts)


def ask_for_lists(game: Game, analyst: Analyst, lists: Lists, *, positive: str, where: str) -> Floats:
    """For every list the sum of +1 where `positive` holds and -1 where not: a bit moves it by 2, a person by 1."""
    scene = game.scene
    rows = ask_for_all(
        game,
        analyst,
        keys=[f"{scene.lists}.list"],
        measure=f"SUM(CASE WHEN {positive} THEN 1 ELSE -1 END) AS s",
        source=f"{scene.table} CROSS JOIN {scene.lists} WHERE {where}",
        groups=lists.count,
        rows=scene.max_rows * lists.count,
    )
    return by_number(rows, key="list", value="s", first=0, count=lists.count)


def decode_sums(game: Game, members: Bits, told: Floats) -> Bits:
    """From sums of -1 and +1."""
    matrix = np.where(members, 1.0, -1.0)
    if game.options["linear"]:
        return by_linear_program(matrix, told) > 0
    return by_least_squares(matrix, told, variance=variance_of_each(game, groups=len(members))) > 0


def among(ids: Ints, number: str = "id") -> str:
    """The people of one run."""
    return f"{number} BETWEEN {ids[0]} AND {ids[-1]}"


def _own_bits(game: Game, analyst: Analyst, ids: Ints) -> Bits:
    """Each person is in a group of their own, so that all cost as one."""
    rows = analyst.ask(
        f"SELECT id, SUM(CASE WHEN secret THEN 1 ELSE -1 END) AS s FROM people WHERE {among(ids)} GROUP BY id",
        epsilon=game.budget.epsilon,
    )
    return signs(game, by_number(rows, key="id", value="s", first=int(ids[0]), count=ids.size))


def _lists(game: Game) -> Lists:
    return Lists.draw(game.rng, count=round(game.options["queries_per_person"] * game.people))


def _asked(game: Game, lists: Lists, told: Floats) -> list[Step]:
    steps = []
    for number in range(2):
        asked = f"how many have {game.scene.wanted} where {lists.condition(number, game.scene.number)}"
        steps += [Step("asked", asked), Step("answered", f"{told[number]:.2f}")]
    return [*steps, Step("note", f"{lists.count:,} such questions, each about a random half of the people")]


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
        title="Too many answers, too well: a thousand cuts",
        wants="the secret bits of everybody at once",
        sees="noisy counts of random subsets of people, four times as many as there are people",
        lesson=(
            "Noise well below √n does not protect, however private each count looks: the number of answers must be "
            "paid for."
        ),
        citation="Sapienza slides, Reconstruction Attacks; NYU slides, death by a 1000 cuts; Dinur, Nissim 2003; "
        "Dwork, McSherry, Talwar 2007; Cohen, Nissim 2018 (arXiv:1810.05692) for sticky noise",
        releases={
            "noisy-counts": "counts of any subset, with Gaussian noise of 0.1·√n",
            "mostly-right": "the same, but one answer in ten is anything at all; solved by linear programming",
            "sticky-noise": "counts whose noise sticks to the wording and to who is chosen, as in Diffix",
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
