"""Membership: the means of very many attributes reveal who was in the study."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Series, Size, Tally
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.membership.accusations import RATE, accuse
from discreet.attacks.membership.genomes import Study, ask_for_counts
from discreet.attacks.releases.means import noisy_means

Floats = npt.NDArray[np.float32]
Statistic: TypeAlias = Callable[[Floats, Floats, Floats], Floats]

_NOISES = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
_PARTS = (100, 10)


def play(game: Game) -> Outcome:
    """Each trial is a study. Everyone in it is a suspect, and the score is the share of them who are accused."""
    return _against_discreet(game) if game.is_discreet else _against_means(game)


def inner_product(people: Floats, means: Floats, reference: Floats) -> Floats:
    """Return the correlation of a person with the study, relative to the population: members contribute to the means.

    Citation: Dwork, Smith, Steinke, Ullman, Vadhan 2015.
    """
    return (people - reference) @ (means - reference)


def homer(people: Floats, means: Floats, reference: Floats) -> Floats:
    """Return how much nearer a person is to the study than to the population: Homer et al. 2008."""
    return (np.abs(people - reference) - np.abs(people - means)).sum(axis=1)


def share_accused(game: Game, study: Study, means: Floats, *, statistic: Statistic = inner_product) -> float:
    """Return the share of members accused, at a false positive rate of 1 %."""
    members, others = (statistic(some, means, study.frequencies) for some in (study.members, study.others))
    return float(accuse(members, others, rng=game.rng).mean())


def _against_means(game: Game) -> Outcome:
    tally, by_homer, curve = Tally(), [], []
    for _ in game.each_trial():
        study = _study(game)
        threshold = math.sqrt(study.sites) / game.people
        means = noisy_means(study.members, sd=game.options["noise"] * threshold, rng=game.rng)
        share = share_accused(game, study, means)
        shown = ", ".join(f"{mean:.2f}" for mean in means[:8])
        answered = Step("answered", f"the frequencies among {game.people:,} patients: {shown}, …")
        tally.add(share, [_known(study), answered, *_verdict(game, share)])
        by_homer.append(share_accused(game, study, means, statistic=homer))
        worse = [noisy_means(study.members, sd=c * threshold, rng=game.rng) for c in _NOISES]
        curve.append([share_accused(game, study, means) for means in worse])
    series = Series(
        "patients accused, against noise as a multiple of √attributes / people",
        _NOISES,
        tuple(float(share) for share in np.mean(curve, axis=0)),
    )
    return tally.outcome(baseline=RATE, details={"by Homer's statistic": float(np.mean(by_homer))}, series=[series])


def _against_discreet(game: Game) -> Outcome:
    """Query all counts at once, for the whole budget; for the curve, fewer counts, which have less noise each."""
    tally, curve = Tally(), []
    parts = [max(1, _sites(game) // part) for part in _PARTS]
    for _ in game.each_trial():
        study = _study(game)
        with game.protect(study.tables(), study.catalog()) as world:
            analyst = game.analyst(world)
            share = _by_counts(game, analyst, study, study.sites)
            curve.append([*(_by_counts(game, game.analyst(world), study, part) for part in parts), share])
        tally.add(share, [_known(study), *analyst.steps, *_verdict(game, share)])
    series = Series(
        "patients accused, against the number of variants queried",
        (*(float(part) for part in parts), float(_sites(game))),
        tuple(float(share) for share in np.mean(curve, axis=0)),
    )
    return tally.outcome(baseline=RATE, bound=game.bound(partial(success_bounds.tpr_at, RATE)), series=[series])


def _by_counts(game: Game, analyst: Analyst, study: Study, sites: int) -> float:
    means = ask_for_counts(game, analyst, study, sites=sites) / game.people
    return share_accused(game, study.first(sites), means.astype(np.float32))


def _study(game: Game) -> Study:
    return Study.draw(game.rng, members=game.people, frequencies=game.rng.uniform(0.05, 0.95, _sites(game)))


def _sites(game: Game) -> int:
    return round(game.options["attributes_per_person"] * game.people)


def _known(study: Study) -> Step:
    return Step("known", f"the frequencies of {study.sites:,} variants in the population, and the genomes of suspects")


def _verdict(game: Game, share: float) -> Sequence[Step]:
    return [
        Step("guess", f"people closer to the patients' means than 99 in 100 others: {round(share * game.people)}"),
        Step("truth", f"there are {game.people:,} patients; of other people, one in 100 is accused"),
    ]


ATTACKS = (
    Attack(
        name="membership",
        title="Who was in the study",
        wants="whether a person, whose genome the attacker has, was among the patients of a study",
        sees="the frequency of each of 10,000 genetic variants among the patients",
        lesson="A mean reveals little, but very many means do: with noise below √d/n, members can be identified.",
        citation=(
            "Harvard slides, Recap: Membership Attacks; Homer et al. 2008; Dwork, Smith, Steinke, Ullman, Vadhan 2015"
        ),
        releases={"exact-means": "a table of exact frequencies, as genome-wide studies used to publish"},
        bound="true positives at 1 % false positives",
        small=Size(16, 3),
        full=Size(100, 5),
        play=play,
        measure="members accused, at 1 % false positives",
        whole_runs=True,
        options={"attributes_per_person": 100.0, "noise": 0.0},
    ),
)
