"""Auditing: ask what will be refused, because a refusal that depends on the data is an answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Series, Size, Tally
from discreet.attacks.lab.strategies import Bits, guess_bit, guess_bits
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.query_auditors import BooleanAuditor, Denied, MaximumAuditor
from discreet.errors import BudgetExceeded

_TIMED = range(8, 19, 2)


def play(game: Game) -> Outcome:
    """One person a trial."""
    if game.is_discreet:
        return guess_bits(game, _after_a_refusal)
    return _against_boolean_auditor(game) if game.against == "boolean-auditor" else _against_maximum_auditor(game)


def _against_boolean_auditor(game: Game) -> Outcome:
    """The target with each other person: refused where both bits are the same, answered where they differ.

    Now everybody is known up to a flip of all bits, and the auditor, who forgets its refusals, does not know. Two who
    are like the target and one who is not have 2 or 1 bits set: it sees nothing wrong with telling which.
    """
    tally = Tally()
    for _ in game.each_trial():
        bits: Bits = game.rng.random(game.people) < 0.5
        target = int(game.rng.integers(game.people))
        auditor = BooleanAuditor(bits)
        alike: list[int] = []
        unlike: list[int] = []
        steps = [Step("known", f"the {game.people} people, and that a sum is refused where a bit would follow")]
        for other in range(game.people):
            if other != target:
                refused = _ask(auditor, (target, other), steps) is None
                (alike if refused else unlike).append(other)
        told = _ask(auditor, (*alike[:2], unlike[0]), steps) if len(alike) > 1 and unlike else None
        guess = bool(game.rng.random() < 0.5) if told is None else told == 2
        steps += [Step("guess", f"the bit of person {target} is {guess}"), Step("truth", str(bool(bits[target])))]
        tally.add(guess == bits[target], steps)
    sizes, seconds = _running_time()
    facts = {"seconds a question by people": dict(zip(map(str, sizes), seconds, strict=True))}
    series = [Series("seconds a question, by people", tuple(map(float, sizes)), tuple(seconds))]
    return tally.outcome(baseline=0.5, facts=facts, series=series)


def _ask(auditor: BooleanAuditor, people: Sequence[int], steps: list[Step]) -> int | None:
    steps.append(Step("asked", f"how many bits of persons {', '.join(map(str, people))} are set"))
    try:
        total = auditor.total(people)
    except Denied:
        steps.append(Step("refused", "a bit would follow"))
        return None
    steps.append(Step("answered", str(total)))
    return total


def _running_time() -> tuple[list[int], list[float]]:
    """How long one decision takes: twice as long for each further person, since every world is looked at."""
    return list(_TIMED), [round(min(_seconds(people) for _ in range(3)), 6) for people in _TIMED]


def _seconds(people: int) -> float:
    auditor = BooleanAuditor(np.zeros(people, np.bool_))
    begun = time.perf_counter()
    auditor.would_deny(range(people), people // 2)
    return time.perf_counter() - begun


def _against_maximum_auditor(game: Game) -> Outcome:
    """The largest of all; then of all but one, for each: it is refused for the one whose salary it is."""
    tally, staff = Tally(), max(game.people, 100)
    for _ in game.each_trial():
        salaries = game.rng.choice(np.arange(30_000, 200_000), staff, replace=False)
        auditor = MaximumAuditor(salaries)
        top = auditor.largest(np.ones(staff, np.bool_))
        steps = [
            Step("known", f"the {staff} people"),
            Step("asked", "the largest salary"),
            Step("answered", f"{top:,}"),
        ]
        guess = 0
        for person in range(staff):
            try:
                auditor.largest(np.arange(staff) != person)
            except Denied:
                guess = person
                steps += [
                    Step("asked", f"the largest salary without person {person}"),
                    Step("refused", "would determine a salary"),
                ]
                break
        steps += [
            Step("guess", f"person {guess} earns {top:,}"),
            Step("truth", f"person {salaries.argmax()} earns {salaries.max():,}"),
        ]
        tally.add(guess == salaries.argmax(), steps)
    return tally.outcome(baseline=1 / staff)


def _after_a_refusal(game: Game, analyst: Analyst, person: int) -> bool:
    """Ask too much first: the refusal is the same whatever the data says. Then ask what can be paid."""
    with suppress(BudgetExceeded):
        analyst.number(
            f"SELECT COUNT(*) AS n FROM people WHERE secret AND id = {person}",
            epsilon=game.budget.epsilon * 2,
        )
    return guess_bit(game, analyst, person)


ATTACKS = (
    Attack(
        name="auditing",
        title="The refusal that answers",
        wants="one person's bit, or the name of whoever earns most",
        sees="exact answers, and refusals of those that would give somebody away",
        lesson=(
            "Whoever refuses because of the data answers by refusing; and to decide exactly takes time that doubles "
            "with each person."
        ),
        citation="NYU slides, Query auditing; Kleinberg, Papadimitriou, Raghavan 2003; Kenthapadi, Mishra, Nissim 2005",
        releases={
            "boolean-auditor": "exact sums of bits, refused where a bit would follow",
            "maximum-auditor": "exact maxima, refused where somebody's value would follow",
        },
        bound="a person's bit",
        small=Size(11, 40),
        full=Size(11, 700),
        play=play,
    ),
)
