"""Health: what the last look showed, and nobody waits for the next one."""

import asyncio
import threading
import time

import pytest

from discreet.errors import StoreUnavailable
from discreet.server.jobs import health
from discreet.server.jobs.health import Health


class Books:
    """Writable or not; or they do not answer at all until `go_on`."""

    def __init__(self):
        self.writable, self.go_on = True, threading.Event()
        self.go_on.set()

    def look(self):
        self.go_on.wait(30)
        if not self.writable:
            raise StoreUnavailable("Full.", next_step="Make room.")


@pytest.fixture
def books(monkeypatch):
    monkeypatch.setattr(health, "_EVERY", 0.01)
    monkeypatch.setattr(health, "_STALE", 0.3)
    made = Books()
    yield made
    made.go_on.set()


async def is_well(watched):
    try:
        await watched.check()
    except StoreUnavailable:
        return False
    return True


def test_books_that_cannot_be_written_are_told_and_so_is_that_they_can_again(books):
    async def scenario():
        watched = Health(books.look)
        assert await is_well(watched)
        for writable in (False, True):
            books.writable = writable
            await asyncio.sleep(0.2)
            assert await is_well(watched) is writable

    asyncio.run(scenario())


def test_books_that_do_not_answer_keep_nobody_waiting(books):
    async def scenario():
        watched = Health(books.look)
        assert await is_well(watched)
        books.go_on.clear()
        began = time.monotonic()
        assert await is_well(watched), "as of the last look"
        assert time.monotonic() - began < 0.2
        await asyncio.sleep(0.5)
        assert not await is_well(watched)
        books.go_on.set()

    asyncio.run(scenario())


def test_a_look_that_fails_in_any_way_is_not_well(books):
    async def scenario():
        assert not await is_well(Health(lambda: 1 // 0))

    asyncio.run(scenario())
