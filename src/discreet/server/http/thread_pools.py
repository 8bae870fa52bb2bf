"""Threads, shared out: what one kind of request does cannot keep another kind waiting.

Nothing runs on the limiter that Starlette has for everybody.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from discreet.errors import TooMany

T = TypeVar("T")
_MOST_WAITING = 200


@dataclass(frozen=True, slots=True)
class Shares:
    """So many threads for each kind of work; the queries of analysts have their own elsewhere."""

    keys: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))
    """Looking whose key it is."""
    public: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(3))
    """For those who need no key: the card, tasks, messages of devices, the page."""
    books: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(4))
    """Balances, history, the catalog; what the owner does."""
    comparisons: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))
    """Real numbers for the owner, which take seconds."""
    answers: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))
    """Pieces of long answers, off the disk."""


async def in_thread(share: CapacityLimiter, job: Callable[..., T], *given: Any, **named: Any) -> T:
    """Do something that waits for a disk, in a share; refused where too many wait for that already."""
    check_room(share)
    return await run_sync(partial(job, *given, **named), limiter=share)


def check_room(share: CapacityLimiter) -> None:
    """A queue that has an end."""
    if share.statistics().tasks_waiting >= _MOST_WAITING:
        raise TooMany("Too many requests wait for the same thing.", next_step="Wait a little, and ask again.")


async def piece_by_piece(share: CapacityLimiter, pieces: Iterator[T]) -> AsyncIterator[T]:
    """An iterator whose steps are made in a share, each when the one before has left."""
    done = object()
    while (piece := await run_sync(next, pieces, done, limiter=share)) is not done:
        yield piece  # type: ignore[misc]  # not the mark
