"""Reductions: a reconstruction attack gives a membership attack, and a membership attack gives reconstruction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.analyst_access import ProtectedWorld
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.budget_use import ask_groups, variance_per_group
from discreet.attacks.lab.random_lists import TABLE, Lists
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.membership.accusations import accuse
from discreet.attacks.membership.genomes import Study
from discreet.attacks.membership.mean_membership import inner_product
from discreet.attacks.reconstruction.decoding import by_least_squares
from discreet.attacks.reconstruction.linear_reconstruction import among, ask_for_lists
from discreet.attacks.releases.means import noisy_means
from discreet.attacks.releases.subsets import SubsetCounts

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]

_RUNS_PER_WORLD = 1024
_IDS = '[tables.people]\nprivacy_unit = "id"\ncolumns.id = {{ type = "integer", lower = 0, upper = {last} }}\n'


def play_membership(game: Game) -> Outcome:
    """Reduce membership to reconstruction: take "is in the data" as each candidate's bit, and reconstruct the bits.

    Each trial is a run over all candidates, each of whom is in the data with probability 1/2.
    """
    tally, alarms, misses = Tally(), [], []
    for runs in game.each_world(trials_per_world=max(1, _RUNS_PER_WORLD // game.people)):
        inside: Bits = game.rng.random(game.people * len(runs)) < 0.5
        lists = Lists.draw(game.rng, count=round(game.options["queries_per_person"] * game.people))
        world = _protect(game, inside, lists) if game.is_discreet else None
        with world or nullcontext():
            for run in game.each_trial(runs):
                ids = np.arange(game.people) + (run - runs[0]) * game.people
                present = inside[ids]
                sums = _sums(game, lists, ids, present) if world is None else _ask_sums(game, world, lists, ids)
                guessed = sums.presence()
                alarms.append(float((guessed & ~present).sum() / max(1, (~present).sum())))
                misses.append(float((~guessed & present).sum() / max(1, present.sum())))
                steps = [
                    Step("known", f"the ids of {game.people} candidates, each in the data with probability 1/2"),
                    *sums.steps,
                    Step("guess", f"candidate {ids[0]} is {_in_words(guessed[0])}; and so on for all"),
                    Step(
                        "truth",
                        f"{_in_words(present[0])}; in all, {(guessed == present).sum()} of {ids.size} are right",
                    ),
                ]
                tally.add((guessed == present).mean(), steps)
    details = {"false positives": float(np.mean(alarms)), "false negatives": float(np.mean(misses))}
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.membership), details=details)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Noisy sums over lists of the candidates in the data, and each candidate's contribution to each sum."""

    matrix: Floats
    observed: Floats
    variance: float
    steps: Sequence[Step]

    def presence(self) -> Bits:
        """Run the reconstruction attack: presence, 0 or 1, is (1 + bit) / 2 for a bit that is -1 or +1."""
        answers = self.observed - self.matrix.sum(axis=1) / 2
        return by_least_squares(self.matrix / 2, answers, variance=self.variance) > 0


def _sums(game: Game, lists: Lists, ids: Ints, present: Bits) -> _Sums:
    sd, members = game.options["noise"] * math.sqrt(game.people), lists.members(ids)
    observed = SubsetCounts(present, sd=sd, rng=game.rng).count(members)
    steps = [
        Step("asked", f"how many are in the data where {lists.condition(0)}; {lists.count} such lists"),
        Step("answered", ", ".join(f"{count:.1f}" for count in observed[:6]) + ", …"),
    ]
    return _Sums(members.astype(np.float64), observed, sd**2, steps)


def _protect(game: Game, inside: Bits, lists: Lists) -> ProtectedWorld:
    tables = {"people": {"id": np.flatnonzero(inside)}, "lists": lists.table()}
    return game.protect(tables, _IDS.format(last=inside.size - 1) + TABLE)


def _ask_sums(game: Game, world: ProtectedWorld, lists: Lists, ids: Ints) -> _Sums:
    analyst = game.analyst(world)
    observed = ask_for_lists(game, analyst, lists, positive=lists.listed("id", table="lists"), where=among(ids))
    matrix = np.where(lists.members(ids), 1.0, -1.0)
    return _Sums(matrix, observed, variance_per_group(game, groups=lists.count), analyst.steps)


def play_reconstruction(game: Game) -> Outcome:
    """Reduce reconstruction to membership: test whether a person is among those with, or without, the secret.

    If one test says "in", it gives the bit; if both do, the stronger one; if none does, the attack fails and a coin
    flip decides. Each trial is a study in which each person has a fair random bit.
    """
    tally, failed, wrong = Tally(), [], []
    for _ in game.each_trial():
        sites = round(game.options["attributes_per_person"] * game.people)
        study = Study.draw(game.rng, members=game.people, frequencies=game.rng.uniform(0.05, 0.95, sites))
        secrets: Bits = game.rng.random(game.people) < 0.5
        means, steps = _means_of_both(game, study, secrets)
        leans, tests = [], []
        for part in means:
            members, others = (inner_product(some, part, study.frequencies) for some in (study.members, study.others))
            leans.append(members / np.std(others))
            tests.append(accuse(members, others, rng=game.rng))
        without, having = tests
        stronger = np.where(without == having, leans[1] > leans[0], having)
        neither = ~without & ~having
        found = np.where(neither, game.rng.random(game.people) < 0.5, stronger)
        failed.append(float(neither.mean()))
        wrong.append(float(((found != secrets) & ~neither).mean()))
        steps = [
            Step("known", f"the genomes of the {game.people} patients, at {sites:,} sites; not who has the secret"),
            *steps,
            Step(
                "guess", f"patient 0 {_verdict(bool(without[0]), bool(having[0]), bool(found[0]))}; and so on for all"
            ),
            Step("truth", f"{bool(secrets[0])}; in all, {(found == secrets).sum()} of {game.people} are right"),
        ]
        tally.add((found == secrets).mean(), steps)
    details = {"both tests say out": float(np.mean(failed)), "a test says in, wrongly": float(np.mean(wrong))}
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.bit), details=details)


def _means_of_both(game: Game, study: Study, secrets: Bits) -> tuple[list[Singles], list[Step]]:
    """Return the means among people without the secret, and among people with it."""
    if game.is_discreet:
        return _ask_means(game, study, secrets)
    means = [noisy_means(study.members[secrets == having], sd=0.0, rng=game.rng) for having in (False, True)]
    shown = [", ".join(f"{mean:.2f}" for mean in part[:6]) for part in means]
    return means, [
        Step("asked", "a table of frequencies of variants, for patients without and with the secret"),
        Step("answered", f"without: {shown[0]}, …; with: {shown[1]}, …"),
    ]


def _ask_means(game: Game, study: Study, secrets: Bits) -> tuple[list[Singles], list[Step]]:
    """Query both means at once: each person has one row per site, with or without the secret, so both cost as one."""
    tables = study.tables()
    tables["calls"]["secret"] = np.repeat(secrets, study.sites)
    with game.protect(tables, study.catalog() + 'columns.secret = { type = "boolean" }\n') as world:
        analyst = game.analyst(world)
        rows = ask_groups(
            game,
            analyst,
            keys=["secret", "site"],
            measure="COUNT(*) FILTER (WHERE has) AS n",
            source="calls",
            groups=study.sites,
        )
    counts = np.zeros((2, study.sites), np.float32)
    for row in rows:
        counts[int(row["secret"]), int(row["site"])] = row["n"]
    return [part / np.float32(game.people / 2) for part in counts], analyst.steps


def _in_words(inside: np.bool_) -> str:
    return "in" if inside else "out"


def _verdict(without: bool, having: bool, found: bool) -> str:
    tests = f"is {'in' if without else 'out of'} the table without and {'in' if having else 'out of'} the table with"
    return f"{tests}, so the secret is {found}"


ATTACKS = (
    Attack(
        name="reduction-to-membership",
        title="Reconstruction gives membership",
        wants="which of many candidates are in the data",
        sees="noisy counts of random lists of candidates",
        lesson="Membership is a bit like any other, so a reconstruction attack is also a membership attack.",
        citation="Harvard slides, Reconstruction vs. Membership",
        releases={"noisy-counts": "counts of any list of candidates, with Gaussian noise of 0.1·√n"},
        bound="membership, even prior",
        small=Size(32, 6),
        full=Size(256, 16),
        play=play_membership,
        measure="candidates guessed right",
        whole_runs=True,
        options={"noise": 0.1, "queries_per_person": 4.0},
    ),
    Attack(
        name="reduction-to-reconstruction",
        title="Membership gives reconstruction",
        wants="the secret bits of all people",
        sees="the means of many attributes among people with the secret, and among people without it",
        lesson=(
            "If there is one table of people with the secret and one of people without it, finding you in one of them "
            "reveals your secret."
        ),
        citation="Harvard slides, Reconstruction vs. Membership",
        releases={"exact-means": "exact frequencies of variants, with and without the secret"},
        bound="a person's bit",
        small=Size(20, 3),
        full=Size(100, 16),
        play=play_reconstruction,
        measure="bits right",
        whole_runs=True,
        options={"attributes_per_person": 40.0},
    ),
)
