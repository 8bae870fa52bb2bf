"""Group commit: many who wait are written in one commit, a refusal among them is its own, and a death takes all or nothing."""

import os
import signal
import threading
import time

import pytest

from discreet.accounting import open_filter
from discreet.errors import BudgetExceeded, LedgerDamaged, NoAnchor, StoreUnavailable
from discreet.ledger import Request, verify
from tests.ledger.asking import PRICE, a_ledger, a_request, in_child, open_ledger, output_of

WAITING = 12


class Held:
    """A ledger whose first writer is held inside its transaction until everybody else is waiting."""

    def __init__(self, ledger):
        self.ledger, self.commits = ledger, 0
        self._first = threading.Event()
        together, write = ledger.writer._together, ledger.writer._together._write

        def held(batch):
            if not self._first.is_set():
                self._first.set()
                while len(together._waiting) < WAITING:
                    threading.Event().wait(0.001)
            self.commits += 1
            write(batch)

        together._write = held

    def charge_at_once(self, numbers):
        """Each number, or request, by a thread of its own, the first of them held; what became of each."""
        outcomes = {}

        def charge(number):
            try:
                outcomes[number] = self.ledger.reserve(
                    number if isinstance(number, Request) else a_request(number)
                ).charged
            except Exception as error:  # noqa: BLE001
                outcomes[number] = type(error)

        threads = [threading.Thread(target=charge, args=(number,)) for number in numbers]
        threads[0].start()
        self._first.wait(10)
        for thread in threads[1:]:
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes


def test_charges_that_wait_are_written_in_one_commit(where):
    held = Held(a_ledger(where))
    outcomes = held.charge_at_once(range(WAITING + 1))
    assert held.commits == 2
    assert set(outcomes.values()) == {("dataset", "analyst:alice")}
    assert held.ledger.account().spent.epsilon == pytest.approx((WAITING + 1) * PRICE)
    assert verify(held.ledger).sound


def test_a_refusal_among_them_takes_back_its_own_and_nothing_else(where):
    cap = 5
    held = Held(a_ledger(where, cap=cap * PRICE))
    outcomes = list(held.charge_at_once(range(WAITING + 1)).values())
    assert held.commits == 2
    assert outcomes.count(BudgetExceeded) == WAITING + 1 - cap
    assert outcomes.count(("dataset", "analyst:alice")) == cap
    assert held.ledger.account().spent.epsilon == pytest.approx(cap * PRICE)
    assert [entry.kind for entry in held.ledger.history()].count("charge") == cap
    assert verify(held.ledger).sound


def test_a_job_that_is_refused_half_way_takes_back_all_that_it_wrote_and_nothing_of_others(where):
    ledger = a_ledger(where, analysts=("alice", "bob"))
    held, tried = Held(ledger), []

    def refused(step):
        """Of the jobs in the second commit the third, after all that it writes was written."""
        tried.append(step)
        if step == "reserve: written" and tried.count(step) == 4:
            raise BudgetExceeded("Half-way.", next_step="Never.")

    ledger._step = refused
    outcomes = list(held.charge_at_once(range(WAITING + 1)).values())
    assert outcomes.count(BudgetExceeded) == 1
    assert outcomes.count(("dataset", "analyst:alice")) == WAITING
    assert tried.count("reserve: written") == 4 + WAITING - 1, "the others were not run once more"
    assert ledger.account().spent.epsilon == pytest.approx(WAITING * PRICE)
    assert [entry.kind for entry in ledger.history()].count("charge") == WAITING
    assert verify(ledger).sound


def test_a_refusal_for_which_rows_of_others_were_written_runs_nobody_once_more(where):
    ledger, steps = a_ledger(where, analysts=("alice", "bob")), []
    ledger.open_account(open_filter(PRICE / 2), analyst="bob")
    ledger._step = steps.append
    same = [a_request(1, analyst=who, request_id=f"{who}-{n}") for n in range(WAITING // 2) for who in ("alice", "bob")]
    outcomes = Held(ledger).charge_at_once([0, *same]).values()
    assert list(outcomes).count(BudgetExceeded) == WAITING // 2
    assert steps.count("reserve: written") == 1 + WAITING // 2
    assert verify(ledger).sound


def test_two_who_wait_with_the_same_question_pay_the_dataset_once(where):
    ledger = a_ledger(where, analysts=("alice", "bob"))
    held = Held(ledger)
    outcomes = held.charge_at_once(
        [0, *(a_request(1, analyst=who, request_id=f"{who}-{n}") for n in range(6) for who in ("alice", "bob"))]
    )
    paid = sorted(charged for request, charged in outcomes.items() if request != 0 and charged)
    assert [len(charged) for charged in paid] in ([1, 2], [2, 1])
    assert held.commits == 2
    assert ledger.account().spent.epsilon == pytest.approx(2 * PRICE)
    assert verify(ledger).sound


def test_a_commit_that_fails_fails_all_of_them_by_name_and_charges_nobody(where):
    ledger = a_ledger(where)
    held, real = Held(ledger), ledger._store.errors()[0]

    def full_disk(t):
        raise real("disk full: 41873")

    ledger.writer._together._end = full_disk
    assert set(held.charge_at_once(range(WAITING + 1)).values()) == {StoreUnavailable}
    ledger.close()
    again = open_ledger(where)
    assert again.account().spent.epsilon == 0
    assert verify(again).sound


def test_a_note_that_is_gone_fails_all_of_them_before_anything_is_charged(where, tmp_path):
    ledger = a_ledger(where, anchor=tmp_path / "anchor")
    (tmp_path / "anchor").unlink()
    assert set(Held(ledger).charge_at_once(range(WAITING + 1)).values()) == {NoAnchor}
    assert ledger.account().spent.epsilon == 0
    assert verify(ledger).sound


def test_edited_totals_are_noticed_by_every_job_of_a_commit(where):
    ledger = a_ledger(where)
    with ledger._store.transaction() as t:
        t.run("UPDATE ledger_accounts SET epsilon = '9' WHERE name = 'dataset'")
    assert set(Held(ledger).charge_at_once(range(WAITING + 1)).values()) == {LedgerDamaged}


@pytest.mark.parametrize("jobs", [1, 3, WAITING])
def test_a_death_between_the_jobs_and_their_commit_charges_nobody(where, jobs):
    a_ledger(where).close()

    def work(write):
        written = []

        def dies(step):
            written.append(step)
            if written.count("reserve: written") == 1 + jobs:  # the held one was committed before
                os._exit(137)

        Held(open_ledger(where, on_step=dies)).charge_at_once(range(WAITING + 1))
        write(b"alive")

    assert output_of(*in_child(work)) == b""
    ledger = open_ledger(where)
    assert ledger.account().spent.epsilon == pytest.approx(PRICE)
    assert verify(ledger).sound
    assert ledger.reserve(a_request(2)).charged


def test_an_interrupt_in_one_thread_does_not_leave_the_others_waiting(where):
    class Interrupted(BaseException):
        pass

    def interrupt(step):
        if step == "reserve: written":
            raise Interrupted

    ledger = a_ledger(where)
    ledger._step = interrupt
    with pytest.raises(Interrupted):
        ledger.reserve(a_request(1))
    ledger._step = lambda _: None
    assert ledger.reserve(a_request(1)).charged
    assert verify(ledger).sound


@pytest.fixture
def interrupting():
    """Interrupts the main thread once, wherever it waits: called until it was heard, since a signal just before a wait does not end it."""
    heard = threading.Event()

    def interrupted(*_):
        if not heard.is_set():
            heard.set()
            raise KeyboardInterrupt

    def interrupt_when(is_time):
        while not is_time():
            time.sleep(0.001)
        while not heard.is_set():
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            time.sleep(0.02)

    before = signal.signal(signal.SIGINT, interrupted)
    yield interrupt_when
    heard.set()
    signal.signal(signal.SIGINT, before)


def test_who_is_interrupted_while_waiting_is_not_charged_and_keeps_nobody_waiting(where, interrupting):
    ledger, begun, go_on = a_ledger(where), threading.Event(), threading.Event()
    together, outcomes = ledger.writer._together, {}

    def held(step):
        if step == "reserve: begun" and not begun.is_set():
            begun.set()
            go_on.wait(300)

    def charge(number):
        outcomes[number] = ledger.reserve(a_request(number)).charged

    ledger._step = held
    first = threading.Thread(target=charge, args=(1,))
    first.start()
    begun.wait(300)
    interrupter = threading.Thread(target=interrupting, args=(lambda: bool(together._waiting),))
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        ledger.reserve(a_request(2))
    interrupter.join()
    third = threading.Thread(target=charge, args=(3,))
    third.start()
    go_on.set()
    first.join()
    third.join()
    assert set(outcomes) == {1, 3}
    assert ledger.account().spent.epsilon == pytest.approx(2 * PRICE)
    assert verify(ledger).sound
