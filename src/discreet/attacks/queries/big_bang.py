"""Big bang: many overlapping datasets, each with one harmless count; together the counts determine everyone's bit."""

from __future__ import annotations

import numpy as np

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.scene import people_catalog, people_table
from discreet.attacks.lab.strategies import Bits, ask_sum_per_person, signs
from discreet.attacks.lab.trial_steps import Step


def play(game: Game) -> Outcome:
    """Each trial is a new world in which every bit is guessed."""
    tally = Tally()
    for _ in game.each_trial():
        secrets: Bits = game.rng.random(game.people) < 0.5
        guessed, steps = _by_one_query(game, secrets) if game.is_discreet else _from_overlapping_counts(game, secrets)
        share = float((guessed == secrets).mean())
        steps += [Step("guess", _shown(guessed)), Step("truth", f"{_shown(secrets)}: {100 * share:.1f} % are right")]
        tally.add(share, steps)
    return tally.outcome(baseline=0.5, bound=game.bound(success_bounds.bit))


def _from_overlapping_counts(game: Game, secrets: Bits) -> tuple[Bits, list[Step]]:
    """Solve for all secrets: members are public, and each dataset's count of secrets is a linear equation."""
    datasets = int(game.options["datasets"] * game.people)
    members = game.rng.random((datasets, game.people)) < 0.5
    counts = members.astype(np.float64) @ secrets
    solved, *_ = np.linalg.lstsq(members.astype(np.float64), counts, rcond=None)
    steps = [
        Step("known", f"who is a member of which of {datasets} datasets"),
        *(Step("answered", f"dataset {i}: {counts[i]:.0f} of {members[i].sum()} members have it") for i in range(3)),
        Step("note", f"{datasets} equations in {game.people} unknowns, solved by least squares"),
    ]
    return solved > 0.5, steps


def _by_one_query(game: Game, secrets: Bits) -> tuple[Bits, list[Step]]:
    """All datasets share one budget. Its best use is a query with each person in a separate group."""
    with game.protect({"people": people_table(secrets)}, people_catalog(game.people)) as world:
        analyst = game.analyst(world)
        found = signs(game, ask_sum_per_person(game, analyst))
    return found, [Step("known", f"all {game.people:,} ids"), *analyst.steps]


def _shown(bits: Bits, most: int = 32) -> str:
    return "".join("1" if bit else "0" for bit in bits[:most]) + ("…" if bits.size > most else "")


ATTACKS = (
    Attack(
        name="big-bang",
        title="Many overlapping datasets",
        wants="the secret bits of all people",
        sees="one exact count from each of many datasets, and the members of each",
        lesson="Releases from overlapping datasets add up: what one may reveal depends on what the others revealed.",
        citation="Sapienza slides, The Statistics Masquerade; Dinur, Nissim 2003 for why it works",
        releases={"overlapping-counts": "for each dataset, the exact number of its members with the secret"},
        bound="a person's bit",
        small=Size(64, 12),
        full=Size(256, 60),
        play=play,
        measure="bits found",
        whole_runs=True,
        options={"datasets": 1.5},
    ),
)
