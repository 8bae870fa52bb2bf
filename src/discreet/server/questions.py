"""Questions on their way: let in, planned and read in threads of their own, taken back, and answered when their class ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from discreet.answering.answer import Answer
from discreet.answering.face import Explanation
from discreet.answering.pipeline import cancelled
from discreet.curator import Asking, Curator
from discreet.errors import TooMany
from discreet.server.bodies import Question
from discreet.server.guard import Guard
from discreet.server.hours import Hours
from discreet.server.roles import Holder

T = TypeVar("T")
_THREADS = 512
"""Most of them wait for the end of a class; the curator has places for the few that plan or read."""


@dataclass(frozen=True, slots=True, eq=False)
class _Underway:
    asking: Asking
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class Questions:
    """All questions of all analysts."""

    def __init__(self, curator: Curator, *, guard: Guard, hours: Hours) -> None:
        self._curator, self._guard, self._hours = curator, guard, hours
        self._threads = CapacityLimiter(_THREADS)
        self._underway: dict[tuple[str, str], _Underway] = {}

    def __len__(self) -> int:
        return len(self._underway)

    async def ask(self, question: Question, *, holder: Holder, name: str, asking: Asking) -> Answer:
        """The answer at the end of its class, under the Idempotency-Key `name`; or, when it is taken back, a refusal at once.

        Nobody waits for a reading that is taken back to stop: how long that takes would tell whether it was still going on.
        """
        async with self._guard.admit(holder.name):
            with self._hours.visit(holder.name) as visit:
                mine = _Underway(replace(asking, leaving=visit.leaving))
                self._underway[holder.id, name] = mine
                try:
                    return await _unless_gone(mine.gone, self._asked(question, holder, name, mine.asking))
                except asyncio.CancelledError:  # the server stops: nobody may wait for the end of a class
                    self._curator.take_back(mine.asking)
                    raise
                finally:
                    if self._underway.get((holder.id, name)) is mine:
                        del self._underway[holder.id, name]

    async def explain(self, question: Question, *, holder: Holder) -> Explanation:
        """What a question would read, measure and cost, on the same clock."""
        async with self._guard.admit(holder.name):
            with self._hours.visit(holder.name):
                return await self._work(self._curator.explain, question.sql, analyst=holder.asks_as, **question.details)

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


async def _unless_gone(gone: asyncio.Event, answering: Any) -> Answer:
    """The answer, or a refusal as soon as the question is gone; what is still at work then ends by itself."""
    work, leaving = asyncio.ensure_future(answering), asyncio.ensure_future(gone.wait())
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
    if gone.is_set():
        work.add_done_callback(lambda done: done.exception())  # nobody is there to hear of it
        raise cancelled()
    answer: Answer = work.result()
    return answer
