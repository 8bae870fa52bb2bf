"""Slots are handed out in turn: a caller that asks for all of them gets its share."""

import threading
import time

import pytest

from discreet.concurrency.fair_semaphore import FairSemaphore


class Crowd:
    """Threads that take a place each, note it, and keep it until they are told to go."""

    def __init__(self, places):
        self.places, self.threads = places, []
        self.came, self.lock = [], threading.Lock()
        self.may_go = {}

    def ask(self, who, name, *, is_long=False, is_taken_back=False):
        event = self.may_go.setdefault(name, threading.Event())
        cancelled = threading.Event()
        if is_taken_back:
            cancelled.set()

        def work():
            with self.places.slot(who, cancelled=cancelled, is_long=is_long):
                with self.lock:
                    self.came.append(name)
                event.wait(30)

        thread = threading.Thread(target=work)
        thread.start()
        self.threads.append(thread)
        return cancelled

    def after(self, count):
        """Who has come, in order, when so many have."""
        deadline = time.monotonic() + 20
        while len(self.came) < count and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.03)
        with self.lock:
            return list(self.came)

    def go(self, name):
        self.may_go[name].set()

    def end(self):
        for event in self.may_go.values():
            event.set()
        for thread in self.threads:
            thread.join(20)
            assert not thread.is_alive()


@pytest.fixture
def crowd(request):
    made = Crowd(FairSemaphore(**request.param))
    yield made
    made.end()
    assert not made.places._held
    assert not made.places._waiting
    assert made.places._long_held == 0


with_places = pytest.mark.parametrize("crowd", [{"slots": 3, "each": 2, "long": 2}], indirect=True)


@with_places
def test_nobody_has_more_than_their_share_and_there_are_no_more_than_there_are(crowd):
    for number in range(3):
        crowd.ask("alice", f"alice {number}")
        crowd.after(min(2, number + 1))
    assert crowd.after(2) == ["alice 0", "alice 1"]
    crowd.ask("bob", "bob 0")
    crowd.after(3)
    crowd.ask("carol", "carol 0")
    assert crowd.after(3) == ["alice 0", "alice 1", "bob 0"]
    crowd.go("bob 0")
    assert crowd.after(4)[3] == "carol 0"


@pytest.mark.parametrize("crowd", [{"slots": 1, "each": 1, "long": 1}], indirect=True)
def test_a_hundred_questions_of_one_are_one_turn_each_time_round(crowd):
    crowd.ask("alice", "first")
    crowd.after(1)
    for number in range(5):
        crowd.ask("alice", f"alice {number}")
        time.sleep(0.01)
    for name in ("bob", "carol"):
        crowd.ask(name, name)
        time.sleep(0.01)
    crowd.go("first")
    for count, leaves in enumerate(["alice 0", "bob", "carol", "alice 1"], start=2):
        assert crowd.after(count)[-1] == leaves
        crowd.go(leaves)


@with_places
def test_what_is_long_leaves_a_place_for_what_is_short(crowd):
    crowd.ask("alice", "alice", is_long=True)
    crowd.ask("bob", "bob", is_long=True)
    crowd.after(2)
    crowd.ask("carol", "long", is_long=True)
    crowd.ask("carol", "short")
    assert crowd.after(3)[2:] == ["short"]
    crowd.go("alice")
    assert crowd.after(4)[3:] == ["long"]


@with_places
def test_who_takes_a_question_back_waits_no_longer_and_has_no_place(crowd):
    for number in range(2):
        crowd.ask("alice", f"alice {number}")
    crowd.after(2)
    third = crowd.ask("alice", "third")
    assert "third" not in crowd.after(2)
    crowd.places.cancel(threading.Event())
    assert "third" not in crowd.after(2)
    crowd.places.cancel(third)
    assert crowd.after(3)[2] == "third"
    assert crowd.places._held["alice"] == 2
    crowd.ask("alice", "fourth", is_taken_back=True)
    assert crowd.after(4)[3] == "fourth"
