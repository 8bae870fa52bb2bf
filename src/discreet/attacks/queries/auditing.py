"""Auditing: a refusal that depends on the data is an answer, so ask queries that may be refused."""

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
    """Each trial is one person."""
    if game.is_discreet:
        return guess_bits(game, _after_a_refusal)
    return _against_boolean_auditor(game) if game.against == "boolean-auditor" else _against_maximum_auditor(game)


def _against_boolean_auditor(game: Game) -> Outcome:
    """Query the target with each other person: refused if both bits are equal, answered if they differ.

    Then all bits are known up to a flip of all of them. The auditor ignores its refusals, so it does not know this. Two
    people like the target and one unlike it have 2 or 1 bits set: the auditor answers, which reveals the bit.
    """
    tally = Tally()
    for _ in game.each_trial():
        bits: Bits = game.rng.random(game.people) < 0.5
        target = int(game.rng.integers(game.people))
        auditor = BooleanAuditor(bits)
        alike: list[int] = []
        unlike: list[int] = []
        steps = [Step("known", f"the {game.people} people, and that a sum is refused if it would determine a bit")]
        for other in range(game.people):
            if other != target:
                refused = _ask(auditor, (target, other), steps) is None
                (alike if refused else unlike).append(other)
        observed = _ask(auditor, (*alike[:2], unlike[0]), steps) if len(alike) > 1 and unlike else None
        guess = bool(game.rng.random() < 0.5) if observed is None else observed == 2
        steps += [Step("guess", f"the bit of person {target} is {guess}"), Step("truth", str(bool(bits[target])))]
        tally.add(guess == bits[target], steps)
    sizes, seconds = _running_time()
    details = {"seconds per query, by people": dict(zip(map(str, sizes), seconds, strict=True))}
    series = [Series("seconds per query, by people", tuple(map(float, sizes)), tuple(seconds))]
    return tally.outcome(baseline=0.5, details=details, series=series)


def _ask(auditor: BooleanAuditor, people: Sequence[int], steps: list[Step]) -> int | None:
    steps.append(Step("asked", f"how many bits of persons {', '.join(map(str, people))} are set"))
    try:
        total = auditor.total(people)
    except Denied:
        steps.append(Step("refused", "the answer would determine a bit"))
        return None
    steps.append(Step("answered", str(total)))
    return total


def _running_time() -> tuple[list[int], list[float]]:
    """Measure one decision: the time doubles with each person, since every possible world is checked."""
    return list(_TIMED), [round(min(_seconds(people) for _ in range(3)), 6) for people in _TIMED]


def _seconds(people: int) -> float:
    auditor = BooleanAuditor(np.zeros(people, np.bool_))
    started = time.perf_counter()
    auditor.would_deny(range(people), people // 2)
    return time.perf_counter() - started


def _against_maximum_auditor(game: Game) -> Outcome:
    """Query the maximum of all, then of all except one person: it is refused for the person with the maximum."""
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
    """First exceed the budget, which is refused independently of the data; then spend the budget."""
    with suppress(BudgetExceeded):
        analyst.number(
            f"SELECT COUNT(*) AS n FROM people WHERE secret AND id = {person}",
            epsilon=game.budget.epsilon * 2,
        )
    return guess_bit(game, analyst, person)


ATTACKS = (
    Attack(
        name="auditing",
        title="A refusal is an answer",
        wants="one person's bit, or the name of the person who earns most",
        sees="exact answers, and refusals of answers that would reveal a person's value",
        lesson=(
            "A refusal that depends on the data reveals something about the data. Besides, an exact decision takes "
            "time that doubles with each person."
        ),
        citation="NYU slides, Query auditing; Kleinberg, Papadimitriou, Raghavan 2003; Kenthapadi, Mishra, Nissim 2005",
        releases={
            "boolean-auditor": "exact sums of bits, refused if the answers would determine a bit",
            "maximum-auditor": "exact maxima, refused if the answers would determine a person's value",
        },
        bound="a person's bit",
        small=Size(11, 40),
        full=Size(11, 700),
        play=play,
    ),
)
