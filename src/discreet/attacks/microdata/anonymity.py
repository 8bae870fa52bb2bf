"""Homogeneity, background knowledge and intersection: three attacks that infer a person's value from a group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import confidence, success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.strategies import largest
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.anonymous import Group, group_of, k_anonymous, l_diverse
from discreet.samples.state import CONDITIONS

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_AGES, _ZIPS, _REGION = (18, 90), 100, (12, 10)
_TARGETS = 100
"""Number of targets in one world."""


@dataclass(frozen=True, slots=True)
class Hospital:
    """Patients with age, zip code and sex, which are known, and a condition, which is secret."""

    known: Ints
    conditions: Ints

    def describe(self, person: int) -> str:
        """Describe what is known about a person."""
        age, zip_code, sex = self.known[person]
        return f"{age} years old, zip {zip_code:02d}, {'MF'[sex]}"


def _hospital(rng: np.random.Generator, people: int, habits: Floats) -> Hospital:
    """Draw patients. People of the same age and region tend to have the same condition."""
    known = np.stack([rng.integers(*_AGES, people), rng.integers(0, _ZIPS, people), rng.integers(0, 2, people)], axis=1)
    odds = habits[(known[:, 0] - _AGES[0]) // _REGION[0], known[:, 1] // _REGION[1]]
    drawn = (odds.cumsum(axis=1) < rng.random((people, 1))).sum(axis=1)
    return Hospital(known, np.minimum(drawn, len(CONDITIONS) - 1))


def _habits(rng: np.random.Generator) -> Floats:
    cells = ((_AGES[1] - _AGES[0]) // _REGION[0] + 1, _ZIPS // _REGION[1])
    return rng.dirichlet(np.full(len(CONDITIONS), 0.1), cells)


def _play(game: Game, *, excluded: int = 0, tables: int = 1) -> Outcome:
    """Guess a target's condition from `tables` tables with the target, with `excluded` conditions ruled out."""
    if game.is_discreet:
        return _against_discreet(game, excluded)
    tally, prior_right, certain = Tally(), [], []
    for trials in game.each_world(trials_per_world=_TARGETS):
        habits = _habits(game.rng)
        first = _hospital(game.rng, game.people, habits)
        targets = game.rng.permutation(game.people)[: len(trials)]
        releases = [_release(game, first)]
        for _ in range(tables - 1):
            other = _hospital(game.rng, game.people, habits)
            both = Hospital(
                np.concatenate([first.known[targets], other.known[targets.size :]]),
                np.concatenate([first.conditions[targets], other.conditions[targets.size :]]),
            )
            releases.append(_release(game, both))
        usual = np.bincount(first.conditions, minlength=len(CONDITIONS)).astype(np.float64)
        for trial in game.each_trial(trials):
            person = int(targets[trial - trials.start])
            truth = int(first.conditions[person])
            possible = _not_excluded(game, truth, excluded)
            groups = [group_of(groups, first.known[person]) for groups in releases]
            weights = possible * np.prod([np.bincount(g.values, minlength=len(CONDITIONS)) for g in groups], axis=0)
            guess = int(weights.argmax())
            certain.append(np.count_nonzero(weights) == 1)
            prior_right.append(int((possible * usual).argmax()) == truth)
            steps = [_known(first, person, possible), *map(_group_step, groups)]
            steps += [Step("guess", CONDITIONS[guess]), Step("truth", CONDITIONS[truth])]
            tally.add(guess == truth, steps)
    details = {"only one value left": float(np.mean(certain))}
    return tally.outcome(baseline=float(np.mean(prior_right)), details=details)


def _release(game: Game, hospital: Hospital) -> list[Group]:
    k = int(game.options["k"])
    if game.against == "l-diverse":
        return l_diverse(hospital.known, hospital.conditions, k=k, l=int(game.options["l"]))
    return k_anonymous(hospital.known, hospital.conditions, k=k)


def _not_excluded(game: Game, truth: int, excluded: int) -> Floats:
    """Return 1 for conditions that the attacker considers possible; excluded conditions are never the true one."""
    others = game.rng.permutation([c for c in range(len(CONDITIONS)) if c != truth])[:excluded]
    possible = np.ones(len(CONDITIONS))
    possible[others] = 0
    return possible


def _against_discreet(game: Game, excluded: int) -> Outcome:
    """Query the people like the target by condition. The same attack on data without the targets gives s."""
    with_them, without_them = Tally(), Tally()
    each = replace(game, on_progress=None)
    for trials in game.each_world(trials_per_world=_TARGETS):
        hospital = _hospital(game.rng, game.people, _habits(game.rng))
        distinct = np.unique(hospital.known, axis=0, return_index=True)[1]  # no two targets have the same known columns
        targets = game.rng.permutation(distinct)[: len(trials)]
        rest = np.setdiff1d(np.arange(game.people), targets)
        possible = [_not_excluded(game, int(hospital.conditions[person]), excluded) for person in targets]
        for tally, rows in ((without_them, rest), (with_them, np.arange(game.people))):
            player = game if tally is with_them else each
            with player.protect({"patients": _table(hospital, rows)}, _CATALOG) as world:
                for trial in player.each_trial(range(trials.start, trials.start + targets.size)):
                    number = trial - trials.start
                    person, analyst = int(targets[number]), player.analyst(world)
                    among = [c for c, chance in zip(CONDITIONS, possible[number], strict=True) if chance]
                    noisy_rows = analyst.ask(_query(hospital, person), epsilon=game.budget.epsilon)
                    guess = largest(game, noisy_rows, key="condition", value="n", among=among)
                    truth = CONDITIONS[hospital.conditions[person]]
                    steps = [_known(hospital, person, possible[number]), *analyst.steps]
                    tally.add(guess == truth, [*steps, Step("guess", guess), Step("truth", truth)])
    right = round(sum(without_them.scores))
    _, removed = confidence.rate_interval(right, len(without_them.scores), 0.95)
    return with_them.outcome(
        baseline=1 / (len(CONDITIONS) - excluded),
        bound=game.bound_of_this_run(partial(success_bounds.inversion, removed)),
        details={"right without the target, at most": removed},
    )


_CATALOG = f"""
[tables.patients]
privacy_unit = "id"
columns.id = {{ type = "integer" }}
columns.age = {{ type = "integer", lower = {_AGES[0]}, upper = {_AGES[1]} }}
columns.zip = {{ type = "integer", lower = 0, upper = {_ZIPS} }}
columns.sex = {{ type = "integer", lower = 0, upper = 1 }}
columns.condition = {{ type = "text", values = {list(CONDITIONS)!r} }}
"""


def _table(hospital: Hospital, rows: Ints) -> dict[str, object]:
    age, zip_code, sex = hospital.known[rows].T
    return {
        "id": rows,
        "age": age,
        "zip": zip_code,
        "sex": sex,
        "condition": np.array(CONDITIONS)[hospital.conditions[rows]],
    }


def _query(hospital: Hospital, person: int) -> str:
    age, zip_code, sex = hospital.known[person]
    return (
        f"SELECT condition, COUNT(*) AS n FROM patients WHERE age = {age} AND zip = {zip_code} AND sex = {sex} "
        "GROUP BY condition"
    )


def _known(hospital: Hospital, person: int, possible: Floats) -> Step:
    out = [name for name, chance in zip(CONDITIONS, possible, strict=True) if not chance]
    more = f", and does not have {', '.join(out)}" if out else ""
    return Step("known", f"the target is {hospital.describe(person)}{more}")


def _group_step(group: Group) -> Step:
    (a, b, _), (c, d, _) = group.lows, group.highs
    values = ", ".join(CONDITIONS[value] for value in np.sort(group.values)[:12])
    return Step(
        "answered", f"the group of {group.values.size} people aged {a} to {c} in zips {b:02d} to {d:02d}: {values}"
    )


_SMALL, _FULL = Size(600, 40), Size(3_000, 700)
_K_ANONYMOUS = "groups of at least 5 people with the same published ranges (Mondrian)"
_L_DIVERSE = "groups of at least 5 people with the same published ranges and at least 3 conditions"

ATTACKS = (
    Attack(
        name="homogeneity",
        title="A group with one condition",
        wants="one patient's condition",
        sees="a k-anonymous table, and the target's age, zip code and sex",
        lesson="Hiding among five people does not help if all five have the same condition.",
        citation="Chicago slides, Lessons from Last Time; Machanavajjhala et al. 2007, l-Diversity",
        releases={"k-anonymous": _K_ANONYMOUS, "l-diverse": _L_DIVERSE},
        bound="a value under any prior, from the same attack with the target removed",
        play=_play,
        measure="conditions guessed",
        options={"k": 5, "l": 3},
        small=_SMALL,
        full=_FULL,
    ),
    Attack(
        name="background",
        title="Background knowledge",
        wants="one patient's condition",
        sees=(
            "an l-diverse table, the target's age, zip code and sex, and four conditions that the target does not have"
        ),
        lesson="Diversity only protects against attackers without further knowledge, and most attackers have some.",
        citation="Chicago slides, Lessons from Last Time; Machanavajjhala et al. 2007, section 2.2",
        releases={"l-diverse": _L_DIVERSE, "k-anonymous": _K_ANONYMOUS},
        bound="a value under any prior, from the same attack with the target removed",
        play=partial(_play, excluded=4),
        measure="conditions guessed",
        options={"k": 5, "l": 3},
        small=_SMALL,
        full=_FULL,
    ),
    Attack(
        name="intersection",
        title="Two careful hospitals",
        wants="one patient's condition",
        sees="the k-anonymous tables of two hospitals that the target was in, and the target's age, zip code and sex",
        lesson="Two anonymous releases together are not anonymous: few conditions occur in both groups.",
        citation="Ganta, Kasiviswanathan, Smith 2008 (arXiv:0803.0032)",
        releases={"k-anonymous": _K_ANONYMOUS, "l-diverse": _L_DIVERSE},
        bound="a value under any prior, from the same attack with the target removed",
        play=partial(_play, tables=2),
        measure="conditions guessed",
        options={"k": 5, "l": 3},
        small=_SMALL,
        full=_FULL,
    ),
)
