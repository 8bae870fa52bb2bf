"""Census: reconstruct the seven residents of a block from the tables published about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from discreet.attacks.lab import confidence, success_bounds
from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.strategies import share
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.reconstruction.census_blocks import (
    EXAMPLE,
    RECORDS,
    VIEWS,
    Record,
    ages_in_groups,
    counts_by_view,
    draw_block,
    group_in_words,
    in_words,
)
from discreet.attacks.reconstruction.constraints import block_from_ages, block_from_counts, nearest_block

Solve: TypeAlias = Callable[..., list[Record] | None]

_LEAST = 3
_CATALOG = """
[tables.residents]
privacy_unit = "id"
columns.id = {{ type = "integer" }}
columns.block = {{ type = "integer", lower = 0, upper = {last} }}
columns.age = {{ type = "integer", lower = 0, upper = 89 }}
columns.sex = {{ type = "integer", lower = 0, upper = 1 }}
columns.race = {{ type = "integer", lower = 0, upper = 1 }}
columns.married = {{ type = "integer", lower = 0, upper = 1 }}
"""


def play(game: Game) -> Outcome:
    """Each trial is a new block. The score is the share of its residents whose record is reconstructed."""
    return _against_discreet(game) if game.is_discreet else _against_tables(game)


def _against_tables(game: Game) -> Outcome:
    """Find a block that satisfies the tables. A record is certain if no block without it satisfies them."""
    tally, certain = Tally(), []
    for trial in game.each_trial():
        block = (
            list(EXAMPLE) if trial == 0 and game.people == len(EXAMPLE) else draw_block(game.rng, residents=game.people)
        )
        solve, printed = _print_tables(game, block)
        found = solve() or []
        sure = {record for record in found if solve(without=record) is None}
        certain.append(sum(record in sure for record in block) / game.people)
        steps = [
            Step("known", f"that {game.people} people live in the block"),
            *printed,
            Step("guess", "; ".join(in_words(record) for record in found)),
            Step("note", f"{len(sure)} of these records are certain: no block without them satisfies the tables"),
            Step("truth", "; ".join(in_words(record) for record in sorted(block))),
        ]
        tally.add(_share_found(block, found), steps)
    details = {"records that are certain": float(np.mean(certain))}
    return tally.outcome(baseline=game.people / len(RECORDS), details=details)


def _print_tables(game: Game, block: Sequence[Record]) -> tuple[Solve, list[Step]]:
    """Return the solver for the published tables of a block, and the steps that show them."""
    if game.against == "count-tables":
        tables = counts_by_view(block)
        shown = [f"by {view}: {', '.join(f'{k}: {n}' for k, n in sorted(tables[view].items()))}" for view in VIEWS]
        return partial(block_from_counts, tables), [Step("answered", text) for text in shown]
    ages = ages_in_groups(block, least=_LEAST)
    lines = [
        f"{group_in_words(group)}: withheld"
        if one is None
        else f"{group_in_words(group)}: {one.count}, median age {float(one.median):g}, mean {one.total / one.count:.1f}"
        for group, one in ages.items()
    ]
    solve = partial(block_from_ages, ages, residents=game.people, least=_LEAST)
    return solve, [Step("answered", "; ".join(lines))]


def _against_discreet(game: Game) -> Outcome:
    """Query four tables of counts at a quarter of the budget each, and find the block nearest to them.

    The bound holds for any prior: a record is found at most e^ε times as often as if its person had not been in the
    data, plus δ. The latter rate is measured on blocks without their last resident, and its upper confidence limit is
    used. There the guesses are independent of the missing record, and all records are equally likely, so the rate is
    the share of records that the guesses cover.
    """
    tally, removed = Tally(), []
    blocks = [draw_block(game.rng, residents=game.people) for _ in range(game.trials)]
    without_one = [block[:-1] for block in blocks[:: int(game.options["every"])]]
    rows = [(number, record) for number, block in enumerate([*blocks, *without_one]) for record in block]
    with game.protect({"residents": _table(rows)}, _CATALOG.format(last=len(blocks) + len(without_one))) as world:
        for number in range(len(without_one)):
            guess = _nearest(game, game.analyst(world), len(blocks) + number)
            removed.append(len(set(guess)) / len(RECORDS))
        for number in game.each_trial():
            analyst = game.analyst(world)
            guessed = _nearest(game, analyst, number)
            steps = [
                Step("known", f"that {game.people} people live in the block"),
                *analyst.steps,
                Step("guess", "; ".join(in_words(record) for record in guessed)),
                Step("truth", "; ".join(in_words(record) for record in sorted(blocks[number]))),
            ]
            tally.add(_share_found(blocks[number], guessed), steps)
    most = game.people / len(RECORDS)
    chance = min(most, confidence.mean_interval(removed, 0.95, step=1 / len(RECORDS))[1])
    details = {"records found of people who were left out, at most": chance}
    return tally.outcome(
        baseline=most, bound=game.bound_of_this_run(partial(success_bounds.inversion, chance)), details=details
    )


def _nearest(game: Game, analyst: Analyst, block: int) -> list[Record]:
    tables = {}
    for view in VIEWS:
        keys = view.split(", ")
        names = [f"k{position}" for position in range(len(keys))]
        columns = ", ".join(f"{key} AS {name}" for key, name in zip(keys, names, strict=True))
        rows = analyst.ask(
            f"SELECT {columns}, COUNT(*) AS n FROM residents WHERE block = {block} GROUP BY {view}",
            epsilon=share(game.budget.epsilon, len(VIEWS)),
        )
        tables[view] = {tuple(int(row[name]) for name in names): int(row["n"]) for row in rows}
    return nearest_block(tables, residents=game.people)


def _share_found(block: Sequence[Record], found: Sequence[Record]) -> float:
    return sum(record in found for record in block) / len(block)


def _table(rows: Sequence[tuple[int, Record]]) -> dict[str, Any]:
    columns = np.array([record for _, record in rows]).T
    named = dict(zip(("age", "sex", "race", "married"), columns, strict=True))
    return {"id": np.arange(len(rows)), "block": np.array([number for number, _ in rows]), **named}


ATTACKS = (
    Attack(
        name="census",
        title="Seven people and the tables about them",
        wants="the records of all residents of a city block",
        sees="published counts, medians and means of ages by sex, race and marriage; small groups are withheld",
        lesson=(
            "Every exact table is a constraint, and few sets of people satisfy all of them. Withholding small groups "
            "does not help."
        ),
        citation=(
            "NYU slides, death by a 1000 cuts; Garfinkel, Abowd, Martindale 2018; Abowd et al. 2023 (arXiv:2312.11283)"
        ),
        releases={
            "means-and-medians": "number, median and mean of the ages in groups of three or more",
            "count-tables": "four exact tables of counts",
        },
        bound="a value under any prior",
        small=Size(7, 6),
        full=Size(7, 150),
        play=play,
        measure="records reconstructed",
        whole_runs=True,
        options={"every": 3},
        needs=("ortools",),
    ),
)
