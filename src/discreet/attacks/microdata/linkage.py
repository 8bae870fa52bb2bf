"""Linkage: join a table without names and a list with names on three columns that are in both."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.strategies import largest
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.deidentified import without_names
from discreet.errors import BadInput
from discreet.samples.state import CONDITIONS, State, birth_date, state, zip_name

Ints = npt.NDArray[np.int64]

_IN_HOSPITAL = 0.1


def play(game: Game) -> Outcome:
    """Each trial is one patient who is named."""
    voters = state(people=game.people, seed=int(game.rng.integers(2**32)))
    return _against_discreet(game, voters) if game.is_discreet else _against_a_table_without_names(game, voters)


def _against_a_table_without_names(game: Game, voters: State) -> Outcome:
    patients = game.rng.permutation(game.people)[: max(1, round(game.people * _IN_HOSPITAL))]
    released = without_names(voters, patients, game.rng.integers(0, len(CONDITIONS), patients.size))
    keys = voters.quasi_identifiers()
    by_key = np.argsort(keys, kind="stable")
    in_order = keys[by_key]
    tally, alone = Tally(), []
    for _ in game.each_trial():
        row = int(game.rng.integers(patients.size))
        key = released.quasi_identifiers[row]
        first, last = np.searchsorted(in_order, [key, key + 1])
        matches = by_key[first:last]
        guess = int(game.rng.choice(matches))
        alone.append(matches.size == 1)
        row_shown = f"{voters.describe(int(patients[row]))}, {CONDITIONS[released.conditions[row]]}"
        steps = [
            Step("known", f"the voter list of {game.people:,} people: name, zip code, birth date, sex"),
            Step("answered", f"a row of the released table: {row_shown}"),
            Step("note", f"voters with that zip code, birth date and sex: {matches.size}"),
            Step("guess", f"it is voter {guess:,}"),
            Step("truth", f"voter {patients[row]:,}"),
        ]
        tally.add(guess == patients[row], steps)
    return tally.outcome(baseline=1 / game.people, details={"unique by zip, birth date and sex": float(np.mean(alone))})


def _against_discreet(game: Game, voters: State) -> Outcome:
    """Guess which one of some voters was in hospital, from one query that counts each in their own zip code."""
    lists = _suspects(game, voters)
    right = [int(game.rng.integers(one.size)) for one in lists]
    others = np.setdiff1d(game.rng.permutation(game.people)[: round(game.people * _IN_HOSPITAL)], np.concatenate(lists))
    patients = np.concatenate([others, [one[r] for one, r in zip(lists, right, strict=True)]])
    tally = Tally()
    with game.protect({"patients": _table(voters, patients)}, _catalog(voters)) as world:
        for trial in game.each_trial():
            suspects, analyst = lists[trial], game.analyst(world)
            each = " OR ".join(f"({_condition(voters, int(person))})" for person in suspects)
            rows = analyst.ask(
                f"SELECT zip, COUNT(*) AS n FROM patients WHERE {each} GROUP BY zip",
                epsilon=game.budget.epsilon,
            )
            among = [zip_name(int(voters.zips[person])) for person in suspects]
            guess = among.index(largest(game, rows, key="zip", value="n", among=among))
            steps = [
                Step("known", f"{suspects.size} voters, one of whom was in hospital, each as likely as the others"),
                *analyst.steps,
                Step("guess", f"it is voter {suspects[guess]:,}"),
                Step("truth", f"voter {suspects[right[trial]]:,}"),
            ]
            tally.add(guess == right[trial], steps)
    candidates = int(game.options["candidates"])
    return tally.outcome(baseline=1 / candidates, bound=game.bound(partial(success_bounds.linkage, candidates)))


def _suspects(game: Game, voters: State) -> list[Ints]:
    """Draw the candidates of each trial, all in different zip codes and no one in two trials."""
    order = np.argsort(voters.zips, kind="stable")
    ends = np.searchsorted(voters.zips[order], np.arange(voters.zip_count + 1))
    free = [list(game.rng.permutation(order[a:b])) for a, b in pairwise(ends)]
    found: list[Ints] = []
    candidates = int(game.options["candidates"])
    for _ in range(game.trials):
        zip_codes = [zip_code for zip_code in game.rng.permutation(voters.zip_count) if free[zip_code]]
        if len(zip_codes) < candidates:
            raise BadInput(
                f"There are too few people for {game.trials} trials: each needs {candidates} people of its own, "
                f"in {candidates} zip codes.",
                next_step=f"Give trials={len(found)}, or more people." if found else "Give more people.",
            )
        found.append(np.array([free[zip_code].pop() for zip_code in zip_codes[:candidates]], np.int64))
    return found


def _condition(voters: State, person: int) -> str:
    zip_code, born = zip_name(int(voters.zips[person])), birth_date(int(voters.born[person]))
    sex = "M" if voters.is_male[person] else "F"
    return f"zip = '{zip_code}' AND born = DATE '{born}' AND sex = '{sex}'"


def _table(voters: State, patients: Ints) -> dict[str, object]:
    return {
        "id": patients,
        "zip": [zip_name(number) for number in voters.zips[patients].tolist()],
        "born": voters.born[patients].astype("datetime64[D]"),
        "sex": np.where(voters.is_male[patients], "M", "F"),
    }


def _catalog(voters: State) -> str:
    zips = ", ".join(f'"{zip_name(number)}"' for number in range(voters.zip_count))
    return (
        '[tables.patients]\nprivacy_unit = "id"\ncolumns.id = { type = "integer" }\n'
        f'columns.zip = {{ type = "text", values = [{zips}] }}\n'
        'columns.born = { type = "date" }\ncolumns.sex = { type = "text", values = ["F", "M"] }\n'
    )


ATTACKS = (
    Attack(
        name="linkage",
        title="Governor Weld's hospital visit",
        wants="the name of a person in a table of hospital visits",
        sees="the table without names, and a voter list with zip code, birth date and sex",
        lesson="Other columns identify people like names do: nine in ten people are unique by these three columns.",
        citation="NYU slides, A linkage attack: Governor Weld; Sweeney 2000 and 2002; Golle 2006 for a lower count",
        releases={"de-identified": "hospital visits with zip code, birth date and sex, without names"},
        bound="linkage among equally likely people",
        small=Size(20_000, 40),
        full=Size(1_500_000, 700),
        play=play,
        measure="patients named",
        options={"candidates": 16},
    ),
)
