"""Many at once: exactly what the cap allows is granted, and one request id has one answer."""

import random
import threading

import pytest

from discreet.errors import BudgetExceeded
from discreet.ledger import verify
from tests.ledger.asking import PRICE, a_ledger, a_request, ask, in_child, open_ledger, output_of

pytestmark = pytest.mark.slow

PROCESSES, THREADS, UNITS = 2, 64, 100


def race(where, *, requests):
    """`requests` distinct questions from 64 threads in 2 processes; how many were granted."""
    a_ledger(where, cap=UNITS * PRICE).close()
    share = requests // PROCESSES

    def process(number):
        def work(write):
            ledger = open_ledger(where)
            mine = list(range(number * share, (number + 1) * share))
            random.Random(number).shuffle(mine)
            lock = threading.Lock()

            def thread():
                while True:
                    with lock:
                        if not mine:
                            return
                        query = mine.pop()
                    try:
                        ask(ledger, a_request(query))
                        write(b"g")
                    except BudgetExceeded:
                        write(b".")

            threads = [threading.Thread(target=thread) for _ in range(THREADS // PROCESSES)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()

        return in_child(work)

    children = [process(number) for number in range(PROCESSES)]
    written = b"".join(output_of(*child) for child in children)
    assert len(written) == requests
    return written.count(b"g")


@pytest.mark.parametrize("repeat", range(2))  # `make soak` does twenty
def test_two_processes_of_64_threads_are_granted_exactly_the_cap(where, repeat):
    assert race(where, requests=2000) == UNITS
    ledger = open_ledger(where)
    assert ledger.account().spent.epsilon == UNITS * PRICE
    assert verify(ledger).sound


def test_fifty_clients_with_one_request_id_get_one_answer_for_one_charge(where):
    a_ledger(where).close()

    def work(write):
        ledger = open_ledger(where)
        threads = [threading.Thread(target=lambda: write(ask(ledger, a_request(1)))) for _ in range(25)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    written = b"".join(output_of(*child) for child in [in_child(work) for _ in range(2)])
    answers = {written[i : i + 16] for i in range(0, len(written), 16)}
    assert len(written) == 50 * 16
    assert len(answers) == 1
    ledger = open_ledger(where)
    assert ledger.account().spent.epsilon == PRICE
    assert [entry.kind for entry in ledger.history()].count("charge") == 1
