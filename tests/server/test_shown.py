"""What is shown to everybody: made once for all who ask, never older than what they know, and a failure is nobody's for long."""

import asyncio

import pytest

from discreet.server.http import cached_response
from discreet.server.http.cached_response import Shown


@pytest.fixture(autouse=True)
def _long(monkeypatch):
    monkeypatch.setattr(cached_response, "_LASTS", 3600.0)


class Making:
    mark = calls = 0

    def __call__(self):
        self.calls += 1
        return b"%d" % self.mark


def test_a_crowd_has_it_made_once_and_again_when_something_changed():
    make = Making()

    async def crowd():
        card = Shown(make, mark=lambda: make.mark)
        assert set(await asyncio.gather(*(card.content() for _ in range(100)))) == {b"0"}
        assert await card.content() == b"0"
        make.mark = 1
        assert set(await asyncio.gather(*(card.content() for _ in range(100)))) == {b"1"}

    asyncio.run(crowd())
    assert make.calls == 2


def test_what_changes_all_the_time_is_made_a_few_times_a_second_and_nobody_waits_for_an_end(monkeypatch):
    monkeypatch.setattr(cached_response, "_PAUSE", 0.05)
    make, marks = Making(), iter(range(10**9))

    async def crowd():
        card = Shown(make, mark=lambda: next(marks))
        began = asyncio.get_running_loop().time()
        for _ in range(5):
            await asyncio.gather(*(card.content() for _ in range(100)))
        return asyncio.get_running_loop().time() - began

    took = asyncio.run(crowd())
    assert make.calls <= 1 + took / 0.05


def test_who_comes_after_a_failure_is_shown_what_there_is(monkeypatch):
    outcomes = [OSError(), b"fine"]

    def make():
        outcome = outcomes.pop(0)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    async def crowd():
        card = Shown(make, mark=lambda: 1)
        with pytest.raises(OSError):
            await card.content()
        return await card.content()

    assert asyncio.run(crowd()) == b"fine"
