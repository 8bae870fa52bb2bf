"""Questions on their way: let in, planned and read in threads of their own, taken back, and answered when their class ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from discreet.answering.answer import Answer
from discreet.answering.face import Explanation
from discreet.answering.leaving import Departure
from discreet.answering.pipeline import cancelled
from discreet.curator import Asking, Curator
from discreet.errors import TooMany
from discreet.server.bodies import Question
from discreet.server.guard import Guard
from discreet.server.hours import Hours, Visit
from discreet.server.roles import Holder

T = TypeVar("T")
_THREADS = 512
"""Most of them wait for the end of a class; the curator has places for the few that plan or read."""


@dataclass(slots=True, eq=False)
class _Underway:
    given: Asking
    visit: Visit
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    departure: Departure | None = None

    @property
    def asking(self) -> Asking:
        return replace(self.given, leaving=self._leaving)

    def _leaving(self, seconds: float) -> Departure | None:
        self.departure = self.visit.leaving(seconds)
        return self.departure

    async def over(self, work: asyncio.Future[Answer]) -> None:
        """Wait until work that nobody waits for has ended and, where its class was chosen, until an answer would have left."""
        await asyncio.wait({work})
        if self.departure is not None:
            await asyncio.sleep(self.departure.next() - self.departure.now())


class Questions:
    """All questions of all analysts."""

    def __init__(self, curator: Curator, *, guard: Guard, hours: Hours) -> None:
        self._curator, self._guard, self._hours = curator, guard, hours
        self._threads = CapacityLimiter(_THREADS)
        self._underway: dict[tuple[str, str], _Underway] = {}
        self._abandoned: set[asyncio.Future[None]] = set()

    def __len__(self) -> int:
        return len(self._underway)

    async def ask(self, question: Question, *, holder: Holder, name: str, asking: Asking) -> Answer:
        """The answer at the end of its class, under the Idempotency-Key `name`; or, when it is taken back, a refusal at once.

        Nobody waits for a reading that is taken back to stop: how long that takes would tell whether it was still going on. For the same
        reason, and because it is work, it counts among the analyst's questions at once until its class ends.
        """
        async with AsyncExitStack() as limits:
            await limits.enter_async_context(self._guard.admit(holder.name))
            mine = _Underway(asking, limits.enter_context(self._hours.visit(holder.name)))
            self._underway[holder.id, name] = mine
            work = asyncio.ensure_future(self._asked(question, holder, name, mine.asking))
            try:
                return await _unless_gone(mine.gone, work)
            except asyncio.CancelledError:  # the server stops: nobody may wait for the end of a class
                self._curator.take_back(mine.asking)
                raise
            finally:
                if self._underway.get((holder.id, name)) is mine:
                    del self._underway[holder.id, name]
                if mine.gone.is_set():
                    self._abandon(mine.over(work), limits.pop_all())

    def _abandon(self, over: Coroutine[Any, Any, None], limits: AsyncExitStack) -> None:
        """Keep what counts against an analyst until it is over."""

        async def kept() -> None:
            async with limits:
                await over

        task = asyncio.ensure_future(kept())
        self._abandoned.add(task)
        task.add_done_callback(self._abandoned.discard)

    async def explain(self, question: Question, *, holder: Holder) -> Explanation:
        """What a question would read, measure and cost, on the same clock."""
        async with self._guard.admit(holder.name):
            with self._hours.visit(holder.name):
                return await self._work(self._curator.explain, question.sql, analyst=holder.asks_as, **question.details)

    async def recall(self, question: Question, *, holder: Holder, paid_by: str | None) -> Answer:
        """What is stored for a question that `paid_by` has paid for, looked up for the holder."""
        async with self._guard.admit(holder.name):
            with self._hours.visit(holder.name):
                return await self._work(self._curator.recall, question.sql, analyst=paid_by, **question.details)

    def take_back(self, holder: Holder, name: str) -> None:
        """Take back a question of the holder's own, if there is one of that name."""
        mine = self._underway.get((holder.id, name))
        if mine is not None:
            self._curator.take_back(mine.asking)
            mine.gone.set()

    async def _asked(self, question: Question, holder: Holder, name: str, asking: Asking) -> Answer:
        return await self._work(
            self._curator.ask,
            question.sql,
            analyst=holder.asks_as,
            request_id=name,
            asking=asking,
            **question.details,
        )

    async def _work(self, job: Callable[..., T], *given: Any, **named: Any) -> T:
        if self._threads.available_tokens < 1:
            raise TooMany("Too many questions are being asked.", next_step="Wait a little, and ask again.")
        return await run_sync(partial(job, *given, **named), limiter=self._threads)


async def _unless_gone(gone: asyncio.Event, work: asyncio.Future[Answer]) -> Answer:
    """The answer, or a refusal as soon as the question is gone; what is still at work then ends by itself."""
    leaving = asyncio.ensure_future(gone.wait())
    either: set[asyncio.Future[Any]] = {work, leaving}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
    if gone.is_set():
        work.add_done_callback(lambda done: done.exception())  # nobody is there to hear of it
        raise cancelled()
    return work.result()
