"""An answer leaves when its class ends: nothing that can be seen before depends on how long the data was read, or how that went."""

import threading
import time

import pytest

from discreet.answering.leaving import Departure, class_of
from discreet.curator import Asking
from discreet.errors import Cancelled, EngineFailure
from discreet.mechanisms import Laplace
from discreet.samples import write_clinic
from tests.opening import open_curator


@pytest.mark.parametrize(
    ("seconds", "length"),
    [(0, 0.05), (0.05, 0.05), (0.051, 0.1), (1, 1.6), (25.7, 51.2), (51.3, 51.2), (1e9, 51.2)],
)
def test_a_class_is_the_first_doubling_with_room_and_never_beyond_the_limit(seconds, length):
    assert class_of(seconds, unit=0.05, most=60) == pytest.approx(length)


def test_who_misses_the_end_leaves_at_the_end_of_the_next_doubling():
    now = [100.0]
    departure = Departure(100.0, 0.4, lambda: now[0])
    for since, leaves in [(0, 0.4), (0.39, 0.4), (0.41, 0.8), (0.79, 0.8), (0.81, 1.6), (5, 6.4)]:
        now[0] = 100 + since
        assert departure.next() == pytest.approx(100 + leaves)


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

    label, seconds = "reads", 0.3

    def __init__(self, clock, seconds, *, fails=False, name="a"):
        self.clock, self.took, self.fails, self.digest = clock, seconds, fails, name
        self.releases = (Laplace(sensitivity=1, epsilon=0.01),)

    def read(self, _engine, _taken_back):
        self.clock.time += self.took
        if self.fails:
            raise ValueError("a cell")
        return 7

    def noisy(self, _exact, _bits):
        return b"noisy"


@pytest.fixture
def curator(tmp_path):
    with open_curator(write_clinic(tmp_path, patients=20, visits=50)) as made:
        yield made


def seen(curator, monkeypatch, *, took, taken_back=float("inf"), fails=False, name="a"):
    """Everything that can be seen of a question from outside, with the time at which it can be."""
    clock, events = Clock(), []
    pipeline, ledger = curator._pipeline, curator.ledger
    for method in ("finish", "freeze"):
        honest = getattr(ledger, method)

        def watched(*given, method=method, honest=honest, **named):
            events.append((method, clock.time))
            return honest(*given, **named)

        monkeypatch.setattr(ledger, method, watched)
    asking = Asking(
        lambda step: events.append((step, clock.time)),
        Noticed(clock, 1000 + taken_back),
        lambda seconds: Departure(1000.0, class_of(seconds, unit=0.05, most=60), clock),
    )
    try:
        pipeline.answer(Reads(clock, took, fails=fails, name=name), analyst="alice", asking=asking)
        events.append(("answer", clock.time))
    except EngineFailure as refusal:
        events.append((refusal.code, clock.time))
    monkeypatch.undo()
    return events


@pytest.mark.parametrize("took", [0.0, 0.001, 0.2, 0.399])
def test_an_answer_is_stored_and_leaves_when_its_class_ends_however_long_it_was_read(curator, monkeypatch, took):
    assert seen(curator, monkeypatch, took=took) == [
        ("planned", 1000.0), ("paid", 1000.0), ("finish", pytest.approx(1000.4)), ("answer", pytest.approx(1000.4)),
    ]  # fmt: skip


def test_a_failure_is_told_when_the_class_ends_and_not_before(curator, monkeypatch):
    for took in (0.0, 0.3):
        events = seen(curator, monkeypatch, took=took, fails=True, name=str(took))
        assert events[2:] == [("freeze", pytest.approx(1000.4)), ("engine-failure", pytest.approx(1000.4))]
        curator.ledger.freeze("alice", frozen=False)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("took", [0.0, 0.1, 0.249])
def test_a_question_that_is_taken_back_tells_nothing_of_its_reading(curator, monkeypatch, took, fails):
    """Whether the reading had ended by then, and whether it failed: the same events, at the same time; nothing stored, nobody frozen."""
    events = seen(curator, monkeypatch, took=took, taken_back=0.25, fails=fails)
    assert events[2:] == [("cancelled", pytest.approx(1000.25))]
    assert not curator.ledger.account("alice").frozen
    again = seen(curator, monkeypatch, took=0.0)
    assert [name for name, _ in again] == ["planned", "paid", "finish", "answer"]  # read anew: nothing was kept


def test_a_question_that_is_slower_than_its_class_leaves_a_doubling_later(curator, monkeypatch):
    assert seen(curator, monkeypatch, took=0.41)[2:] == [
        ("finish", pytest.approx(1000.8)), ("answer", pytest.approx(1000.8)),
    ]  # fmt: skip


def test_a_replayed_answer_need_not_wait(curator, monkeypatch):
    seen(curator, monkeypatch, took=0.1)
    assert seen(curator, monkeypatch, took=0.1)[2:] == [("answer", 1000.0)]


def test_a_question_that_is_taken_back_before_it_is_charged_costs_nothing(curator, monkeypatch):
    assert seen(curator, monkeypatch, took=0.1, taken_back=0.0) == [("planned", 1000.0), ("cancelled", 1000.0)]
    assert curator.ledger.account("alice").spent.epsilon == 0


def test_a_refusal_of_the_clock_comes_before_the_charge(curator):
    def refuse(_seconds):
        raise Cancelled("No time.", next_step="Wait.")

    with pytest.raises(Cancelled):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.1, analyst="alice", asking=Asking(leaving=refuse))
    assert curator.ledger.account("alice").spent.epsilon == 0


def test_whoever_waits_for_the_end_of_a_class_has_given_their_place_back(curator):
    """Three wait at the same time though two may read: no place is kept while waiting."""
    threads, paid = [], threading.Semaphore(0)
    begun = time.monotonic()

    def ask(number):
        curator.ask(
            f"SELECT COUNT(*) FROM visits WHERE cost > {number}",
            epsilon=0.01,
            analyst="alice",
            asking=Asking(lambda step: paid.release() if step == "paid" else None, leaving=lambda _: Departure(begun, 3, time.monotonic)),
        )  # fmt: skip

    for number in range(3):
        threads.append(threading.Thread(target=ask, args=(number,)))
        threads[-1].start()
    for _ in range(3):
        assert paid.acquire(timeout=20)
    deadline = time.monotonic() + 20
    while curator._pipeline._places._held and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not curator._pipeline._places._held
    for thread in threads:
        thread.join(60)
    assert time.monotonic() >= begun + 3
