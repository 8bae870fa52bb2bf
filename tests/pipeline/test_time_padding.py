"""An answer leaves when its class ends: nothing that can be seen before depends on how long the data was read, or how that went."""

import threading
import time

import pytest

from discreet.errors import (
    AccountFrozen,
    Cancelled,
    DiscreetError,
    LedgerDamaged,
    RunChanged,
    StoreUnavailable,
    UnknownAccount,
)
from discreet.mechanisms import Laplace
from discreet.pipeline.call import Call
from discreet.pipeline.time_padding import ReturnSchedule, bucket_for
from discreet.samples import write_clinic
from tests.support.opening import open_curator


@pytest.mark.parametrize(
    ("seconds", "length"),
    [(0, 0.05), (0.05, 0.05), (0.051, 0.1), (1, 1.6), (25.7, 51.2), (51.3, 51.2), (1e9, 51.2)],
)
def test_a_class_is_the_first_doubling_with_room_and_never_beyond_the_limit(seconds, length):
    assert bucket_for(seconds, shortest=0.05, longest=60) == pytest.approx(length)


def test_who_misses_the_end_leaves_at_the_end_of_the_next_doubling():
    now = [100.0]
    schedule = ReturnSchedule(100.0, 0.4, 0.3, lambda: now[0])
    for since, leaves in [(0, 0.4), (0.39, 0.4), (0.41, 0.8), (0.79, 0.8), (0.81, 1.6), (5, 6.4)]:
        assert schedule.return_time(100 + since) == pytest.approx(100 + leaves)
        assert schedule.return_time(schedule.return_time(100 + since)) == schedule.return_time(100 + since)


def test_a_place_is_free_after_the_seconds_that_were_expected_or_when_an_answer_that_is_later_leaves():
    now = [100.0]
    schedule = ReturnSchedule(100.0, 0.4, 0.2, lambda: now[0])
    for since, ends in [(0.05, 0.25), (0.1, 0.25), (0.24, 0.25), (0.26, 0.4), (0.41, 0.45), (0.46, 0.85)]:
        now[0] = 100 + since
        assert schedule.slot_release_time(100.05) == pytest.approx(100 + ends)


def test_what_was_waited_for_a_place_does_not_lengthen_how_long_it_is_kept():
    now = [150.0]
    schedule = ReturnSchedule(100.0, 0.4, 0.2, lambda: now[0])
    for since, ends in [(0.1, 0.2), (0.3, 0.4), (0.5, 0.8)]:
        now[0] = 150 + since
        assert schedule.slot_release_time(150.0) == pytest.approx(150 + ends)


class Clock:
    """Time passes when somebody reads or waits, and only then."""

    def __init__(self):
        self.time = 1000.0

    def __call__(self):
        return self.time


class Noticed(threading.Event):
    """Waiting is instant; `at` is when somebody takes the question back, by the clock."""

    def __init__(self, clock, at=float("inf")):
        super().__init__()
        self.clock, self.at = clock, at

    def is_set(self):
        return self.clock.time >= self.at

    def wait(self, timeout=None):
        self.clock.time = min(self.clock.time + timeout, max(self.at, self.clock.time))
        return self.is_set()


class Reads:
    """Something to release whose reading takes `seconds`, whatever it was expected to take, and may fail."""

    label, name, seconds, queries, edges_of = "reads", None, 0.3, (), None

    def __init__(self, clock, seconds, *, fails=None, name="a"):
        self.clock, self.took, self.fails, self.digest = clock, seconds, fails, name
        self.releases = (Laplace(sensitivity=1, epsilon=0.01),)

    def compute(self, _resources):
        self.clock.time += self.took
        if self.fails:
            raise self.fails
        return b"noisy"


@pytest.fixture
def curator(tmp_path):
    with open_curator(write_clinic(tmp_path, patients=20, visits=50)) as made:
        yield made


NEVER = float("inf")
A_CELL = ValueError("a cell")


def seen(curator, monkeypatch, *, took, cancelled=NEVER, stopped=NEVER, fails=None, name="a"):
    """Everything that can be seen of a question from outside, with the time at which it can be."""
    clock, events = Clock(), []
    pipeline, ledger = curator._pipeline, curator.ledger
    for room, method in ((ledger, "finish"), (ledger, "freeze"), (pipeline._read_slots, "_release")):
        honest = getattr(room, method)

        def watched(*given, method=method, honest=honest, **named):
            events.append((method.replace("_release", "free"), clock.time))
            return honest(*given, **named)

        monkeypatch.setattr(room, method, watched)
    call = Call(
        analyst="alice",
        on_step=lambda step: events.append((step, clock.time)),
        cancelled=Noticed(clock, 1000 + cancelled),
        stopped=Noticed(clock, 1000 + stopped),
        schedule_return=lambda seconds: ReturnSchedule(
            1000.0, bucket_for(seconds, shortest=0.05, longest=60), seconds, clock
        ),
    )
    try:
        pipeline.run(Reads(clock, took, fails=fails, name=name), call)
        events.append(("answer", clock.time))
    except DiscreetError as refusal:
        events.append((refusal.code, clock.time))
    monkeypatch.undo()
    return events


FREE = ("free", pytest.approx(1000.3))
"""A place is given back when the seconds that were expected are over, however long it was read."""
STORED = [("finish", pytest.approx(1000.4)), ("answer", pytest.approx(1000.4))]
FAILED = [("freeze", pytest.approx(1000.4)), ("engine-failure", pytest.approx(1000.4))]


@pytest.mark.parametrize("took", [0.0, 0.001, 0.2, 0.299])
def test_an_answer_is_stored_and_leaves_when_its_class_ends_however_long_it_was_read(curator, monkeypatch, took):
    assert seen(curator, monkeypatch, took=took) == [("planned", 1000.0), ("paid", 1000.0), FREE, *STORED]


def test_what_is_read_for_longer_than_expected_keeps_its_place_until_it_leaves(curator, monkeypatch):
    assert seen(curator, monkeypatch, took=0.301)[2:] == [("free", pytest.approx(1000.4)), *STORED]


def test_a_failure_is_told_when_the_class_ends_and_not_before(curator, monkeypatch):
    for took in (0.0, 0.29):
        events = seen(curator, monkeypatch, took=took, fails=A_CELL, name=str(took))
        assert events[2:] == [FREE, *FAILED]
        curator.ledger.freeze("alice", frozen=False)


@pytest.mark.parametrize("cancelled", [0.001, 0.25])
@pytest.mark.parametrize("took", [0.0, 0.1, 0.249, 0.299])
def test_what_is_paid_for_is_stored_when_its_class_ends_whether_or_not_it_is_taken_back(
    curator, monkeypatch, took, cancelled
):
    """Else whoever takes questions back and asks them again has the data read as often as they like, for one price."""
    events = seen(curator, monkeypatch, took=took, cancelled=cancelled)
    assert events[2:] == [FREE, *STORED]
    again = seen(curator, monkeypatch, took=0.0)
    assert [name for name, _ in again] == ["planned", "asked before", "answer"]  # nothing is read anew


@pytest.mark.parametrize("refused", [AccountFrozen, LedgerDamaged, RunChanged, StoreUnavailable, UnknownAccount])
@pytest.mark.parametrize("took", [0.0, 0.29])
def test_what_the_books_refuse_in_mid_run_is_told_when_the_class_ends_too(curator, monkeypatch, took, refused):
    """Else a steward who freezes an analyst between two looks hears when the first of them was taken."""
    events = seen(curator, monkeypatch, took=took, fails=refused("It is refused.", next_step="Ask the owner."))
    assert events[2:] == [FREE, (refused.code, pytest.approx(1000.4))]
    assert not curator.ledger.account("alice").frozen


def test_taking_back_hides_no_failure(curator, monkeypatch):
    events = seen(curator, monkeypatch, took=0.1, cancelled=0.2, fails=A_CELL)
    assert events[2:] == [FREE, *FAILED]


@pytest.mark.parametrize("fails", [None, A_CELL])
def test_a_curator_who_goes_away_waits_for_nothing_and_stores_nothing(curator, monkeypatch, fails):
    assert seen(curator, monkeypatch, took=0.1, stopped=0.25, fails=fails)[3:] == [("cancelled", pytest.approx(1000.25))]  # fmt: skip
    assert not curator.ledger.account("alice").frozen


def test_a_question_that_is_slower_than_its_class_leaves_a_doubling_later(curator, monkeypatch):
    assert seen(curator, monkeypatch, took=0.41)[2:] == [
        ("free", pytest.approx(1000.8)), ("finish", pytest.approx(1000.8)), ("answer", pytest.approx(1000.8)),
    ]  # fmt: skip


def test_a_replayed_answer_need_not_wait(curator, monkeypatch):
    seen(curator, monkeypatch, took=0.1)
    assert seen(curator, monkeypatch, took=0.1)[2:] == [("answer", 1000.0)]


def test_a_question_that_is_taken_back_before_it_is_charged_costs_nothing(curator, monkeypatch):
    assert seen(curator, monkeypatch, took=0.1, cancelled=0.0) == [("planned", 1000.0), ("cancelled", 1000.0)]
    assert curator.ledger.account("alice").spent.epsilon == 0


def test_a_refusal_of_the_clock_comes_before_the_charge(curator):
    def refuse(_seconds):
        raise Cancelled("No time.", next_step="Wait.")

    with pytest.raises(Cancelled):
        curator.with_call(Call(analyst="alice", schedule_return=refuse)).ask("SELECT COUNT(*) FROM visits", epsilon=0.1)
    assert curator.ledger.account("alice").spent.epsilon == 0


def test_whoever_waits_for_the_end_of_a_class_has_given_their_place_back(curator):
    """Three wait at the same time though two may read: a place is kept for the seconds of a reading, and not until the class ends."""
    threads, paid = [], threading.Semaphore(0)
    begun = time.monotonic()

    def ask(number):
        call = Call(
            analyst="alice",
            on_step=lambda step: paid.release() if step == "paid" else None,
            schedule_return=lambda _: ReturnSchedule(begun, 3, 0.1, time.monotonic),
        )
        curator.with_call(call).ask(f"SELECT COUNT(*) FROM visits WHERE cost > {number}", epsilon=0.01)

    for number in range(3):
        threads.append(threading.Thread(target=ask, args=(number,)))
        threads[-1].start()
    for _ in range(3):
        assert paid.acquire(timeout=20)
    deadline = time.monotonic() + 20
    while curator._pipeline._read_slots._held and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not curator._pipeline._read_slots._held
    for thread in threads:
        thread.join(60)
    assert time.monotonic() >= begun + 3
