"""Ledger race: many concurrent queries, each of which sees a budget that the others have not spent yet."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import numpy as np

from discreet.attacks.implementation.racer import Race, Racer, Reply, open_shared_ledger, run_race
from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.attack import Attack, Game, Outcome, Size, Tally
from discreet.attacks.lab.strategies import share
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.releases.racy_ledgers import CheckThenCharge, ReadCheckWrite


def play(game: Game) -> Outcome:
    """Each trial is one race for a budget of `cap` answers. It succeeds if more answers are given."""
    return _against_discreet(game) if game.is_discreet else _against_a_naive_ledger(game)


def _against_a_naive_ledger(game: Game) -> Outcome:
    threads, cap = int(game.options["threads"]), int(game.options["cap"])
    kind = {"read-check-write": ReadCheckWrite, "check-then-charge": CheckThenCharge}[game.against]
    tally, granted, charged, retry_answers = Tally(), [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in game.each_trial():
            ledger = kind(Path(folder) / f"{number}.sqlite", cap=cap, rng=game.rng)
            answers = _race_ledger(ledger, threads=threads, cap=cap)
            granted.append(len(answers))
            charged.append(ledger.spent())
            retry_answers.append(len({ledger.ask(answers[0][0]) for _ in range(5)}))
            steps = [
                Step("known", f"the budget is {cap} answers"),
                Step("asked", f"{threads} threads send queries at the same time until they are refused"),
                Step("answered", f"{granted[-1]} noisy answers; the ledger has {charged[-1]}"),
                Step("asked", "one of the answered requests again, 5 times, with the same id"),
                Step("answered", f"{retry_answers[-1]} different answers, none of them charged"),
                *_verdict(granted[-1], cap),
            ]
            tally.add(granted[-1] > cap, steps)
    details = {
        "cap": cap,
        "answers granted": _range(granted),
        "answers charged in the ledger": _range(charged),
        "different answers to one request, retried 5 times": _range(retry_answers),
    }
    return tally.outcome(baseline=0.0, details=details)


def _race_ledger(ledger: ReadCheckWrite, *, threads: int, cap: int) -> list[tuple[str, float]]:
    """Let every thread query until it is refused, or until it has used as many answers as the whole budget."""
    start, numbers = threading.Barrier(threads), count()

    def ask_until_refused(_: int) -> list[tuple[str, float]]:
        heard: list[tuple[str, float]] = []
        start.wait()
        while len(heard) < cap and (answer := ledger.ask(request := str(next(numbers)))) is not None:
            heard.append((request, answer))
        return heard

    with ThreadPoolExecutor(threads) as pool:
        return [one for some in pool.map(ask_until_refused, range(threads)) for one in some]


def _against_discreet(game: Game) -> Outcome:
    """Race for a ledger in a file with several curators, in threads and in separate processes.

    Every thread first sends the same request with the same id, then its own queries. Each distinct pair of a query and
    an answer counts as granted.
    """
    cap, processes = int(game.options["cap"]), int(game.options["processes"])
    tally, granted, charged, retry_answers = Tally(), [], [], []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        racers = [Racer() for _ in range(processes)]
        for racer in racers:
            stack.callback(racer.close)
        for number in game.each_trial():
            races = _plans(game, str(Path(folder) / f"{number}.sqlite"), parts=max(1, processes))
            asked, spent = _run(races, racers)
            answered = [one for one in asked if one.answer is not None]
            granted.append(len({(one.person, one.answer) for one in answered}))
            retry_answers.append(len({one.answer for one in answered if one.person == 0}))
            charged.append(spent / game.budget.epsilon * cap)
            steps = [
                Step("known", f"the budget is ε {game.budget.epsilon:g}: {cap} answers at ε {races[0].price:.6g}"),
                Step("asked", f"{len(asked)} queries at the same time, from threads of {_processes(processes)}"),
                Step("answered", f"{granted[-1]} different answers, {len(asked) - len(answered)} refusals"),
                Step(
                    "note",
                    f"one request sent by every thread has {retry_answers[-1]} answer(s); "
                    f"the ledger has {charged[-1]:.6g} in all",
                ),
                *_verdict(granted[-1], cap),
            ]
            tally.add(granted[-1] > cap, steps)
    details = {
        "cap": cap,
        "answers granted": _range(granted),
        "answers charged in the ledger": _range([round(one, 6) for one in charged]),
        "different answers to one request, sent by every thread": _range(retry_answers),
    }
    return tally.outcome(baseline=0.0, bound=game.bound(success_bounds.nothing), details=details)


def _plans(game: Game, ledger: str, *, parts: int) -> list[Race]:
    """Plan the threads of each process: the shared request, then twice as many queries as the budget allows."""
    cap, threads = int(game.options["cap"]), int(game.options["threads"])
    own = 2 * cap // threads + 1
    lists = [
        [(0, "shared"), *((person, f"own-{person}") for person in range(1 + own * thread, 1 + own * (thread + 1)))]
        for thread in range(threads)
    ]
    people, price = max(game.people, 1 + own * threads), share(game.budget.epsilon, cap)
    return [Race(ledger, people, game.budget.epsilon, price, lists[part::parts]) for part in range(parts)]


def _run(races: Sequence[Race], racers: Sequence[Racer]) -> tuple[list[Reply], float]:
    """Run the races, and return all replies and the epsilon spent according to the ledger."""
    with open_shared_ledger(races[0]) as curator:
        if not racers:
            asked = [one for race in races for one in run_race(curator, race)]
        else:
            for racer, race in zip(racers, races, strict=True):
                racer.prepare(race)
            for racer in racers:
                racer.go()
            asked = [one for racer in racers for one in racer.result()]
        return asked, curator.ledger.account().spent.epsilon


def _processes(many: int) -> str:
    return f"{many} processes" if many > 1 else "one process"


def _verdict(granted: int, cap: int) -> list[Step]:
    return [
        Step("guess", f"more than {cap} answers are given"),
        Step(
            "truth",
            f"{granted} were given" + (": the budget is exceeded" if granted > cap else ": the budget holds"),
        ),
    ]


def _range(numbers: Sequence[float]) -> str:
    low, high = np.min(numbers), np.max(numbers)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


ATTACKS = (
    Attack(
        name="ledger-race",
        title="Spending the same budget twice",
        wants="more answers than the budget allows",
        sees="answers and refusals to many concurrent queries, and to requests sent again",
        lesson=(
            "A budget that is first read and later written can be exceeded. Checking and charging must be one atomic "
            "step, before the answer."
        ),
        citation=(
            "Chicago slides, In practice, systems must manage a privacy budget; time-of-check to time-of-use, McPhee "
            "1974"
        ),
        releases={
            "read-check-write": "reads what is spent, checks it, answers, and writes the new total",
            "check-then-charge": "checks what is spent, answers, and then adds the charge in one step",
        },
        bound="zero: no race may be won",
        small=Size(50, 3),
        full=Size(50, 20),
        play=play,
        measure="races won",
        options={"cap": 10, "threads": 8, "processes": 2},
    ),
)
