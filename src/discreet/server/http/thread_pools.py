"""One thread pool for each kind of request, so that one kind cannot delay another.

Nothing uses Starlette's default pool, which all kinds would share.
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
class ThreadPools:
    """The pools. Queries have threads of their own, see `RunningQueries`."""

    keys: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))
    """Checking keys."""
    public: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(3))
    """Public routes: the card, tasks, messages of devices, the page."""
    ledger: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(4))
    """Balances, history, the catalog, and the owner's actions."""
    comparisons: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))
    """Comparisons with real numbers for the owner, which take seconds."""
    answers: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))
    """Reading pieces of long answers from disk."""


async def in_thread(pool: CapacityLimiter, job: Callable[..., T], *given: Any, **named: Any) -> T:
    """Run a function in a pool, or refuse if the pool's queue is full."""
    check_queue(pool)
    return await run_sync(partial(job, *given, **named), limiter=pool)


def check_queue(pool: CapacityLimiter) -> None:
    """Refuse if the queue of a pool is full."""
    if pool.statistics().tasks_waiting >= _MOST_WAITING:
        raise TooMany("The server is busy: too many requests are waiting.", next_step="Try again in a moment.")


async def iterate_in_thread(pool: CapacityLimiter, pieces: Iterator[T]) -> AsyncIterator[T]:
    """Iterate in a pool; each item is computed after the one before was sent."""
    done = object()
    while (piece := await run_sync(next, pieces, done, limiter=pool)) is not done:
        yield piece  # type: ignore[misc]  # not the sentinel
