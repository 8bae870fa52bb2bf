"""What is shown to everybody: made once for all who ask, never older than what they know, and a failure is nobody's for long."""

import asyncio

import pytest

from discreet.server.http import cached_response
from discreet.server.http.cached_response import CachedResponse


@pytest.fixture(autouse=True)
def _long(monkeypatch):
    monkeypatch.setattr(cached_response, "_MAX_AGE", 3600.0)


class Rendering:
    mark = calls = 0

    def __call__(self):
        self.calls += 1
        return b"%d" % self.mark


def test_many_requests_share_one_rendering_until_the_version_changes():
    make = Rendering()

    async def requests():
        card = CachedResponse(make, version=lambda: make.mark)
        assert set(await asyncio.gather(*(card.content() for _ in range(100)))) == {b"0"}
        assert await card.content() == b"0"
        make.mark = 1
        assert set(await asyncio.gather(*(card.content() for _ in range(100)))) == {b"1"}

    asyncio.run(requests())
    assert make.calls == 2


def test_a_version_that_always_changes_is_rendered_a_few_times_a_second_and_every_request_ends(monkeypatch):
    monkeypatch.setattr(cached_response, "_PAUSE", 0.05)
    make, marks = Rendering(), iter(range(10**9))

    async def requests():
        card = CachedResponse(make, version=lambda: next(marks))
        began = asyncio.get_running_loop().time()
        for _ in range(5):
            await asyncio.gather(*(card.content() for _ in range(100)))
        return asyncio.get_running_loop().time() - began

    took = asyncio.run(requests())
    assert make.calls <= 1 + took / 0.05


def test_a_request_after_a_failed_rendering_gets_the_next_one(monkeypatch):
    outcomes = [OSError(), b"fine"]

    def make():
        outcome = outcomes.pop(0)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    async def requests():
        card = CachedResponse(make, version=lambda: 1)
        with pytest.raises(OSError):
            await card.content()
        return await card.content()

    assert asyncio.run(requests()) == b"fine"
