"""Queries on their way: let in, planned and read in threads of their own, cancelled, and answered when their class ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

from discreet.api.local import Curator, LocalApi
from discreet.api.requests.ask import AskRequest
from discreet.api.requests.base import Request
from discreet.concurrency.fair_semaphore import FairSemaphore
from discreet.errors import BadInput, QueryRefused, RequestConflict, TooMany
from discreet.pipeline.call import Call
from discreet.pipeline.pipeline import cancellation_error
from discreet.planning.answer_size import AnswerLimit
from discreet.results.answer import Answer
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.roles import Holder
from discreet.server.jobs.current_curator import Current
from discreet.server.jobs.time_budget import TimeBudget


class Stored(Protocol):
    """What the books keep of an answer or a release."""

    @property
    def stored(self) -> bytes:
        """Its bytes."""

    @property
    def replayed(self) -> bool:
        """Whether it was free."""


T = TypeVar("T")
Job: TypeAlias = Callable[[LocalApi], T]
"""What is done with the curator that is served, for one call."""
Answered = TypeVar("Answered", bound=Stored)
_SLOTS = 4
"""Answers that are written at the same time, one of each who asks; one desk is for short ones."""
_LONG = 2**18
"""Stored bytes of an answer that is long."""
_THREADS = 512
"""Most of them wait for the end of a class; the curator has places for the few that plan or read."""


def outcome_job(wanted: Request[Any, Any]) -> Job[Any]:
    """Charge for a request, and take what is released for it."""
    return lambda api: api.outcome(wanted)


def plan_job(wanted: Request[Any, Any]) -> Job[Any]:
    """Plan a request."""
    return lambda api: api.plan(wanted)


@dataclass(slots=True, eq=False)
class _RunningQuery:
    job: Job[Any]
    holder: Holder
    call: Call
    result: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """What whoever asks hears."""
    is_abandoned: bool = False
    curator: Curator | None = None
    """The one that it is with, once it has begun."""

    def ask(self, curator: Curator) -> Any:
        """Ask one curator."""
        self.curator = curator
        return self.job(curator.with_call(self.call))

    def done(self, work: asyncio.Future[Any]) -> None:
        """The work has ended, as it may."""
        failure = None if work.cancelled() else work.exception()
        if self.result.done():
            return  # nobody is there to hear of it
        if failure is not None:
            self.result.set_exception(failure)
        elif not work.cancelled():
            self.result.set_result(work.result())

    def cancel(self) -> None:
        """Refuse at once; what is still at work then ends by itself."""
        self.is_abandoned = True
        self.call.cancelled.set()  # one that has not begun finds out when it does
        if self.curator is not None:
            self.curator.cancel(self.call)
        if not self.result.done():
            self.result.set_exception(cancellation_error())

    def stop(self) -> None:
        """The server stops: nobody may wait for the end of a class."""
        self.call.cancelled.set()
        self.call.stopped.set()
        if self.curator is not None:
            self.curator.stop(self.call)


class Queries:
    """All queries of all analysts."""

    def __init__(self, current: Current, *, rate_limit: RateLimit, time_budget: TimeBudget) -> None:
        self._current, self._rate_limit, self._time = current, rate_limit, time_budget
        self._slots = FairSemaphore(_SLOTS, each=1, long=_SLOTS - 1)
        self._threads, self._at_work = ThreadPoolExecutor(_THREADS, thread_name_prefix="question"), 0
        self._underway: dict[tuple[str, str], _RunningQuery] = {}
        self._abandoned: set[asyncio.Future[None]] = set()

    def __len__(self) -> int:
        return len(self._underway)

    async def ask(self, job: Job[Answered], *, holder: Holder, call: Call, then: Callable[[Answered], T]) -> T:
        """The answer at the end of its class, under the Idempotency-Key `call.request_id`; or, when it is cancelled, a refusal at once.

        `then` makes something of the answer, in the same thread.

        Who cancels the query only stops waiting. Where it is paid for, it goes on as if nothing had happened: it is read, waits for the
        end of its class, is stored, and counts among the analyst's queries at once until then.
        """
        with ExitStack() as limits:
            limits.enter_context(self._rate_limit.admit(holder.name))
            visit = limits.enter_context(self._time.visit(holder.name))
            own = replace(
                call, analyst=holder.charged_analyst, schedule_return=visit.schedule_return, on_slot=visit.begin
            )
            mine, name = _RunningQuery(job, holder, own), str(call.request_id)
            work = self._work(partial(self._execute, mine, then))
            work.add_done_callback(mine.done)
            self._underway[holder.id, name] = mine
            try:
                return await mine.result
            except asyncio.CancelledError:
                mine.stop()
                raise
            finally:
                if self._underway.get((holder.id, name)) is mine:
                    del self._underway[holder.id, name]
                if mine.is_abandoned:
                    self._keep_limits_until_done(mine, work, limits.pop_all())

    def _keep_limits_until_done(self, mine: _RunningQuery, work: asyncio.Future[Any], limits: ExitStack) -> None:
        """Keep what counts against an analyst until work that nobody waits for has ended."""

        async def kept() -> None:
            with limits:
                try:
                    await asyncio.wait({work})
                except asyncio.CancelledError:
                    mine.stop()
                    raise

        task = asyncio.ensure_future(kept())
        self._abandoned.add(task)
        task.add_done_callback(self._abandoned.discard)

    async def explain(self, job: Job[Any], *, holder: Holder, then: Callable[[Any], T]) -> T:
        """What a query would read, measure and cost, on the same clock."""

        def explained(curator: Curator) -> T:
            return then(job(curator.as_analyst(holder.charged_analyst)))

        with self._rate_limit.admit(holder.name), self._time.visit(holder.name):
            return await self._work(explained)

    async def recall(
        self,
        wanted: AskRequest,
        *,
        holder: Holder,
        charged_analyst: str | None,
        limit: AnswerLimit | None,
        then: Callable[[Answer], T],
    ) -> T:
        """What is stored for a query that `paid_by` has paid for, looked up for the holder; or a refusal where that is beyond the limit."""
        call = Call(analyst=charged_analyst, waits_as=holder.name, limit=limit)

        def find(curator: Curator) -> Answer:
            answer: Answer = curator.with_call(call).recall(wanted)
            return answer

        return await self.look_up(find, holder=holder, then=then)

    async def look_up(
        self,
        find: Callable[[Curator], Answered],
        *,
        holder: Holder,
        then: Callable[[Answered], T],
        is_long: bool = False,
    ) -> T:
        """What is stored already, looked up for the holder; `is_long` where making something of it takes long, however short it is."""

        def looked_up(curator: Curator) -> T:
            return self._written(find(curator), holder, then, is_long=is_long)

        with self._rate_limit.admit(holder.name), self._time.visit(holder.name):
            return await self._work(looked_up)

    def cancel(self, holder: Holder, name: str) -> None:
        """Take back a query of the holder's own, if there is one of that name."""
        mine = self._underway.get((holder.id, name))
        if mine is not None:
            mine.cancel()

    def _execute(self, mine: _RunningQuery, then: Callable[[Any], T], curator: Curator) -> T:
        try:
            answer = mine.ask(curator)
        except RequestConflict as conflict:
            answer = self._execute_on_earlier_version(mine, conflict)
        if mine.call.cancelled.is_set():
            raise cancellation_error()
        return self._written(answer, mine.holder, then)

    def _execute_on_earlier_version(self, mine: _RunningQuery, conflict: RequestConflict) -> Any:
        """What was paid for under this name while another catalog or data version was served: whoever asks again is owed that.

        Nothing is charged here: the name was used, so a query is either the one that it was used for, or refused.
        """
        with self._current.held_earlier() as curators:
            for curator in curators:
                with suppress(RequestConflict, QueryRefused, BadInput):
                    return mine.ask(curator)
        raise conflict

    def _written(self, answer: Answered, holder: Holder, then: Callable[[Answered], T], *, is_long: bool = False) -> T:
        """What is made of an answer, in turn: a long one takes seconds and memory."""
        is_long = is_long or len(answer.stored) > _LONG
        with self._slots.slot(holder.name, cancelled=threading.Event(), is_long=is_long):
            return then(answer)

    def _work(self, job: Callable[[Curator], T]) -> asyncio.Future[T]:
        if self._at_work >= _THREADS:
            raise TooMany("Too many questions are being asked.", next_step="Wait a little, and ask again.")
        self._at_work += 1
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._with_curator, job)
        work.add_done_callback(self._worked)
        return work

    def _with_curator(self, job: Callable[[Curator], T]) -> T:
        """The current one, which stays open until the job ends."""
        with self._current.held() as curator:
            return job(curator)

    def _worked(self, _: asyncio.Future[Any]) -> None:
        self._at_work -= 1
