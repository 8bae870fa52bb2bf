"""Processes that die anywhere: what any client saw is in the books."""

import os
import random
import select
import signal
import struct
import threading
import time

import pytest

from discreet.ledger import verify
from tests.ledger.asking import PRICE, a_ledger, a_request, ask, in_child, open_ledger, output_of

pytestmark = pytest.mark.slow

STEPS = [
    "reserve: begun",
    "reserve: checked",
    "reserve: written",
    "reserve: committed",
    "finish: begun",
    "finish: written",
    "finish: committed",
]
RECORD = struct.Struct("<I16s")


def seen_by_clients(written):
    """Whole records only: a client that was cut off saw nothing."""
    return [RECORD.unpack_from(written, i) for i in range(0, len(written) - RECORD.size + 1, RECORD.size)]


def check_books(ledger, seen):
    """The spend covers every answer seen; every answer seen is the one stored; the chain is sound."""
    queries = {number for number, _ in seen}
    assert ledger.account().spent.epsilon >= len(queries) * PRICE * (1 - 1e-12)
    assert ledger.account("alice").spent.epsilon == ledger.account().spent.epsilon
    for number, answer in seen:
        assert ledger.reserve(a_request(number)).answer == answer
    assert verify(ledger).sound


def test_the_labelled_points_are_all_there(where):
    passed = []
    ask(a_ledger(where, on_step=passed.append), a_request(1))
    assert passed == STEPS


def exit_at(step, where, *, exits):
    """So many processes that leave at this step, each with another question; then the same questions, to their end."""
    a_ledger(where, cap=10**6).close()
    seen = []
    for number in range(exits):

        def work(write, number=number):
            ledger = open_ledger(where, on_step=lambda passed: os._exit(137) if passed == step else None)
            answer = ask(ledger, a_request(number))
            write(RECORD.pack(number, answer))

        seen += seen_by_clients(output_of(*in_child(work)))
    assert seen == []  # every one of them died on the way
    ledger = open_ledger(where)
    committed = step in STEPS[3:]
    assert ledger.account().spent.epsilon == pytest.approx(exits * PRICE if committed else 0)
    answers = [ask(ledger, a_request(number)) for number in range(exits)]  # the retry: same id, nothing more to pay
    assert ledger.account().spent.epsilon == pytest.approx(exits * PRICE)
    check_books(ledger, list(enumerate(answers)))


@pytest.mark.parametrize("step", STEPS)
def test_an_exit_at_a_labelled_point_never_under_counts(where, step):
    exit_at(step, where, exits=4)  # `make soak` does twenty of each


def kill_under_load(where, *, kills, seed):
    """Processes of four threads that ask without end, killed at random times; all that their clients saw."""
    a_ledger(where, cap=10**6).close()
    rng, seen = random.Random(seed), []
    for kill in range(kills):

        def work(write, kill=kill):
            ledger = open_ledger(where)

            def client(thread):
                for i in range(10**6):
                    number = kill * 10**5 + thread * 10**4 + i // 2  # every question is asked twice, with one id
                    write(RECORD.pack(number, ask(ledger, a_request(number))))

            for thread in range(4):
                threading.Thread(target=client, args=(thread,), daemon=True).start()
            time.sleep(60)

        child, reader = in_child(work)
        if kill % 2:  # every other one only once somebody has an answer, however slow the machine is
            select.select([reader], [], [], 30)
        time.sleep(rng.uniform(0.0, 0.08))
        os.kill(child, signal.SIGKILL)
        seen += seen_by_clients(output_of(child, reader))
    return seen


def test_kill_9_under_load_never_under_counts(where):
    seen = kill_under_load(where, kills=8, seed=7)  # `make soak` does two hundred
    assert len(seen) >= 4
    check_books(open_ledger(where), seen)
