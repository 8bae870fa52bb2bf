"""Auditing: ask what will be refused, because a refusal that depends on the data is an answer."""

from __future__ import annotations

import time

import numpy as np

from discreet.attacks.curators import Analyst
from discreet.attacks.model import Attack, Game, Outcome, Series, Size, Tally
from discreet.attacks.releases.auditors import BooleanAuditor, Denied, MaximumAuditor, Rule, all_worlds
from discreet.attacks.steps import Step
from discreet.attacks.strategies import Bits, guess_bit, guess_bits
from discreet.errors import BudgetExceeded

_TIMED = range(8, 19, 2)


def play(game: Game) -> Outcome:
    """One person a trial."""
    if game.is_discreet:
        return guess_bits(game, _after_a_refusal)
    return _against_boolean_auditor(game) if game.against == "boolean-auditor" else _against_maximum_auditor(game)


def _against_boolean_auditor(game: Game) -> Outcome:
    tally = Tally()
    for _ in game.each_trial():
        bits: Bits = game.rng.random(game.people) < 0.5
        target = int(game.rng.integers(game.people))
        auditor, rule = BooleanAuditor(bits), Rule(game.people)
        left, steps = all_worlds(game.people), [Step("known", f"the auditor's rule, and the {game.people} people")]
        for members in _questions(game, target):
            told = _ask(auditor, members)
            totals = left[:, members].sum(axis=1)
            if told is None:  # only worlds in which the auditor would have refused
                refused = [n for n in range(int(members.sum()) + 1) if rule.denies(members, n)]
                left = left[np.isin(totals, refused)]
            else:
                left = left[totals == told]
                rule.learn(members, told)
            steps.append(Step("asked", f"how many of {', '.join(map(str, np.flatnonzero(members)))}"))
            steps.append(Step("refused", "would determine a bit") if told is None else Step("answered", str(told)))
        ones = int(left[:, target].sum())
        guess = bool(game.rng.random() < 0.5) if 2 * ones == len(left) else 2 * ones > len(left)
        steps += [
            Step("note", f"worlds that fit the answers and the refusals: {len(left)}"),
            Step("guess", f"the bit of person {target} is {guess}"),
            Step("truth", str(bool(bits[target]))),
        ]
        tally.add(guess == bits[target], steps)
    sizes, seconds = _running_time()
    facts = {"seconds a question by people": dict(zip(map(str, sizes), seconds, strict=True))}
    series = [Series("seconds to audit one question, by number of people", tuple(map(float, sizes)), tuple(seconds))]
    return tally.outcome(baseline=0.5, facts=facts, series=series)


def _questions(game: Game, target: int) -> list[Bits]:
    """Everybody; then the target with each other person: refused where both bits are the same, answered where not."""
    everybody = np.ones(game.people, np.bool_)
    pairs = []
    for other in range(game.people):
        if other != target:
            pair = np.zeros(game.people, np.bool_)
            pair[[target, other]] = True
            pairs.append(pair)
    return [everybody, *pairs]


def _ask(auditor: BooleanAuditor, members: Bits) -> int | None:
    try:
        return auditor.total(members)
    except Denied:
        return None


def _running_time() -> tuple[list[int], list[float]]:
    """How long one decision takes: twice as long for each further person, since every world is looked at."""
    seconds = []
    for people in _TIMED:
        begun = time.perf_counter()
        Rule(people).denies(np.ones(people, np.bool_), people // 2)
        seconds.append(round(time.perf_counter() - begun, 6))
    return list(_TIMED), seconds


def _against_maximum_auditor(game: Game) -> Outcome:
    """The largest of all; then of all but one, for each: it is refused for the one whose salary it is."""
    tally = Tally()
    for _ in game.each_trial():
        salaries = game.rng.choice(np.arange(30_000, 200_000), game.people, replace=False)
        auditor = MaximumAuditor(salaries)
        top = auditor.largest(np.ones(game.people, np.bool_))
        steps = [Step("asked", "the largest salary"), Step("answered", f"{top:,}")]
        guess = 0
        for person in range(game.people):
            try:
                auditor.largest(np.arange(game.people) != person)
            except Denied:
                guess = person
                steps += [Step("asked", f"the largest salary without person {person}"), Step("refused", "would determine a salary")]
                break
        steps += [
            Step("guess", f"person {guess} earns {top:,}"),
            Step("truth", f"person {salaries.argmax()} earns {salaries.max():,}"),
        ]
        tally.add(guess == salaries.argmax(), steps)
    return tally.outcome(baseline=1 / game.people)


def _after_a_refusal(game: Game, analyst: Analyst, person: int) -> bool:
    """Ask too much first: the refusal is the same whatever the data says. Then ask what can be paid."""
    try:
        analyst.number(
            f"SELECT COUNT(*) AS n FROM people WHERE secret AND id = {person}",  # noqa: S608
            epsilon=game.budget.epsilon * 2,
        )
    except BudgetExceeded:
        pass  # says nothing about the person
    return guess_bit(game, analyst, person)


ATTACKS = (
    Attack(
        name="auditing",
        title="The refusal that answers",
        wants="one person's bit, or the name of whoever earns most",
        sees="exact answers, and refusals of those that would give somebody away",
        lesson="Whoever refuses because of the data answers by refusing; and to decide exactly takes time that doubles with each person.",
        citation="NYU slides, Query auditing; Kleinberg, Papadimitriou, Raghavan 2003; Kenthapadi, Mishra, Nissim 2005",
        releases={
            "boolean-auditor": "exact sums of bits, refused where a bit would follow",
            "maximum-auditor": "exact maxima, refused where somebody's value would follow",
        },
        bound="a person's bit",
        small=Size(9, 40),
        full=Size(9, 700),
        play=play,
    ),
)
